public import Crypto
public import Database

/// Why a demo was not made.
public enum DemoError: Error, Sendable, CustomStringConvertible {
  /// There is something in the database already.
  case notEmpty
  /// Something that should have been possible was not.
  case unavailable(Failure)

  /// A sentence for the operator.
  public var description: String {
    switch self {
    case .notEmpty: "A demo is made in an empty data folder only."
    case .unavailable(let failure): "The demo cannot be made: \(failure)"
    }
  }
}

extension DemoError: UseCaseError {}

/// Somebody who can sign in to a demo.
public struct DemoPerson: Sendable {
  /// Their name.
  public let name: String
  /// The address to sign in with.
  public let email: String
  /// The password.
  public let password: Secret
  /// What they are, in words.
  public let role: String
  /// Their own authenticator; nil for those who have none.
  public let authenticator: OneTimePassword?
}

/// What a demo holds.
public struct DemoSummary: Sendable {
  /// How many projects.
  public let projects: Int
  /// How many tenants.
  public let tenants: Int
  /// How many users.
  public let users: Int
  /// Those who sign in to the console.
  public let administrators: [DemoPerson]
  /// A user of an application, with a second factor.
  public let user: DemoPerson?
}

/// Fills an empty database with projects, tenants, users and a month of history worth looking at.
///
/// The same seed makes the same, counted back from the moment it is made at. It goes through the
/// use cases that pages and calls go through, with a clock of its own that it moves along; only
/// users who were there before the month come in batches.
///
/// Everybody in it can be signed in as by whoever knows this source, so such a database is for
/// looking at on one's own machine.
public struct Demo: Sendable {
  /// The seed when none is said.
  public static let standardSeed: UInt64 = 30
  /// How long the history is, in days.
  public static let days: Int64 = 30

  let seed: UInt64
  let now: Instant
  let clock: DemoClock
  let random: DemoRandom
  let identity: Identity
  let totp: TOTPFactor

  /// The password of everybody, which is long enough for administrators.
  static let password = Secret("sentry-at-the-gate")

  /// Prepares a demo in the database of an instance.
  ///
  /// - Parameters:
  ///   - database: The database, migrated and empty.
  ///   - keys: The master keys of the data folder.
  ///   - hasher: What hashes the passwords.
  ///   - publicURL: Where the links in its mails lead, as far as it is known before.
  ///   - seed: What all that is drawn by lot comes from.
  ///   - now: The moment at which the history ends.
  /// - Throws: `CryptoError` when libcrypto refuses.
  public init(
    database: any Database, keys: KeyRing, hasher: PasswordHasher, publicURL: String = "",
    seed: UInt64 = standardSeed, now: Instant = WallClock.system.now()
  ) throws(CryptoError) {
    self.seed = seed
    self.now = now
    let clock = DemoClock(now)
    let random = DemoRandom(seed: seed)
    self.clock = clock
    self.random = random
    identity = try Identity(
      database: database, keys: keys, profile: .standalone, hasher: hasher,
      clock: WallClock { clock.now }, random: random.source)
    totp = try TOTPFactor(keys: keys, random: random.source)
    identity.store.links.lead(to: publicURL)
  }

  /// Makes it.
  ///
  /// - Returns: What there is, and who can sign in.
  /// - Throws: ``DemoError``.
  public func fill() async throws(DemoError) -> DemoSummary {
    try await stamp()
    do {
      var staff = try await makeStaff()
      let pools = try await makePools(&staff)
      let people = try await importPeople(pools, staff)
      try await live(people, pools, staff)
      try await giveCodes(people)
      return DemoSummary(
        projects: DemoProject.all.count, tenants: pools.count - DemoProject.all.count,
        users: pools.reduce(0) { $0 + $1.plan.users }, administrators: staff.people,
        user: example(people))
    } catch {
      throw .unavailable(Failure(error))
    }
  }

  /// Marks the database as a demo's, and refuses one that holds anything.
  func stamp() async throws(DemoError) {
    let seed = String(seed)
    try await identity.store.write(DemoError.self) { connection in
      let held = try connection.first(
        """
        SELECT EXISTS (SELECT 1 FROM project WHERE project_id > '')
          OR EXISTS (SELECT 1 FROM administrator WHERE administrator_id > '')
        """
      ) { try $0.value(0) as Bool }
      guard held != true else { throw DemoError.notEmpty }
      try connection.run("INSERT INTO instance (name, value) VALUES ('demo', \(seed))")
    }
  }
}

extension Identity {
  /// True when the database was filled by a demo, whose passwords are known to everybody.
  ///
  /// - Throws: ``StartError/unavailable(_:)``.
  public func isDemo() async throws(StartError) -> Bool {
    try await store.read(StartError.self) { connection in
      try connection.first("SELECT 1 FROM instance WHERE name = 'demo'") { _ in true } ?? false
    }
  }
}
