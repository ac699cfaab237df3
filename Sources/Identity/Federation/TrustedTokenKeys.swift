import Crypto
import Database

/// A key with which a project's own back end signs custom tokens.
public struct TrustedTokenKey: Sendable {
  /// The id.
  public let id: ID<TrustedTokenKey>
  /// Who signs, `iss` and `sub` of its tokens: the email address of a service account.
  public let issuer: String
  /// The key's id, `kid`; nil when tokens need not name it.
  public let keyID: String?
  /// The SHA-256 digest of the public key, in hexadecimal.
  public let fingerprint: String
  /// When it was registered.
  public let createdAt: Instant
  /// Who registered it.
  public let createdBy: String
  /// When a token of it was last taken, to the hour; nil when never.
  public let lastUsedAt: Instant?
  /// When it was revoked; nil while it counts.
  public let revokedAt: Instant?

  /// The beginning of the fingerprint, by which people know the key.
  public var label: String { String(fingerprint.prefix(16)) }
}

/// Why a key cannot be registered or revoked.
public enum TrustedTokenKeyError: Error, Sendable {
  /// No such project.
  case projectNotFound
  /// An issuer that is not an email address.
  case invalidIssuer
  /// A key id of more than 128 bytes, or with a character that is not printed.
  case invalidKeyID
  /// The text is not a public key that can be used.
  case invalidKey(PublicKey.Fault)
  /// The issuer has this key already.
  case exists
  /// The project has as many keys as it may.
  case tooMany
  /// No such key in force in the project.
  case notFound
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension TrustedTokenKeyError: UseCaseError {}

/// Registers and revokes the public keys of a project's own back ends.
///
/// Whoever has one of the private keys signs in as any user of the project and of its tenants, and
/// is not asked for a second factor.
public struct TrustedTokenKeys: Sendable {
  let store: Store
  let uses = LastUses()

  /// How many keys of a project can be in force.
  public static let most = 20

  /// Registers the public key of an issuer for a project.
  ///
  /// - Parameters:
  ///   - project: The project.
  ///   - issuer: The service account's email address.
  ///   - keyID: The `kid` of its tokens; nil when they need not have one.
  ///   - key: The public key or the certificate, as PEM.
  ///   - author: Who registers it.
  /// - Returns: The signer.
  /// - Throws: ``TrustedTokenKeyError``.
  public func add(
    to project: ID<Project>, issuer: String, keyID: String?, key: String, by author: Author
  ) async throws(TrustedTokenKeyError) -> TrustedTokenKey {
    try await store.perform(
      by: author, TrustedTokenKeyError.self,
      try registration(to: project, issuer: issuer, keyID: keyID, key: key))
  }

  /// Registers a public key, for an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func add(
    to project: ID<Project>, issuer: String, keyID: String?, key: String, _ request: ActionRequest
  ) async throws(ActionError<TrustedTokenKeyError>) -> ActionOutcome<TrustedTokenKey> {
    let action: Action<TrustedTokenKey>
    do {
      action = try registration(to: project, issuer: issuer, keyID: keyID, key: key)
    } catch { throw .failed(error) }
    return try await store.perform(
      .registerTokenSigningKey, request, in: ActionTarget(project: project),
      TrustedTokenKeyError.self,
      action)
  }

  private func registration(
    to project: ID<Project>, issuer: String, keyID: String?, key: String
  ) throws(TrustedTokenKeyError) -> Action<TrustedTokenKey> {
    do { try AccountRules.checkEmail(issuer) } catch { throw .invalidIssuer }
    let keyID = keyID.flatMap { $0.isEmpty ? nil : $0 }
    guard (keyID ?? "").utf8.count <= 128, (keyID ?? "").utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { throw .invalidKeyID }
    let der: [UInt8]
    do throws(PublicKey.Fault) {
      let read = try PublicKey(pem: key)
      // Custom tokens are signed with RS256 and nothing else.
      guard read.algorithm == .rs256 else { throw .otherKind }
      guard let bytes = try? read.der() else { throw .unreadable }
      der = bytes
    } catch {
      throw .invalidKey(error)
    }
    let id = ID<TrustedTokenKey>(store.random.uuid())
    return { context, connection in
      let now = context.now
      let signer = TrustedTokenKey(
        id: id, issuer: issuer, keyID: keyID,
        fingerprint: Hex.encode(HashFunction.sha256.digest(der)), createdAt: now,
        createdBy: context.author.actor.name, lastUsedAt: nil, revokedAt: nil)
      let scope: Scope
      do { scope = try Scopes.find(project: project, tenant: nil, connection) } catch is ScopeError
      { throw TrustedTokenKeyError.projectNotFound }
      let inForce = try list(project, connection).filter { $0.revokedAt == nil }
      guard inForce.count < Self.most else { throw TrustedTokenKeyError.tooMany }
      do {
        try connection.run(
          """
          INSERT INTO trusted_token_key (trusted_token_key_id, project_id, issuer, key_id, public_key, fingerprint,
            created_at, created_by)
          VALUES (\(signer.id.text), \(project.text), \(issuer), \(keyID ?? ""), \(der),
            \(signer.fingerprint), \(now.microseconds), \(signer.createdBy))
          """)
      } catch let error as DatabaseError {
        guard case .uniqueViolation = error.code else { throw error }
        throw TrustedTokenKeyError.exists
      }
      var entry = AuditEntry("signer.add", "signer", signer.id.text, name: issuer, in: scope)
      entry.to = signer.words
      try context.record(entry, connection)
      return signer
    }
  }

  /// The keys of a project, the newest first, revoked ones too.
  ///
  /// - Throws: ``TrustedTokenKeyError/unavailable(_:)``.
  public func list(_ project: ID<Project>) async throws(TrustedTokenKeyError) -> [TrustedTokenKey] {
    try await store.read(TrustedTokenKeyError.self) { connection in try list(project, connection) }
  }

  private func list(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> [TrustedTokenKey] {
    try connection.all(
      """
      SELECT \(Self.columns) FROM trusted_token_key WHERE project_id = \(project.text)
      ORDER BY created_at DESC LIMIT 200
      """, decode)
  }

  /// Revokes a key: tokens that it signed are refused from now on.
  ///
  /// Sessions that were begun with its tokens go on; they are the users' to end.
  ///
  /// - Throws: ``TrustedTokenKeyError``.
  public func revoke(
    _ id: ID<TrustedTokenKey>, of project: ID<Project>, by author: Author
  ) async throws(TrustedTokenKeyError) {
    try await store.perform(by: author, TrustedTokenKeyError.self, revocation(id, of: project))
  }

  /// Revokes a key, for an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func revoke(
    _ id: ID<TrustedTokenKey>, of project: ID<Project>, _ request: ActionRequest
  ) async throws(ActionError<TrustedTokenKeyError>) -> ActionOutcome<Void> {
    try await store.perform(
      .revokeTokenSigningKey, request, in: ActionTarget(project: project),
      TrustedTokenKeyError.self,
      revocation(id, of: project))
  }

  private func revocation(_ id: ID<TrustedTokenKey>, of project: ID<Project>) -> Action<Void> {
    { context, connection in
      let now = context.now
      let signer = try connection.first(
        """
        UPDATE trusted_token_key SET revoked_at = \(now.microseconds)
        WHERE trusted_token_key_id = \(id.text) AND project_id = \(project.text) AND revoked_at IS NULL
        RETURNING \(Self.columns)
        """, decode)
      guard let signer else { throw TrustedTokenKeyError.notFound }
      var entry = AuditEntry("signer.revoke", "signer", id.text, name: signer.issuer)
      entry.project = project.text
      entry.from = signer.words
      try context.record(entry, connection)
    }
  }

  private static let columns: SQL = """
    trusted_token_key_id, issuer, key_id, fingerprint, created_at, created_by, last_used_at, revoked_at
    """

  private func decode(_ row: borrowing Row) throws -> TrustedTokenKey {
    let id: String = try row.value(0)
    let keyID: String = try row.value(2)
    let lastUsedAt = (try row.value(6) as Int64?).map(Instant.init(microseconds:))
    return TrustedTokenKey(
      id: ID(id), issuer: try row.value(1), keyID: keyID.isEmpty ? nil : keyID,
      fingerprint: try row.value(3), createdAt: Instant(microseconds: try row.value(4)),
      createdBy: try row.value(5), lastUsedAt: uses.latest(id, lastUsedAt),
      revokedAt: (try row.value(7) as Int64?).map(Instant.init(microseconds:)))
  }
}

extension TrustedTokenKey {
  /// What an audit row says of it.
  fileprivate var words: String {
    "key \(label)\(keyID.map { ", key id \($0)" } ?? "") of \(issuer)"
  }
}

extension TrustedTokenKeys {
  /// A key that may have signed a token.
  struct Candidate: Sendable {
    let id: String
    let keyID: String
    let key: [UInt8]
  }

  /// The keys in force of an issuer: the one that a token names, or all when none has that name.
  static func candidates(
    _ project: ID<Project>, issuer: String, keyID: String?, _ connection: borrowing Connection
  ) throws -> [Candidate] {
    let all = try connection.all(
      """
      SELECT trusted_token_key_id, key_id, public_key FROM trusted_token_key
      WHERE project_id = \(project.text) AND issuer = \(issuer) AND revoked_at IS NULL
      LIMIT \(most)
      """
    ) { row in
      Candidate(id: try row.value(0), keyID: try row.value(1), key: try row.value(2))
    }
    let named = all.filter { !$0.keyID.isEmpty && $0.keyID == keyID }
    return named.isEmpty ? all : named
  }

  /// Whether a key is still in force.
  static func isInForce(_ id: String, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM trusted_token_key WHERE trusted_token_key_id = \(id) AND revoked_at IS NULL"
    ) { try $0.value(0) as Int } != nil
  }
}
