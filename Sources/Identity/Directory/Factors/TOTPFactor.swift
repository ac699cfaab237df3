package import Crypto
package import Database
package import OTP

package struct SealedTOTPSecret: Sendable {
  let box: [UInt8]
  /// The digest, which is the same for the same secret in a pool.
  let digest: [UInt8]
}

/// Stores the secrets of TOTP factors and verifies their codes.
package struct TOTPFactor: Sendable {
  /// The length of a secret in bytes: 20, as RFC 4226, section 4 recommends, or 32 Base32
  /// characters.
  package static let secretLength = 20
  static let digits = 6
  package static let period: Int64 = 30

  private let sealer: Sealer
  let digests: KeyedDigest
  private let expected: ExpectedTime

  package init(
    keys: KeyRing, random: RandomSource, expected: ExpectedTime = ExpectedTime()
  ) throws(CryptoError) {
    self.expected = expected
    sealer = try Sealer(keys, purpose: "totp secret", random: random)
    digests = try KeyedDigest(keys, purpose: "totp secret")
  }

  /// The associated data: project, tenant, user, and factor.
  ///
  /// A sealed secret can't be opened for another factor, so rows can't be swapped.
  private func associated(_ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>) -> [UInt8] {
    Self.associated(pool.project.text, pool.tenant?.text ?? "", account.text, factor.text)
  }

  static func associated(_ parts: String...) -> [UInt8] {
    parts.flatMap { part in withLength(Array(part.utf8)) }
  }

  private static func withLength(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
  }

  package func sealed(
    _ secret: Secret, for factor: ID<Factor>, of account: ID<Account>, in pool: Pool
  ) throws(CryptoError) -> SealedTOTPSecret {
    SealedTOTPSecret(
      box: try sealer.seal(secret.revealedBytes, with: associated(pool, account, factor)),
      digest: try digest(
        of: secret, project: pool.project.text, tenant: pool.tenant?.text ?? ""))
  }

  /// Returns the secret sealed with the newest key; nil if it already is.
  func resealed(
    _ sealed: [UInt8], project: String, tenant: String, account: String, factor: String
  ) throws -> [UInt8]? {
    try StoredSecret(
      kind: .userTOTP, object: .account, objectID: account, part: factor, project: project,
      tenant: tenant
    ).opening {
      try sealer.resealed(sealed, with: Self.associated(project, tenant, account, factor))
    }
  }

  func opened(
    _ sealed: [UInt8], project: String, tenant: String, account: String, factor: String
  ) -> Secret? {
    try? sealer.open(sealed, with: Self.associated(project, tenant, account, factor))
  }

  func opened(
    _ sealed: [UInt8], _ factor: ID<Factor>, of account: Account, in pool: Pool
  ) throws(CryptoError) -> Secret {
    try sealer.open(sealed, with: associated(pool, account.id, factor))
  }

  func stored(
    _ factor: ID<Factor>, of account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws -> (secret: Secret, used: UsedSteps)? {
    let row = try connection.first(
      """
      SELECT sealed_secret, last_step, unused_steps FROM factor
      WHERE account_key = \(account.key) AND enrollment_id = \(factor)
        AND sealed_secret IS NOT NULL
      """
    ) { row in
      (
        sealed: try row.next() as [UInt8],
        used: try UsedSteps(&row)
      )
    }
    return try row.map { row in
      (try opened(row.sealed, factor, of: account, in: pool), row.used)
    }
  }

  /// Inserts a new factor as the account's newest; the interval of the enrollment's code is used.
  package func insert(
    _ id: ID<Factor>, displayName: String, secret: Secret, lastStep: Int64, for account: Account,
    in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let sealed = try sealed(secret, for: id, of: account.id, in: pool)
    var used = UsedSteps()
    used.accept(lastStep, at: now, expecting: expected)
    try FactorRecord.insert(
      NewFactor(
        id: id, kind: .totp, displayName: displayName, enrolledAt: now, sealedSecret: sealed,
        used: used),
      for: account, in: pool, connection)
  }

  /// Verifies a code and marks its interval as used, so that a code can't be used twice.
  ///
  /// A correct code of a suspended factor is used up too, so someone who saw it can't use it later.
  func check(
    _ code: TypedCode, for factor: ID<Factor>, of account: Account, in pool: Pool, window: Window,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> CodeFinding {
    guard let row = try state(factor, of: account, in: pool, connection) else {
      return CodeFinding(.wrong)
    }
    let password = row.password
    var clock = row.clock
    let codeAttempt = try password.verify(
      code, at: clock.time(at: now).seconds, window: window, after: row.used)
    let finding = CodeFinding(codeAttempt, after: row.used)
    // Checked last, so that a code of a suspended factor takes the same time as any other.
    let isSuspended = row.suspendedUntil.map { now < $0 } ?? false
    switch codeAttempt {
    case .accepted(let step, let offset):
      let usedAt = isSuspended ? nil : now
      var used = row.used
      used.accept(step, at: now, of: clock, expecting: expected)
      if !isSuspended { clock.follow(offset) }
      let moved = try connection.run(
        """
        UPDATE factor SET last_step = \(used.last), unused_steps = \(used.unusedText),
          last_used_at = coalesce(\(usedAt), last_used_at), clock_offset = \(clock.offset),
          clock_trend = \(clock.trend)
        WHERE account_key = \(account.key) AND enrollment_id = \(factor)
          AND last_step IS NOT DISTINCT FROM \(row.used.last)
        """)
      if isSuspended { return CodeFinding(.suspended, distance: offset, step: step) }
      return moved == 1 ? finding : CodeFinding(.used, distance: offset, step: step)
    case .replayed(let step, let offset) where isSuspended:
      return CodeFinding(.suspended, distance: offset, step: step)
    case .replayed, .outside, .refused, .unreadable: return finding
    }
  }

  /// Looks for two consecutive codes near the server's time; if it finds them, uses both up and
  /// stores how far the device's clock is off.
  ///
  /// - Returns: What was found, and what the clock was set to; the former clock if it wasn't.
  func resynchronize(
    _ codes: CodePair, of factor: ID<Factor>, of account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> (found: PairVerification, clock: FactorClock) {
    guard let row = try state(factor, of: account, in: pool, connection) else {
      throw Failure("a factor without secret")
    }
    let found = try row.password.find(
      codes.first, then: codes.second, at: now.seconds, after: row.used)
    guard case .found(let step, let offset) = found else { return (found, row.clock) }
    let clock = FactorClock(offset: offset)
    var used = row.used
    used.accept(step, at: now, of: clock, expecting: expected)
    let moved = try connection.run(
      """
      UPDATE factor SET last_step = \(used.last), unused_steps = \(used.unusedText),
        clock_offset = \(clock.offset), clock_trend = \(clock.trend)
      WHERE account_key = \(account.key) AND enrollment_id = \(factor)
        AND last_step IS NOT DISTINCT FROM \(row.used.last)
      """)
    guard moved == 1 else { throw Failure("a factor changed in a transaction") }
    return (found, clock)
  }

  private struct State {
    let password: OneTimePassword
    let used: UsedSteps
    let suspendedUntil: Instant?
    let clock: FactorClock
  }

  /// Reads what decides about a factor's codes; nil if it has no secret.
  private func state(
    _ factor: ID<Factor>, of account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws -> State? {
    let row = try connection.first(
      """
      SELECT sealed_secret, last_step, unused_steps, suspended_until, \(FactorClock.columns)
      FROM factor
      WHERE account_key = \(account.key) AND enrollment_id = \(factor)
        AND sealed_secret IS NOT NULL
      """
    ) { row in
      (
        sealed: try row.next() as [UInt8],
        used: try UsedSteps(&row),
        suspendedUntil: try row.next() as Instant?, clock: try FactorClock(&row)
      )
    }
    guard let row else { return nil }
    let stored = StoredSecret(
      .userTOTP, .account, account.id.text, part: factor.text, in: pool)
    let secret = try stored.opening {
      try sealer.open(row.sealed, with: associated(pool, account.id, factor))
    }
    guard let password = Self.password(secret) else { throw Failure("a factor without secret") }
    return State(
      password: password, used: row.used, suspendedUntil: row.suspendedUntil, clock: row.clock)
  }

  /// Creates the one-time password generator of a secret, with this server's parameters.
  package static func password(_ secret: Secret) -> OneTimePassword? {
    OneTimePassword(secret: secret, digits: digits, period: period)
  }
}

extension TOTPFactor: ReencryptableStore {
  static let name = "factor"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    let start = PairPosition(position, least: 0 as Int64)
    let rows = try connection.all(
      """
      SELECT \(StoredTOTPSecret.columns)
      FROM factor f \(SQL.orderedJoin) account a ON a.account_key = f.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE (f.account_key, f.position) > (\(start.first), \(start.second))
      ORDER BY f.account_key, f.position LIMIT \(limit)
      """
    ) { try StoredTOTPSecret(&$0) }
    return try ResealedPart(rows, at: { PairPosition($0.account, $0.position).text }) { row in
      guard let sealed = row.sealed else { return false }
      let box = try resealed(
        sealed, project: row.project, tenant: row.tenant, account: row.uid, factor: row.factor)
      let isOutdated = try row.digest.map { try !digests.isCurrent($0) } ?? false
      guard box != nil || isOutdated else { return false }
      // Digests under different keys can't be compared.
      let digest = try digest(of: row)
      try connection.run(
        """
        UPDATE factor SET sealed_secret = \(box ?? sealed), secret_digest = \(digest)
        WHERE account_key = \(row.account) AND position = \(row.position)
        """)
      return box != nil
    }
  }
}

/// A row of a factor, with the names that its secret is sealed with.
struct StoredTOTPSecret {
  let account: Int64
  let position: Int64
  let factor: String
  /// The encrypted secret; nil unless it's a TOTP factor.
  let sealed: [UInt8]?
  /// The digest; nil if a node of an older version inserted the factor, or it was restored.
  let digest: [UInt8]?
  let uid: String
  let project: String
  let tenant: String

  static let columns: SQL = """
    f.account_key, f.position, f.enrollment_id, f.sealed_secret, f.secret_digest, a.uid,
      s.project_id, s.tenant_id
    """

  init(_ row: inout Row) throws {
    account = try row.next()
    position = try row.next()
    factor = try row.next()
    sealed = try row.next()
    digest = try row.next()
    uid = try row.next()
    project = try row.next()
    tenant = try row.next()
  }
}

extension TOTPFactor {
  /// Returns the digest of a secret, which is the same for equal secrets of a pool.
  ///
  /// Those of different pools differ, so that they reveal nothing about users of several pools.
  func digest(
    of secret: Secret, project: String, tenant: String
  ) throws(CryptoError) -> [UInt8] {
    // The first byte separates digests of secrets from those of factors that can't be opened.
    try digests.digest([0] + Self.associated(project, tenant) + secret.revealedBytes)
  }

  /// Returns the digest of a stored secret; a unique one if it can't be opened, so that it isn't
  /// tried again until the master key is rotated.
  func digest(of row: StoredTOTPSecret) throws(CryptoError) -> [UInt8] {
    let secret = row.sealed.flatMap {
      opened($0, project: row.project, tenant: row.tenant, account: row.uid, factor: row.factor)
    }
    guard let secret else {
      return try digests.digest(
        [1] + Self.associated(row.project, row.tenant, row.uid, row.factor))
    }
    return try digest(of: secret, project: row.project, tenant: row.tenant)
  }

  /// Adds the digests of factors that don't have one: those of earlier versions and restored ones.
  func addDigests(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let rows = try connection.all(
      """
      SELECT \(StoredTOTPSecret.columns)
      FROM factor f \(index: "factor_without_digest")
        \(SQL.orderedJoin) account a ON a.account_key = f.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE f.account_key > 0 AND f.sealed_secret IS NOT NULL AND f.secret_digest IS NULL
      ORDER BY f.account_key LIMIT \(CleanupLimit.rows)
      """
    ) { try StoredTOTPSecret(&$0) }
    for row in rows {
      let digest = try digest(of: row)
      try connection.run(
        """
        UPDATE factor SET secret_digest = \(digest)
        WHERE account_key = \(row.account) AND position = \(row.position)
        """)
    }
    return rows.count == CleanupLimit.rows
  }
}

/// The clock of a TOTP factor: the server's, shifted by what a resynchronization found.
///
/// Every comparison of a factor's codes with the time takes the time from here. Used steps are those
/// that the codes belong to, so they stay used whatever the clock becomes.
package struct FactorClock: Sendable, Equatable {
  /// How many intervals the device's clock is ahead of the server's, negative if it's behind; nil if
  /// the factor wasn't resynchronized, and then it never moves.
  package private(set) var offset: Int?
  /// In which direction the last accepted code was off: -1, 0, or 1.
  private(set) var trend = 0

  static let server = FactorClock(offset: nil)

  package init(offset: Int?) { self.offset = offset }

  static let columns: SQL = "clock_offset, clock_trend"

  init(_ row: inout Row) throws {
    offset = try row.next()
    trend = try row.next()
  }

  /// Returns what the device's clock shows when the server's shows `moment`.
  package func time(at moment: Instant) -> Instant {
    moment.advanced(bySeconds: Int64(offset ?? 0) * TOTPFactor.period)
  }

  func step(at moment: Instant) -> Int64 { time(at: moment).seconds / TOTPFactor.period }

  /// Follows a clock that keeps drifting, after an accepted code that was `remaining` intervals off.
  ///
  /// Typing takes time, and one code doesn't tell that from drift, so it takes two in a row in the
  /// same direction (RFC 6238, section 6).
  mutating func follow(_ remaining: Int) {
    guard let offset else { return }
    let direction = remaining.signum()
    guard direction != 0, direction == trend else {
      trend = direction
      return
    }
    trend = 0
    let furthest = OneTimePassword.pairReach
    self.offset = min(max(offset + direction, -furthest), furthest)
  }
}

extension UsedSteps {
  mutating func accept(
    _ step: Int64, at now: Instant, of clock: FactorClock = .server,
    expecting expected: ExpectedTime
  ) {
    // A fast device has shown the codes that it will show again once it's set right.
    let present = min(clock.step(at: now), FactorClock.server.step(at: now))
    accept(step, at: present, expected: clock.step(at: expected.at(now)))
  }
}
