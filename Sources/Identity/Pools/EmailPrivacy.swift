import Database
import JSON

extension Pools {
  /// Returns whether email enumeration protection is enabled in a pool, so that responses must not
  /// reveal which emails have an account.
  ///
  /// A tenant without its own setting uses that of its project.
  public func hidesUsers(_ pool: Pool) async throws -> Bool {
    try await store.read { connection in
      try Self.hidesUsers(pool, connection)
    }
  }

  static func hidesUsers(_ pool: Pool, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      """
      SELECT coalesce(
        CASE WHEN s.tenant_id <> '' THEN
          \(SQL.flag("emailPrivacyConfig.enableImprovedEmailPrivacy", of: "s.members")) END,
        p.email_privacy)
      FROM scope s JOIN project p USING (project_id) WHERE s.scope_key = \(pool.key)
      """
    ) { try $0.next() as Bool } ?? true
  }
}

extension PoolEdit {
  private static let member = "emailPrivacyConfig"
  private static let flag = "enableImprovedEmailPrivacy"

  /// Whether email enumeration protection is enabled; nil for a tenant that uses its project's
  /// setting.
  ///
  /// A tenant's setting is one of its ``members``, and a project without one is protected.
  public var emailPrivacy: Bool? {
    get { project?.emailPrivacy ?? storedMembers.object[Self.member]?[Self.flag]?.boolValue }
    set {
      guard project == nil else {
        project?.emailPrivacy = newValue ?? true
        return
      }
      var stored = storedMembers.object
      var config = stored[Self.member]?.objectValue ?? [:]
      config[Self.flag] = newValue.map { .bool($0) }
      stored[Self.member] = config.isEmpty ? JSON?.none : .object(config)
      setMembers(stored)
    }
  }
}
