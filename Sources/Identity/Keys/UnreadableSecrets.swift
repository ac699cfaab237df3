import Database

/// Stored secrets that can't be opened, for those who answer for them.
public struct UnreadableSecrets: Sendable {
  let store: Store

  /// For how long a secret is listed after it last failed to open, in seconds.
  private static let remembered: Int64 = 7 * 86_400
  /// How exactly the last failure is kept, in seconds: a flood of sign-ins writes once.
  private static let precision: Int64 = 3_600
  /// How long a secret under an unknown master key must go on failing before it's reported, in
  /// seconds: while a master key is rotated, a server takes up the new one in a moment.
  private static let patience: Int64 = 120
  /// How many secrets are read for the list.
  private static let most = 500

  /// What can't be opened in one place.
  public struct Group: Sendable, Equatable {
    /// What kind of secret.
    public enum Kind: Sendable {
      /// The secret of a user's authenticator app.
      case userTOTP
      /// The secret of an administrator's authenticator app.
      case administratorTOTP
      /// The key of a user's temporary or recovery codes.
      case userCodes
      /// The client secret of an identity provider.
      case clientSecret
      /// The private part of a token signing key.
      case signingKey
      /// The text of a message to a user.
      case message
    }

    /// What kind of secret.
    public let kind: Kind
    /// The project; nil for what belongs to the instance.
    public let project: ID<Project>?
    /// The tenant; nil for what belongs to the project or the instance.
    public let tenant: ID<Tenant>?
    /// How many secrets.
    public internal(set) var count: Int
  }

  /// What can't be opened, for an administrator who is an owner there, the latest failure first.
  ///
  /// - Parameters:
  ///   - administrator: Who asks.
  ///   - scope: The pool to look into; nil for all of them and the instance.
  /// - Returns: The kinds of secrets that fail, each with its place and number.
  /// - Throws: ``KeyError/unavailable(_:)``.
  public func groups(
    visibleTo administrator: Administrator, in scope: Scope? = nil
  ) async throws(KeyError) -> [Group] {
    guard administrator.maySomewhere(.manageTrust) else { return [] }
    let oldest = store.clock.now().advanced(bySeconds: -Self.remembered)
    let rows = try await store.read(KeyError.self) { connection in
      try connection.all(
        """
        SELECT kind, project_id, tenant_id FROM unreadable_secret
        WHERE last_at >= \(oldest.microseconds) AND reported = 1
        ORDER BY last_at DESC LIMIT \(Self.most)
        """
      ) { row in
        (
          kind: try row.value(0) as String, project: try row.value(1) as String,
          tenant: try row.value(2) as String
        )
      }
    }
    var groups: [Group] = []
    for row in rows {
      guard let kind = StoredSecret.Kind(rawValue: row.kind) else { continue }
      let project = row.project.isEmpty ? nil : ID<Project>(row.project)
      let tenant = row.tenant.isEmpty ? nil : ID<Tenant>(row.tenant)
      if let scope, scope.project != project || scope.tenant != tenant { continue }
      guard administrator.may(.manageTrust, project: project, tenant: tenant) else { continue }
      let same = groups.firstIndex {
        $0.kind == kind.shown && $0.project == project && $0.tenant == tenant
      }
      if let same {
        groups[same].count += 1
      } else {
        groups.append(Group(kind: kind.shown, project: project, tenant: tenant, count: 1))
      }
    }
    return groups
  }

  /// Writes down that a secret didn't open: a row in the audit log the first time, and what the list
  /// is made of.
  static func record(
    _ failure: UnreadableSecret, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let secret = failure.secret
    let known = try connection.first(
      """
      SELECT first_at, last_at, reported FROM unreadable_secret
      WHERE kind = \(secret.kind.rawValue) AND project_id = \(secret.project)
        AND tenant_id = \(secret.tenant) AND object_id = \(secret.objectID)
        AND part = \(secret.part)
      """
    ) { row in
      (
        first: Instant(microseconds: try row.value(0)),
        last: Instant(microseconds: try row.value(1)), isReported: try row.value(2) as Bool
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
      VALUES (\(secret.kind.rawValue), \(secret.project), \(secret.tenant), \(secret.objectID),
        \(secret.part), \(failure.key == nil ? "changed" : "unknown-key"), \(now.microseconds),
        \(now.microseconds), \(isCertain))
      ON CONFLICT (kind, project_id, tenant_id, object_id, part) DO UPDATE SET
        reason = excluded.reason, last_at = excluded.last_at,
        reported = max(reported, excluded.reported)
      """)
    guard isNews else { return }
    var entry = AuditEntry("secret.unreadable", secret.objectKind, secret.objectID, name: "")
    (entry.project, entry.tenant) = (secret.project, secret.tenant)
    entry.from = secret.kind.rawValue + (secret.part.isEmpty ? "" : " \(secret.part)")
    entry.to = failure.reason
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  /// Forgets what hasn't failed for a week: it was removed, or opens again.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws {
    let oldest = now.advanced(bySeconds: -remembered)
    try connection.run("DELETE FROM unreadable_secret WHERE last_at < \(oldest.microseconds)")
  }
}

extension StoredSecret.Kind {
  fileprivate var shown: UnreadableSecrets.Group.Kind {
    switch self {
    case .userTOTP: .userTOTP
    case .administratorTOTP: .administratorTOTP
    case .userCodes: .userCodes
    case .clientSecret: .clientSecret
    case .signingKey: .signingKey
    case .message: .message
    }
  }
}
