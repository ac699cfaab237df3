import Identity
import JSON

extension Methods {
  /// Returns the user pool of a call without a token that names one.
  func scope(of call: ClientCall) async throws -> Scope {
    let scope = try await identity.scopes.find(project: call.project, tenant: call.tenant)
    try call.counted?.count(scope)
    return scope
  }

  func check(_ session: UserSession) async throws -> Account {
    try await identity.sessions.check(session)
  }

  func change(
    _ session: UserSession, _ change: AccountChange, _ call: ClientCall
  ) async throws -> AccountUpdate {
    let id = session.account
    return try await identity.accounts.update(
      session.scope, id, change, by: call.author(.user(id)), in: session)
  }

  /// Returns whether email enumeration protection is enabled, so that responses must not reveal
  /// which emails have an account.
  func hidesUsers(_ scope: Scope) async throws -> Bool {
    try await identity.scopes.hidesUsers(scope)
  }

  func project(_ id: ID<Project>) async throws -> UserPool {
    try await pool(id, nil)
  }

  func pool(_ scope: Scope) async throws -> UserPool {
    try await pool(scope.project, scope.tenant)
  }

  /// Returns the pool that a call is about.
  func pool(of call: AdminCall) async throws -> UserPool {
    if let pool = call.pool { return pool }
    return try await pool(call.scope)
  }

  private func pool(
    _ project: ID<Project>, _ tenant: ID<Tenant>?
  ) async throws -> UserPool {
    try await identity.pools.find(project: project, tenant: tenant)
  }
}
