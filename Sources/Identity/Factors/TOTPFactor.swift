package import Crypto
package import Database
package import OTP

/// Stores the secrets of TOTP factors and verifies their codes.
package struct TOTPFactor: Sendable {
  /// The length of a secret in bytes: 20, as RFC 4226, section 4 recommends, or 32 Base32
  /// characters.
  package static let secretLength = 20
  static let digits = 6
  package static let period: Int64 = 30

  private let sealer: Sealer

  package init(keys: KeyRing, random: RandomSource) throws(CryptoError) {
    sealer = try Sealer(keys, purpose: "totp secret", random: random)
  }

  /// The associated data: project, tenant, user, and factor.
  ///
  /// A sealed secret can't be opened for another factor, so rows can't be swapped.
  private func associated(_ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>) -> [UInt8] {
    Self.associated(scope.project.text, scope.tenant?.text ?? "", account.text, factor.text)
  }

  private static func associated(_ parts: String...) -> [UInt8] {
    parts.flatMap { part in withLength(Array(part.utf8)) }
  }

  private static func withLength(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
  }

  /// Seals a secret for one factor of an account.
  package func sealed(
    _ secret: Secret, for factor: ID<Factor>, of account: ID<Account>, in scope: Scope
  ) throws(CryptoError) -> [UInt8] {
    try sealer.seal(secret.revealedBytes, with: associated(scope, account, factor))
  }

  /// Returns the secret sealed with the newest key; nil if it already is.
  func resealed(
    _ sealed: [UInt8], project: String, tenant: String, account: String, factor: String
  ) throws -> [UInt8]? {
    try StoredSecret.userTOTP(factor, of: account, project: project, tenant: tenant).opening {
      try sealer.resealed(sealed, with: Self.associated(project, tenant, account, factor))
    }
  }

  /// Returns whether a stored secret can be opened.
  func opens(
    _ sealed: [UInt8], project: String, tenant: String, account: String, factor: String
  ) -> Bool {
    (try? sealer.open(sealed, with: Self.associated(project, tenant, account, factor))) != nil
  }

  /// Opens a secret that was sealed for one factor of an account.
  func opened(
    _ sealed: [UInt8], _ factor: ID<Factor>, of account: Account, in scope: Scope
  ) throws(CryptoError) -> Secret {
    try sealer.open(sealed, with: associated(scope, account.id, factor))
  }

  /// Reads a factor's stored secret and the last accepted interval; nil if the factor doesn't
  /// exist.
  func stored(
    _ factor: ID<Factor>, of account: Account, in scope: Scope, _ connection: borrowing Connection
  ) throws -> (secret: Secret, lastStep: Int64?)? {
    let row = try connection.first(
      """
      SELECT sealed_secret, last_step FROM factor
      WHERE account_key = \(account.key) AND enrollment_id = \(factor.text)
        AND sealed_secret IS NOT NULL
      """
    ) { row in (sealed: try row.value(0) as [UInt8], lastStep: try row.value(1) as Int64?) }
    return try row.map { row in
      (try opened(row.sealed, factor, of: account, in: scope), row.lastStep)
    }
  }

  /// Inserts a new factor as the account's newest.
  package func insert(
    _ id: ID<Factor>, displayName: String, secret: Secret, lastStep: Int64, for account: Account,
    in scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let sealed = try sealed(secret, for: id, of: account.id, in: scope)
    try FactorRecord.insert(
      NewFactor(
        id: id, kind: .totp, displayName: displayName, enrolledAt: now, sealedSecret: sealed,
        lastStep: lastStep),
      for: account, in: scope, connection)
  }

  /// Verifies a code and advances the last accepted interval, so that a code can't be used twice.
  ///
  /// A correct code of a suspended factor is used up too, so someone who saw it can't use it later.
  ///
  /// - Returns: The finding; if the code is correct, its interval is marked as used.
  func check(
    _ code: String, for factor: ID<Factor>, of account: Account, in scope: Scope, window: Window,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> CodeFinding {
    let row = try connection.first(
      """
      SELECT sealed_secret, last_step, suspended_until FROM factor
      WHERE account_key = \(account.key) AND enrollment_id = \(factor.text)
        AND sealed_secret IS NOT NULL
      """
    ) { row in
      (
        sealed: try row.value(0) as [UInt8], lastStep: try row.value(1) as Int64?,
        suspendedUntil: try row.value(2) as Int64?
      )
    }
    guard let row else { return CodeFinding(.wrong) }
    let stored = StoredSecret(
      .userTOTP, .account, account.id.text, part: factor.text, in: scope)
    let secret = try stored.opening {
      try sealer.open(row.sealed, with: associated(scope, account.id, factor))
    }
    guard let password = Self.password(secret) else { throw Failure("a factor without secret") }
    var lastStep = Self.reachable(row.lastStep, at: now)
    if lastStep == nil, row.lastStep != nil {
      lastStep = try Self.lastLogged(factor, of: account, at: now, connection)
    }
    let codeAttempt = try password.verify(code, at: now.seconds, window: window, after: lastStep)
    let finding = CodeFinding(codeAttempt, after: lastStep)
    // Checked last, so that a code of a suspended factor takes the same time as any other.
    let isSuspended = now.microseconds < row.suspendedUntil ?? 0
    switch codeAttempt {
    case .accepted(let step, let offset):
      let usedAt = isSuspended ? nil : now.microseconds
      let moved = try connection.run(
        """
        UPDATE factor SET last_step = \(step), last_used_at = coalesce(\(usedAt), last_used_at)
        WHERE account_key = \(account.key) AND enrollment_id = \(factor.text)
          AND (last_step IS NULL OR last_step < \(step)
            OR last_step > \(Self.furthestStep(at: now)))
        """)
      if isSuspended { return CodeFinding(.suspended, distance: offset, step: step) }
      return moved == 1 ? finding : CodeFinding(.used, distance: offset, step: step)
    case .replayed(let step, let offset) where isSuspended:
      return CodeFinding(.suspended, distance: offset, step: step)
    case .replayed, .outside, .refused, .unreadable: return finding
    }
  }

  /// Returns the latest interval that any window accepts at a time.
  static func furthestStep(at now: Instant) -> Int64 {
    now.seconds / period + Int64(Window.range.upperBound)
  }

  /// Returns the last used interval if it's possible at the current time; nil if it was used while
  /// the clock was ahead, which would lock the user out until then.
  static func reachable(_ lastStep: Int64?, at now: Instant) -> Int64? {
    guard let lastStep, lastStep <= furthestStep(at: now) else { return nil }
    return lastStep
  }

  /// The number of code attempts that are searched for used intervals.
  private static let searched = 200

  /// Returns the last used interval that's possible at the current time, from the code attempts: a
  /// sign-in while the clock was ahead has replaced the stored one, whose code may still be valid.
  private static func lastLogged(
    _ factor: ID<Factor>, of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int64? {
    guard let last = account.lastCodeAttemptAt else { return nil }
    let (scope, key) = (account.key >> 40, account.key)
    let steps = try connection.all(
      """
      WITH RECURSIVE chain (enrollment_id, result, step, previous) AS (
        SELECT enrollment_id, result, step, previous FROM code_attempt
        WHERE scope_key = \(scope) AND at = \(last) AND account_key = \(key)
        UNION ALL
        SELECT v.enrollment_id, v.result, v.step, v.previous
        FROM chain CROSS JOIN code_attempt v
        WHERE v.scope_key = \(scope) AND v.at = chain.previous AND v.account_key = \(key)
      )
      SELECT step, enrollment_id = \(factor.text) AND result = 'accepted' FROM chain
      LIMIT \(searched)
      """
    ) { row in (try row.value(1) as Bool?) == true ? try row.value(0) as Int64? : nil }
    return steps.compactMap { reachable($0, at: now) }.max()
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
    let numbers = position.split(separator: " ").compactMap { Int64($0) }
    let (key, place) = numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
    let rows = try connection.all(
      """
      SELECT f.account_key, f.position, f.enrollment_id, f.sealed_secret, a.uid, s.project_id,
        s.tenant_id
      FROM factor f CROSS JOIN account a ON a.account_key = f.account_key
        CROSS JOIN scope s ON s.scope_key = a.scope_key
      WHERE (f.account_key, f.position) > (\(key), \(place))
      ORDER BY f.account_key, f.position LIMIT \(limit)
      """
    ) { row in
      (
        account: try row.value(0) as Int64, position: try row.value(1) as Int64,
        factor: try row.value(2) as String, sealed: try row.value(3) as [UInt8]?,
        uid: try row.value(4) as String, project: try row.value(5) as String,
        tenant: try row.value(6) as String
      )
    }
    var part = ResealedPart()
    for row in rows {
      part.read("\(row.account) \(row.position)")
      guard let sealed = row.sealed,
        let box = try resealed(
          sealed, project: row.project, tenant: row.tenant, account: row.uid, factor: row.factor)
      else { continue }
      try connection.run(
        """
        UPDATE factor SET sealed_secret = \(box)
        WHERE account_key = \(row.account) AND position = \(row.position)
        """)
      part.changed += 1
    }
    return part
  }
}
