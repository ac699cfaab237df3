import Crypto
import Database
import OTP

/// Stores backup codes, which replace an authenticator app's code when the device isn't available.
///
/// Codes are stored as HMACs with a random key per set, sealed with the master key: eight
/// characters are too few for a digest that anyone can compute.
struct BackupCodeStore: Sendable {
  enum Kind: String, Sendable, CaseIterable, SQLConvertible {
    /// A code that an agent generates, valid for a few hours.
    case temporary
    /// One of the codes that a user keeps.
    case recovery

    /// The number of characters: 39 bits for a few hours and ten attempts, 79 bits for years.
    var length: Int { self == .temporary ? 8 : CodeText.recoveryLength }
    var count: Int { self == .temporary ? 1 : RecoveryCodes.count }

    /// Determines the kind of a typed code by its length; nil if it's neither.
    init?(of typed: TypedCode) {
      let length = CodeText.letters(of: typed)?.utf8.count
      guard let kind = Self.allCases.first(where: { $0.length == length }) else { return nil }
      self = kind
    }
  }

  private let sealer: Sealer
  private let random: RandomSource

  private static let keyLength = 32

  init(keys: KeyRing, random: RandomSource) throws(CryptoError) {
    sealer = try Sealer(keys, purpose: "stand-in", random: random)
    self.random = random
  }

  /// Generates a set of codes, replacing any previous set of the kind.
  func make(
    _ kind: Kind, for account: Account, until expires: Instant? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Secret] {
    try Self.clear([kind], of: account.key, connection)
    let key = Secret(random.bytes(Self.keyLength))
    let sealed = try sealer.seal(key.revealedBytes, with: Self.associated(kind, account.key))
    try connection.run(
      """
      INSERT INTO backup_code_set (account_key, kind, sealed_key, made_at, expires_at)
      VALUES (\(account.key), \(kind), \(sealed), \(now),
        \(expires))
      """)
    var codes: [Secret] = []
    while codes.count < kind.count {
      let letters = random.text(kind.length, from: CodeText.alphabet)
      let added = try connection.run(
        """
        INSERT INTO backup_code (account_key, kind, code_digest)
        VALUES (\(account.key), \(kind), \(try Self.digest(letters, key)))
        ON CONFLICT DO NOTHING
        """)
      guard added == 1 else { continue }
      codes.append(Secret(CodeText.grouped(letters)))
    }
    return codes
  }

  func use(
    _ typed: TypedCode, _ kind: Kind, of account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    guard let letters = CodeText.letters(of: typed) else { return false }
    let row = try connection.first(
      """
      SELECT sealed_key FROM backup_code_set
      WHERE account_key = \(account.key) AND kind = \(kind) AND \(Self.valid(at: now))
      """
    ) { row in try row.next() as [UInt8] }
    guard let sealed = row else { return false }
    let stored = StoredSecret(
      .userCodes, .account, account.id.text, part: kind.rawValue, in: pool)
    let key = try stored.opening {
      try sealer.open(sealed, with: Self.associated(kind, account.key))
    }
    let used = try connection.run(
      """
      DELETE FROM backup_code WHERE account_key = \(account.key) AND kind = \(kind)
        AND code_digest = \(try Self.digest(letters, key))
      """)
    guard used == 1 else { return false }
    if kind == .temporary { try Self.clear([.temporary], of: account.key, connection) }
    return true
  }

  /// The condition that codes haven't expired.
  ///
  /// Those with an end have if they're from the future, since the clock was set back.
  private static func valid(at now: Instant) -> SQL {
    """
    (expires_at IS NULL OR (expires_at > \(now)
      AND made_at <= \(Instant.latest(at: now))))
    """
  }

  private static func digest(_ letters: String, _ key: Secret) throws -> [UInt8] {
    try HMAC.code(.sha256, key: key, message: Array(letters.utf8))
  }

  /// - Returns: True if there were any.
  @discardableResult
  static func clear(
    _ kinds: [Kind], of account: Int64, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.run(
      """
      DELETE FROM backup_code_set
      WHERE account_key = \(account) AND kind IN (\(list: kinds))
      """) > 0
  }

  /// Revokes backup codes that no longer apply after the account's factors changed.
  ///
  /// A temporary code is revoked by any change, because it was generated for the previous factors;
  /// recovery codes are kept as long as the account has an authenticator app.
  static func reconcile(
    _ account: Int64, hasTOTP: Bool, _ connection: borrowing Connection
  ) throws {
    try clear(hasTOTP ? [.temporary] : Kind.allCases, of: account, connection)
  }

  /// Returns how many codes of a kind are left; nil if none were generated or they've expired.
  static func left(
    _ kind: Kind, of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> (count: Int, madeAt: Instant, expiresAt: Instant?)? {
    try connection.first(
      """
      SELECT made_at, expires_at, (SELECT count(*) FROM backup_code c
        WHERE c.account_key = s.account_key AND c.kind = s.kind)
      FROM backup_code_set s WHERE account_key = \(account) AND kind = \(kind)
        AND \(valid(at: now))
      """
    ) { row in
      let (madeAt, expiresAt): (Instant, Instant?) = (try row.next(), try row.next())
      return (count: try row.next(), madeAt: madeAt, expiresAt: expiresAt)
    }
  }

  /// Returns how many codes of each kind are left.
  static func left(
    of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> [Kind: Int] {
    let counts = try connection.all(
      """
      SELECT kind, (SELECT count(*) FROM backup_code c
        WHERE c.account_key = s.account_key AND c.kind = s.kind)
      FROM backup_code_set s WHERE account_key = \(account) AND \(valid(at: now))
      """
    ) { row in (kind: try row.next() as Kind, count: try row.next() as Int) }
    return counts.reduce(into: [:]) { left, set in left[set.kind] = set.count }
  }

  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM backup_code_set WHERE expires_at IS NOT NULL AND expires_at <= \(now)",
      of: "backup_code_set", by: "account_key, kind")
  }

  /// The associated data: a sealed key can be opened only for its kind and account.
  private static func associated(_ kind: Kind, _ account: Int64) -> [UInt8] {
    Array("\(kind.rawValue) \(account)".utf8)
  }
}

extension BackupCodeStore: ReencryptableStore {
  static let name = "stand-in"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    let start = PairPosition(position, least: "")
    let rows = try connection.all(
      """
      SELECT i.account_key, i.kind, i.sealed_key, a.uid, s.project_id, s.tenant_id
      FROM backup_code_set i \(SQL.orderedJoin) account a ON a.account_key = i.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE (i.account_key, i.kind) > (\(start.first), \(start.second))
      ORDER BY i.account_key, i.kind LIMIT \(limit)
      """
    ) { row in
      let (account, kind): (Int64, String) = (try row.next(), try row.next())
      return (
        account: account, kind: kind, sealed: try row.next() as [UInt8],
        secret: StoredSecret(
          kind: .userCodes, object: .account, objectID: try row.next(), part: kind,
          project: try row.next(), tenant: try row.next())
      )
    }
    return try ResealedPart(rows, at: { PairPosition($0.account, $0.kind).text }) { row in
      guard let kind = Kind(rawValue: row.kind),
        let box = try row.secret.opening({
          try sealer.resealed(row.sealed, with: Self.associated(kind, row.account))
        })
      else { return false }
      try connection.run(
        """
        UPDATE backup_code_set SET sealed_key = \(box)
        WHERE account_key = \(row.account) AND kind = \(row.kind)
        """)
      return true
    }
  }
}

struct BackupCodeCounts {
  let temporary: Int
  let recovery: Int

  /// Counts an account's codes; an account without second factors has none.
  init(of account: Account, at now: Instant, _ connection: borrowing Connection) throws {
    let left =
      try account.factors.isEmpty
      ? [:] : BackupCodeStore.left(of: account.key, at: now, connection)
    temporary = left[.temporary] ?? 0
    recovery = left[.recovery] ?? 0
  }
}

extension AuditEntry {
  /// Adds how many backup codes a change revoked, unless it's none.
  ///
  /// It's called after the change, with the counts from before it; nil if the change revokes none.
  mutating func addEnded(
    _ before: BackupCodeCounts?, of account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard let before, before.temporary + before.recovery > 0 else { return }
    let after = try BackupCodeCounts(of: account, at: now, connection)
    let (temporary, recovery) = (
      before.temporary - after.temporary, before.recovery - after.recovery
    )
    if temporary > 0 { add(.temporaryCodesEnded, .number(temporary)) }
    if recovery > 0 { add(.recoveryCodesEnded, .number(recovery)) }
  }
}
