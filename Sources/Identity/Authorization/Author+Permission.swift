import Database

extension Author {
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
      let token = try ServiceTokens.inForce("t.token_id = \(id)", at: now, connection)
      return token?.role.permissions.contains(permission) ?? false
    }
  }

  /// Returns whether the author's credential is still valid; false for a service token that was
  /// revoked after its request began, or whose creator's role ended.
  ///
  /// ``Store/write(by:_:_:)`` checks it in the transaction of the write.
  func isInForce(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    guard case .serviceToken(let id, _) = actor else { return true }
    return try ServiceTokens.inForce("t.token_id = \(id)", at: now, connection) != nil
  }
}
