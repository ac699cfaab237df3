public import Crypto
import Database

/// A public key that verifies a project's custom tokens.
public struct TrustedTokenKey: Sendable {
  public let id: ID<TrustedTokenKey>
  /// The issuer, `iss` and `sub` of its tokens: the email address of a service account.
  public let issuer: String
  /// The key ID, `kid`; nil if tokens don't need one.
  public let keyID: String?
  /// The SHA-256 digest of the public key, in hexadecimal.
  public let fingerprint: String
  public let createdAt: Instant
  public let createdBy: String
  /// The time a token signed with the key was last accepted, to the hour; nil if never.
  public let lastUsedAt: Instant?
  public let revokedAt: Instant?

  public var label: String { String(fingerprint.prefix(16)) }
}

public enum TrustedTokenKeyError: Error, Sendable {
  /// The issuer isn't a valid email address.
  case invalidIssuer
  /// A key ID longer than 128 bytes, or with nonprinting characters.
  case invalidKeyID
  case invalidKey(PublicKey.Fault)
  /// The key is already registered for the issuer.
  case exists
  case tooMany
}

/// Registers and revokes the custom token signing keys of a project's backends.
///
/// A holder of one of the private keys can sign in as any user of the project and its tenants,
/// without a second factor.
public struct TrustedTokenKeys: Sendable {
  let store: Store
  let uses = LastUses()

  /// The maximum number of valid keys per project.
  public static let most = 20
  /// The maximum number of revoked keys that are listed.
  private static let mostRevoked = 200

  /// Registers a service account's public key or certificate, as PEM; without a key ID, its tokens
  /// don't need a `kid`.
  public func add(
    to project: ID<Project>, issuer: String, keyID: String?, key: String, by caller: Caller
  ) async throws -> ActionOutcome<TrustedTokenKey> {
    do { try AccountRules.checkEmail(issuer) } catch { throw TrustedTokenKeyError.invalidIssuer }
    let keyID = keyID.flatMap { $0.isEmpty ? nil : $0 }
    guard (keyID ?? "").utf8.count <= 128, (keyID ?? "").utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { throw TrustedTokenKeyError.invalidKeyID }
    let der: [UInt8]
    do throws(PublicKey.Fault) {
      let read = try PublicKey(pem: key)
      // Custom tokens must be signed with RS256.
      guard read.algorithm == .rs256 else { throw .otherKind }
      guard let bytes = try? read.der() else { throw .unreadable }
      der = bytes
    } catch {
      throw TrustedTokenKeyError.invalidKey(error)
    }
    let id = ID<TrustedTokenKey>(store.random.uuid())
    return try await store.run(
      .registerTokenSigningKey, by: caller, in: ActionTarget(project: project)
    ) { context, connection in
      let now = context.now
      let signer = TrustedTokenKey(
        id: id, issuer: issuer, keyID: keyID,
        fingerprint: Hex.encode(HashFunction.sha256.digest(der)), createdAt: now,
        createdBy: context.author.actor.name, lastUsedAt: nil, revokedAt: nil)
      let pool = try Pools.find(project: project, tenant: nil, connection)
      try pool.check(.hosting)
      let inForce =
        try connection.first(
          """
          SELECT count(*) FROM trusted_token_key
          WHERE project_id = \(project) AND revoked_at IS NULL
          """
        ) { try $0.next() as Int } ?? 0
      guard inForce < Self.most else { throw TrustedTokenKeyError.tooMany }
      do {
        try connection.run(
          """
          INSERT INTO trusted_token_key (trusted_token_key_id, project_id, issuer, key_id, public_key, fingerprint,
            created_at, created_by)
          VALUES (\(signer.id), \(project), \(issuer), \(keyID ?? ""), \(der),
            \(signer.fingerprint), \(now), \(signer.createdBy))
          """)
      } catch let error as DatabaseError {
        guard case .uniqueViolation = error.code else { throw error }
        throw TrustedTokenKeyError.exists
      }
      var entry = AuditEntry(
        .trustedTokenKeyAdd, .trustedTokenKey, signer.id.text, name: issuer, in: pool)
      signer.describe(in: &entry, isNew: true)
      try context.record(entry, connection)
      return signer
    }
  }

  /// Lists a project's keys, the valid ones and then the last revoked ones, newest first.
  public func list(_ project: ID<Project>) async throws -> [TrustedTokenKey] {
    try await store.read { connection in try list(project, connection) }
  }

  private func list(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> [TrustedTokenKey] {
    let valid = try connection.all(
      """
      SELECT \(Self.columns) FROM trusted_token_key
      WHERE project_id = \(project) AND revoked_at IS NULL ORDER BY created_at DESC
      """, decode)
    let revoked = try connection.all(
      """
      SELECT \(Self.columns) FROM trusted_token_key
      WHERE project_id = \(project) AND revoked_at IS NOT NULL
      ORDER BY created_at DESC LIMIT \(Self.mostRevoked)
      """, decode)
    return valid + revoked
  }

  /// Revokes a key: tokens it signed are rejected from now on.
  ///
  /// Sessions that began with its tokens stay valid.
  @discardableResult
  public func revoke(
    _ id: ID<TrustedTokenKey>, of project: ID<Project>, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    try await store.run(
      .revokeTokenSigningKey, by: caller, in: ActionTarget(project: project)
    ) { context, connection in
      let now = context.now
      let signer = try connection.first(
        """
        UPDATE trusted_token_key SET revoked_at = \(now)
        WHERE trusted_token_key_id = \(id) AND project_id = \(project) AND revoked_at IS NULL
        RETURNING \(Self.columns)
        """, decode)
      guard let signer else { throw CallError.notFound }
      var entry = AuditEntry(.trustedTokenKeyRevoke, .trustedTokenKey, id.text, name: signer.issuer)
      entry.project = project.text
      signer.describe(in: &entry, isNew: false)
      try context.record(entry, connection)
    }
  }

  private static let columns: SQL = """
    trusted_token_key_id, issuer, key_id, fingerprint, created_at, created_by, last_used_at, revoked_at
    """

  private func decode(_ row: inout Row) throws -> TrustedTokenKey {
    let (id, issuer, keyID): (String, String, String)
    (id, issuer, keyID) = (try row.next(), try row.next(), try row.next())
    return TrustedTokenKey(
      id: ID(id), issuer: issuer, keyID: keyID.isEmpty ? nil : keyID,
      fingerprint: try row.next(), createdAt: try row.next(), createdBy: try row.next(),
      lastUsedAt: uses.latest(id, try row.next()), revokedAt: try row.next())
  }
}

extension TrustedTokenKey {
  fileprivate func describe(in entry: inout AuditEntry, isNew: Bool) {
    func add(_ field: AuditFieldName, _ text: String) {
      let value = AuditValue.text(text)
      entry.add(AuditChange(field, from: isNew ? nil : value, to: isNew ? value : nil))
    }
    add(.keyLabel, label)
    if let keyID { add(.keyID, keyID) }
    add(.issuer, issuer)
  }
}

extension TrustedTokenKeys {
  struct Candidate: Sendable {
    let id: String
    let keyID: String
    let key: [UInt8]
  }

  /// Returns an issuer's valid keys: the key that a token names, or all if none has that name.
  static func candidates(
    _ project: ID<Project>, issuer: String, keyID: String?, _ connection: borrowing Connection
  ) throws -> [Candidate] {
    let all = try connection.all(
      """
      SELECT trusted_token_key_id, key_id, public_key FROM trusted_token_key
      WHERE project_id = \(project) AND issuer = \(issuer) AND revoked_at IS NULL
      LIMIT \(most)
      """
    ) { row in
      Candidate(id: try row.next(), keyID: try row.next(), key: try row.next())
    }
    let named = all.filter { !$0.keyID.isEmpty && $0.keyID == keyID }
    return named.isEmpty ? all : named
  }

  static func isInForce(_ id: String, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM trusted_token_key WHERE trusted_token_key_id = \(id) AND revoked_at IS NULL"
    ) { try $0.next() as Int } != nil
  }
}
