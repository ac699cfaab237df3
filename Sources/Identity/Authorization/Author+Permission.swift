import Database

extension Author {
  /// Returns true if the author currently has a permission.
  ///
  /// The command line and the emulator's own token have all permissions.
  func may(
    _ permission: Permission, project: ID<Project>, tenant: ID<Tenant>?,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    switch actor {
    case .commandLine, .emulatorOwner, .server: return true
    case .user, .visitor: return false
    case .administrator(let id, _):
      let administrator = try Administrators.present(id, at: now, connection)
      return administrator?.may(permission, project: project, tenant: tenant) ?? false
    case .serviceToken(let id, _):
      let role = try connection.first(
        "SELECT role FROM service_token WHERE token_id = \(id.text) AND revoked_at IS NULL"
      ) { try $0.value(0) as String }
      return role.flatMap(ServiceTokenRole.init)?.permissions.contains(permission) ?? false
    }
  }
}
