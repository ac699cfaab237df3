import Crypto
import Database

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
