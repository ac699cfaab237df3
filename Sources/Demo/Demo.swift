public import Crypto
public import Database
public import Identity
public import OTP

public enum DemoError: Error, Sendable, CustomStringConvertible {
  case notEmpty

  public var description: String {
    switch self {
    case .notEmpty: "The data folder isn't empty. Create the demo in an empty one."
    }
  }
}

/// A person who can sign in to a demo.
public struct DemoPerson: Sendable {
  public let name: String
  public let email: String
  public let password: Secret
  public let role: String
  public let authenticator: OneTimePassword?
}

public struct DemoSummary: Sendable {
  public let projects: Int
  public let tenants: Int
  public let users: Int
  public let administrators: [DemoPerson]
  /// An application user with a second factor.
  public let user: DemoPerson?
}

/// Fills an empty database with projects, tenants, users, and a month of realistic history.
///
/// The same seed produces the same data, relative to the time it's created. It uses the same use
/// cases as pages and API calls, with a clock that it sets itself; only users from before the month
/// are inserted in batches.
///
/// Anyone who knows this source code can sign in as everyone in the demo, so use such a database
/// only for evaluation on your own machine.
public struct Demo: Sendable {
  public static let standardSeed: UInt64 = 30
  /// The length of the history, in days.
  public static let days: Int64 = 30

  let seed: UInt64
  let now: Instant
  let clock: DemoClock
  let random: DemoRandom
  let identity: Identity
  let totp: TOTPFactor
  let data: DemoData

  /// The beginning of the history.
  var month: Instant { now.advanced(bySeconds: -Self.days * 86_400) }

  /// The password of everyone, which is long enough for administrators.
  static let password = Secret("sentry-at-the-gate")

  /// Prepares a demo in a database that is migrated and empty; the history ends at `now`.
  ///
  /// - Throws: `CryptoError` if libcrypto fails, or a `DecodingError`.
  public init(
    database: any Database, keys: KeyRing, hasher: PasswordHasher, mail: any MailWriter,
    publicURL: String = "", seed: UInt64 = standardSeed, now: Instant = WallClock.system.now()
  ) throws {
    self.seed = seed
    self.now = now
    let clock = DemoClock(now)
    let random = DemoRandom(seed: seed)
    self.clock = clock
    self.random = random
    identity = try Identity(
      database: database, keys: keys, profile: .standalone, hasher: hasher,
      mail: mail, clock: WallClock { clock.now }, random: random.source)
    totp = try TOTPFactor(keys: keys, random: random.source)
    data = try DemoData()
    identity.outOfBandCodes.leadLinks(to: publicURL)
  }

  public func fill() async throws -> DemoSummary {
    try await stamp()
    var staff = try await makeStaff()
    let pools = try await makePools(&staff)
    let people = try await importPeople(pools, staff)
    try await storeGrowth(people)
    try await live(people, pools, staff)
    try await giveCodes(people)
    try await fold()
    return DemoSummary(
      projects: data.projects.count, tenants: pools.count - data.projects.count,
      users: pools.reduce(0) { $0 + $1.plan.users }, administrators: staff.people,
      user: example(people))
  }

  /// Marks the database as a demo; fails if it contains any data.
  func stamp() async throws {
    let seed = String(seed)
    try await identity.store.write { connection in
      let held = try connection.first(
        """
        SELECT EXISTS (SELECT 1 FROM project WHERE project_id > '')
          OR EXISTS (SELECT 1 FROM administrator WHERE administrator_id > '')
        """
      ) { try $0.next() as Bool }
      guard held != true else { throw DemoError.notEmpty }
      try connection.run("INSERT INTO instance (name, value) VALUES ('demo', \(seed))")
    }
  }
}

extension Identity {
  /// Returns whether the database was filled by a demo, whose passwords are public.
  public func isDemo() async throws -> Bool {
    try await store.read { connection in
      try connection.first("SELECT 1 FROM instance WHERE name = 'demo'") { _ in true } ?? false
    }
  }
}
