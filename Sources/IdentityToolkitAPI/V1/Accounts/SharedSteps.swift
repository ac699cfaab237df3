import Identity
import JSON

/// Steps that several methods share.
extension Methods {
  /// The scope of a call in which no token names one.
  func scope(of call: ClientCall) async throws(WireError) -> Scope {
    do throws(ScopeError) {
      return try await identity.scopes.find(project: call.project, tenant: call.tenant)
    } catch {
      throw WireError(error)
    }
  }

  /// The user of a session, when it is still good.
  func check(_ session: UserSession) async throws(WireError) -> Account {
    do throws(SessionError) {
      return try await identity.sessions.check(session)
    } catch {
      throw WireError(error)
    }
  }

  /// Changes an account on its own user's behalf.
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

  /// Whether answers must not tell which email addresses have an account.
  func hidesUsers(_ scope: Scope) async throws(WireError) -> Bool {
    do throws(ScopeError) { return try await identity.scopes.hidesUsers(scope) } catch {
      throw WireError(error)
    }
  }

  func project(_ id: ID<Project>) async throws(WireError) -> Project {
    do throws(ProjectError) {
      return try await identity.projects.find(id)
    } catch {
      throw WireError(error)
    }
  }

  func tenant(_ id: ID<Tenant>, of project: ID<Project>) async throws(WireError) -> Tenant {
    do throws(TenantError) {
      return try await identity.tenants.find(project: project, tenant: id)
    } catch {
      throw WireError(error)
    }
  }
}
