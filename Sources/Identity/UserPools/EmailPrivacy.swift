import Database
import JSON

extension Scopes {
  /// Returns whether email enumeration protection is enabled in a pool, so that responses must not
  /// reveal which emails have an account.
  ///
  /// A tenant without its own setting uses that of its project.
  public func hidesUsers(_ scope: Scope) async throws -> Bool {
    try await store.read { connection in
      try Self.hidesUsers(scope, connection)
    }
  }

  static func hidesUsers(_ scope: Scope, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      """
      SELECT coalesce(
        CASE WHEN s.tenant_id <> '' THEN
          \(SQL.flag("emailPrivacyConfig.enableImprovedEmailPrivacy", of: "s.members")) END,
        p.email_privacy)
      FROM scope s JOIN project p USING (project_id) WHERE s.scope_key = \(scope.key)
      """
    ) { try $0.next() as Bool } ?? true
  }
}

extension UserPoolEdit {
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
