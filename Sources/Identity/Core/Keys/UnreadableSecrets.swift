import Crypto
public import Database

/// Lists stored secrets that can't be opened, for owners.
public struct UnreadableSecrets: Sendable {
  let store: Store

  /// How long a secret is listed after it last failed to open, in seconds.
  private static let remembered: Int64 = 7 * 86_400
  /// The precision of the last failure time, in seconds, so that a flood of sign-ins writes only
  /// once.
  private static let precision: Int64 = 3_600
  /// How long a secret under an unknown master key must keep failing before it's reported, in
  /// seconds, because a server picks up a new key shortly after a rotation starts.
  private static let patience: Int64 = 120
  /// The maximum number of secrets read for the list.
  private static let most = 500

  public struct Group: Sendable, Equatable {
    /// The kind of secret, as it's stored.
    public enum Kind: String, CaseIterable, Sendable, SQLConvertible {
      case userTOTP = "user-totp"
      case administratorTOTP = "administrator-totp"
      /// The key of a user's temporary or recovery codes.
      case userCodes = "user-codes"
      case clientSecret = "client-secret"
      case signingKey = "signing-key"
      case evidenceKey = "evidence-key"
      case message = "message"
      /// The credential of a connected project.
      case connection
    }

    public let kind: Kind
    /// The project; nil for what belongs to the instance.
    public let project: ID<Project>?
    /// The tenant; nil for what belongs to the project or the instance.
    public let tenant: ID<Tenant>?
    public internal(set) var count: Int
  }

  /// Lists unreadable secrets in every place that the administrator owns, latest failure first.
  ///
  /// Without a pool, all pools and the instance are searched.
  public func groups(
    visibleTo administrator: Administrator, in pool: Pool? = nil
  ) async throws -> [Group] {
    guard administrator.maySomewhere(.manageTrust) else { return [] }
    let oldest = store.clock.now().advanced(bySeconds: -Self.remembered)
    let rows = try await store.read { connection in
      try connection.all(
        """
        SELECT kind, project_id, tenant_id FROM unreadable_secret
        WHERE last_at >= \(oldest) AND reported = 1
        ORDER BY last_at DESC LIMIT \(Self.most)
        """
      ) { row in
        (
          kind: try row.next() as Group.Kind, project: ID<Project>(nonEmpty: try row.next()),
          tenant: ID<Tenant>(nonEmpty: try row.next())
        )
      }
    }
    var groups: [Group] = []
    for (kind, project, tenant) in rows {
      if let pool, pool.project != project || pool.tenant != tenant { continue }
      guard administrator.may(.manageTrust, project: project, tenant: tenant) else { continue }
      let same = groups.firstIndex {
        $0.kind == kind && $0.project == project && $0.tenant == tenant
      }
      if let same {
        groups[same].count += 1
      } else {
        groups.append(Group(kind: kind, project: project, tenant: tenant, count: 1))
      }
    }
    return groups
  }

  /// Records that a secret didn't open: for the list, and in the audit log the first time.
  static func record(
    _ failure: UnreadableSecret, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let secret = failure.secret
    if let key = failure.keyName, try MasterKeys.isNew(key, connection) { return }
    let known = try connection.first(
      """
      SELECT first_at, last_at, reported FROM unreadable_secret
      WHERE kind = \(secret.kind) AND project_id = \(secret.project)
        AND tenant_id = \(secret.tenant) AND object_id = \(secret.objectID)
        AND part = \(secret.part)
      """
    ) { row in
      (
        first: try row.next() as Instant, last: try row.next() as Instant,
        isReported: try row.next() as Bool
      )
    }
    let isCertain =
      failure.key == nil || known.map { now >= $0.first.advanced(bySeconds: patience) } ?? false
    let isNews = isCertain && !(known?.isReported ?? false)
    if let known, !isNews, now < known.last.advanced(bySeconds: precision) { return }
    try connection.run(
      """
      INSERT INTO unreadable_secret (kind, project_id, tenant_id, object_id, part, reason, first_at,
        last_at, reported)
      VALUES (\(secret.kind), \(secret.project), \(secret.tenant), \(secret.objectID),
        \(secret.part), \(failure.key == nil ? "changed" : "unknown-key"), \(now),
        \(now), \(isCertain))
      ON CONFLICT (kind, project_id, tenant_id, object_id, part) DO UPDATE SET
        reason = excluded.reason, last_at = excluded.last_at,
        reported = \(SQL.greatest)(unreadable_secret.reported, excluded.reported)
      """)
    guard isNews else { return }
    var entry = AuditEntry(.secretUnreadable, secret.object, secret.objectID, name: "")
    (entry.project, entry.tenant) = (secret.project, secret.tenant)
    entry.add(.secretKind, .code(secret.kind.rawValue))
    if !secret.part.isEmpty { entry.add(.secretPart, .text(secret.part)) }
    entry.add(.failure, .code(failure.key == nil ? "changed" : "unknown-key"))
    if let key = failure.keyName { entry.add(.masterKey, .text(key)) }
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  /// Deletes secrets that haven't failed for a week, because they were removed or open again.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -remembered)
    return try connection.deletePart(
      "FROM unreadable_secret WHERE last_at < \(oldest)", of: "unreadable_secret",
      by: "kind, project_id, tenant_id, object_id, part")
  }
}

/// A stored sealed secret, as the audit log and alerts identify it.
struct StoredSecret: Sendable, Equatable {
  typealias Kind = UnreadableSecrets.Group.Kind

  let kind: Kind
  let object: AuditResource
  /// The resource ID: a user, an administrator, a provider, a key, or a message.
  let objectID: String
  /// Which of the resource's secrets, if it can have several.
  var part = ""
  var project = ""
  var tenant = ""

  static func administratorTOTP(_ id: String) -> StoredSecret {
    StoredSecret(kind: .administratorTOTP, object: .administrator, objectID: id)
  }

  static func signingKey(_ id: String) -> StoredSecret {
    StoredSecret(kind: .signingKey, object: .signingKey, objectID: id)
  }

  static func evidenceKey(_ id: String) -> StoredSecret {
    StoredSecret(kind: .evidenceKey, object: .signingKey, objectID: id)
  }

  static let consoleProvider = StoredSecret(
    kind: .clientSecret, object: .instance, objectID: "sign-in-provider")

  static func message(_ id: Int64, project: String, tenant: String) -> StoredSecret {
    StoredSecret(
      kind: .message, object: .message, objectID: String(id), project: project,
      tenant: tenant)
  }
}

extension StoredSecret {
  init(
    _ kind: Kind, _ object: AuditResource, _ objectID: String, part: String = "", in pool: Pool
  ) {
    self.init(
      kind: kind, object: object, objectID: objectID, part: part,
      project: pool.project.text, tenant: pool.tenant?.text ?? "")
  }

  /// Runs the closure that opens this secret, and identifies the secret in the error if it doesn't
  /// open; throws ``UnreadableSecret``, and any other error that `body` throws.
  func opening<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch CryptoError.notAuthentic {
      throw UnreadableSecret(secret: self, key: nil)
    } catch CryptoError.unknownKey(let key) {
      throw UnreadableSecret(secret: self, key: key)
    }
  }
}

/// A stored secret couldn't be opened.
///
/// The use case that needed it fails, and ``Store`` records the failure.
struct UnreadableSecret: Error, CustomStringConvertible {
  let secret: StoredSecret
  /// The master key that sealed the secret, if that key isn't in the key ring; nil if the sealed
  /// bytes were changed or moved from another row.
  let key: UInt32?

  var description: String {
    "unreadable \(secret.kind.rawValue): \(keyName.map { "unknown-key \($0)" } ?? "changed")"
  }

  var keyName: String? {
    guard let key else { return nil }
    let digits = String(key, radix: 16)
    let padding = String(repeating: "0", count: max(0, 8 - digits.utf8.count))
    return padding + digits
  }
}
