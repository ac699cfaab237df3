package import Crypto
package import Database
import Demo
package import Identity
import OTP

/// Fills an empty database with one pool of any size, to test the performance of pages and API
/// calls.
///
/// The pool belongs to the project `metropolis`, whose tenant “village” has a thousand users in the
/// same database. Nine of ten users have second factors, 1.3 each, and there are three code
/// attempts per user. The same seed produces the same data, relative to the time it's created.
///
/// It bypasses the use cases, because a million calls of each would take an hour, and recreates the
/// account indexes at the end. So an incomplete database must not be served.
package struct LargeDemo: Sendable {
  /// The valid range of the number of users.
  private static let range = 100...10_000_000
  /// The number of users in the tenant.
  private static let villagers = 1_000
  /// The password of every user.
  private static let password = Secret("sentry-at-the-gate")

  private let users: Int
  private let codes: Int
  private let seed: UInt64
  private let now: Instant
  /// The use cases at the time of the pools' creation, and at the end.
  private let earlier: Identity
  private let identity: Identity
  private let totp: TOTPFactor
  private let data: DemoData

  /// Prepares a demo in the database of an instance.
  ///
  /// - Parameters:
  ///   - users: The number of users in the pool, from 100 to ten million.
  ///   - codes: The number of code attempts per user.
  ///   - database: The database, migrated and empty.
  ///   - keys: The master keys of the data folder.
  ///   - hasher: The password hasher.
  ///   - mail: Writes the text of messages.
  ///   - seed: The seed of all random values.
  ///   - now: The time at which the history ends.
  /// - Throws: `CryptoError` if libcrypto fails, or a `DecodingError`.
  package init(
    users: Int, codes: Int = 3, database: any Database, keys: KeyRing, hasher: PasswordHasher,
    mail: any MailWriter, seed: UInt64 = 30, now: Instant = WallClock.system.now()
  ) throws {
    self.users = min(max(users, Self.range.lowerBound), Self.range.upperBound)
    self.codes = codes
    self.seed = seed
    self.now = now
    let start = now.advanced(bySeconds: -390 * 86_400)
    earlier = try Identity(
      database: database, keys: keys, profile: .standalone, hasher: hasher, mail: mail,
      clock: WallClock { start })
    identity = try Identity(
      database: database, keys: keys, profile: .standalone, hasher: hasher, mail: mail,
      clock: WallClock { now })
    totp = try TOTPFactor(keys: keys, random: .system)
    data = try DemoData()
  }

  private var store: Store { identity.store }

  /// Creates the demo.
  ///
  /// - Parameter tell: Called periodically with a line about the progress.
  /// - Returns: The number of users.
  /// - Throws: Any error of a use case or the database.
  package func fill(_ tell: @escaping @Sendable (String) -> Void) async throws -> Int {
    let pools = try await makePools()
    let hash = try await identity.accounts.hash(unruled: Self.password).encoded
    let indexes = try await dropIndexes()
    for (pool, count) in pools {
      let crowd = LargeDemoCrowd(
        count: count, codes: codes, seed: seed, now: now, data: data)
      try await add(crowd, to: pool, hash: hash, tell)
    }
    for (number, index) in indexes.enumerated() {
      tell("Index \(number + 1) of \(indexes.count)")
      try await run(index)
    }
    try await storeGrowth(pools)
    while try await identity.activity.fold() {}
    return pools.reduce(0) { $0 + $1.count }
  }

  private func makePools() async throws -> [(pool: Pool, count: Int)] {
    let author = Author(actor: .commandLine)
    let project = try await earlier.pools.createProject(
      id: "metropolis", displayName: "Metropolis", by: .program(author)
    ).value
    let configuration = MFAConfiguration(
      state: .enabled,
      totp: TOTPConfiguration(
        state: .enabled, adjacentIntervals: LargeDemoCrowd.window.adjacentIntervals))
    let tenant = try await earlier.pools.createTenant(
      in: project.pool.project,
      PoolEdit(
        displayName: "village",
        signIn: SignInMethods(password: true, emailLink: false, anonymous: false),
        configuration: configuration),
      by: .program(author)
    ).value
    for pool in [project.pool, tenant.pool] {
      _ = try await earlier.policies.change(pool, by: .program(author)) { edit in
        edit.configuration = configuration
        edit.configuration.setSMS(true)
        edit.pattern = .account
      }
    }
    return [(project.pool, users), (tenant.pool, Self.villagers)]
  }

  // MARK: - Indexes

  /// Drops the indexes for which a million scattered insertions would take an hour.
  ///
  /// - Returns: The statements that recreate them.
  private func dropIndexes() async throws -> [String] {
    try await store.write { connection in
      let indexes = try connection.all(
        """
        SELECT name, text FROM \(SQL.indexes) WHERE table_name = 'account'
        """
      ) { row in (name: try row.next() as String, text: try row.next() as String) }
      for index in indexes { try connection.runScript("DROP INDEX \(index.name)") }
      try SearchIndex.parts.setMemory(64 << 20, connection)
      return indexes.map(\.text)
    }
  }

  private func run(_ text: String) async throws {
    try await store.write { connection in
      try connection.runScript(text)
      try SearchIndex.parts.setMemory(1 << 20, connection)
    }
  }

  // MARK: - Users

  /// The number of users stored together.
  private static let share = 10_000

  /// Stores users in parts while generating the next part, then their code attempts.
  private func add(
    _ crowd: LargeDemoCrowd, to pool: Pool, hash: String,
    _ tell: @escaping @Sendable (String) -> Void
  ) async throws {
    let totp = totp
    let drawn: @Sendable (Int) throws -> [LargeDemoUser] = { first in
      let last = min(first + Self.share, crowd.count)
      return try (first..<last).map { try crowd.user($0, in: pool, totp) }
    }
    var part = try drawn(0)
    var first = 0
    while !part.isEmpty {
      let (users, next) = (part, first + Self.share)
      async let following = next < crowd.count ? drawn(next) : []
      try await store.write { connection in
        for user in users { try Self.insert(user, in: pool, hash: hash, connection) }
        try SearchIndex.insert(users.map(\.text), connection)
      }
      tell("Users of \(pool.name): \(first + users.count) of \(crowd.count)")
      part = try await following
      first = next
    }
    try await count(crowd, in: pool)
    try await giveCodes(crowd, in: pool, tell)
  }

  private static func insert(
    _ user: LargeDemoUser, in pool: Pool, hash: String, _ connection: borrowing Connection
  ) throws {
    let traits = user.traits
    try connection.run(
      """
      INSERT INTO account (account_key, scope_key, uid, email, email_folded, email_verified,
        display_name, phone, password_hash, password_updated_at, disabled, valid_since_s,
        created_at, last_login_at, last_login_day, name_folded, has_totp, has_phone, wrong_codes,
        codes_blocked_until, last_code_attempt_at)
      VALUES (\(user.text.key), \(pool.key), \(user.uid), \(user.email), \(user.email),
        \(traits.isVerified), \(user.name), \(user.phone), \(hash),
        \(user.createdAt), \(traits.isDisabled), \(user.createdAt.seconds),
        \(user.createdAt), \(user.lastLoginAt),
        \(user.lastLoginAt?.day ?? 0), \(user.nameFolded), \(traits.hasTOTP),
        \(traits.phones > 0), \(traits.isLocked ? 10 : 0),
        \(traits.isLocked ? CodeLock.forever.microseconds : nil), \(user.lastCodeAttemptAt))
      """)
    try FactorRecord.store(user.factors, of: user.text.key, after: 0, connection)
  }

  private func count(_ crowd: LargeDemoCrowd, in pool: Pool) async throws {
    let counts = crowd.counts
    try await store.write { connection in
      _ = try connection.run(
        """
        UPDATE scope SET next_account = \(crowd.count), users = \(counts.users),
          enrolled_users = \(counts.enrolledUsers), totp_users = \(counts.totpUsers),
          phone_users = \(counts.phoneUsers), unverified_users = \(counts.unverifiedEmails),
          disabled_users = \(counts.disabled), locked_users = \(counts.locked)
        WHERE scope_key = \(pool.key)
        """)
    }
  }

  // MARK: - Codes

  private func giveCodes(
    _ crowd: LargeDemoCrowd, in pool: Pool, _ tell: @escaping @Sendable (String) -> Void
  ) async throws {
    var codes = LargeDemoCodes(crowd)
    let total = codes.total
    var previous = [Int64](repeating: 0, count: crowd.count)
    var activity = BulkActivity()
    while true {
      var part: [LargeDemoCode] = []
      var before: [Int64] = []
      part.reserveCapacity(5 * Self.share)
      before.reserveCapacity(5 * Self.share)
      while part.count < 5 * Self.share, let code = codes.next() {
        before.append(previous[code.number])
        previous[code.number] = code.at
        part.append(code)
      }
      guard !part.isEmpty else { break }
      let (list, chain) = (part, before)
      let first = pool.accountKeys.lowerBound
      for code in list {
        activity.add(
          code.finding, of: first + Int64(code.number), at: Instant(microseconds: code.at))
      }
      let counted = activity.take()
      try await store.write { connection in
        try Activity.store(counted, of: pool.key, connection)
        for (code, previous) in zip(list, chain) {
          let place = CodeAttemptRecord.Place(
            pool: pool.key, account: first + Int64(code.number),
            way: .app, enrollment: crowd.factorID(code.number, 0),
            intervals: LargeDemoCrowd.window.adjacentIntervals, origin: code.origin)
          _ = try CodeAttemptRecord.insert(
            code.finding, place, after: previous == 0 ? nil : previous,
            at: Instant(microseconds: code.at), connection)
        }
      }
      tell("Codes of \(pool.name): \(codes.given) of \(total)")
    }
    let all = activity
    for start in stride(from: 0, to: crowd.count, by: Self.share) {
      let first = pool.accountKeys.lowerBound + Int64(start)
      let last = first + Int64(min(Self.share, crowd.count - start)) - 1
      try await store.write { connection in
        try all.storeReaches(of: first...last, connection)
      }
    }
  }

  /// Stores a year of growth, by day, of each pool and of the project that they belong to.
  private func storeGrowth(_ pools: [(pool: Pool, count: Int)]) async throws {
    let all = pools.reduce(0) { $0 + $1.count }
    for (pool, count) in pools { try await storeGrowth(to: count, pool, isWhole: false) }
    try await storeGrowth(to: all, pools[0].pool, isWhole: true)
  }

  private func storeGrowth(to users: Int, _ pool: Pool, isWhole: Bool) async throws {
    let days = 365
    let now = now
    try await store.write { connection in
      for day in 1..<days {
        let made = users * day / days
        try Activity.record(
          users: made, enrolled: made * 9 / 10 * day / days, of: pool, isWhole: isWhole,
          at: now.advanced(bySeconds: Int64(day - days) * 86_400), connection)
      }
    }
  }
}
