import Identity
import JSON

extension Methods {
  /// Returns the user pool of a call without a token that names one.
  func scope(of call: ClientCall) async throws(WireError) -> Scope {
    let scope: Scope
    do throws(ScopeError) {
      scope = try await identity.scopes.find(project: call.project, tenant: call.tenant)
    } catch {
      throw WireError(error)
    }
    try call.counted?.count(scope)
    return scope
  }

  func check(_ session: UserSession) async throws(WireError) -> Account {
    do throws(SessionError) {
      return try await identity.sessions.check(session)
    } catch {
      throw WireError(error)
    }
  }

  func change(
    _ session: UserSession, _ change: AccountChange, _ call: ClientCall
  ) async throws(WireError) -> AccountUpdate {
    let id = session.account
    do throws(AccountError) {
      return try await identity.accounts.update(
        session.scope, id, change, by: call.author(.user(id)), in: session)
    } catch {
      throw WireError(error)
    }
  }

  /// Returns whether email enumeration protection is enabled, so that responses must not reveal
  /// which emails have an account.
  func hidesUsers(_ scope: Scope) async throws(WireError) -> Bool {
    do throws(ScopeError) { return try await identity.scopes.hidesUsers(scope) } catch {
      throw WireError(error)
    }
  }

  func project(_ id: ID<Project>) async throws(WireError) -> UserPool {
    try await pool(id, nil)
  }

  func pool(_ scope: Scope) async throws(WireError) -> UserPool {
    try await pool(scope.project, scope.tenant)
  }

  /// Returns the pool that a call is about.
  func pool(of call: AdminCall) async throws(WireError) -> UserPool {
    if let pool = call.pool { return pool }
    return try await pool(call.scope)
  }

  private func pool(
    _ project: ID<Project>, _ tenant: ID<Tenant>?
  ) async throws(WireError) -> UserPool {
    do throws(UserPoolError) {
      return try await identity.pools.find(project: project, tenant: tenant)
    } catch {
      throw WireError(error)
    }
  }
}
