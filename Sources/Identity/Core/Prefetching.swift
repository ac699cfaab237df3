import Database

/// What the pages of the console read first, for a database on a server: in one round trip instead
/// of one for each query.
extension Identity {
  /// Prefetches what's read to authorize a request: the approvals that wait, and the pool in the
  /// address.
  ///
  /// They run along with the query for the session, so before it's known whether there's one.
  public func prefetch(_ pool: (project: ID<Project>, tenant: ID<Tenant>?)?) {
    store.database.prefetch {
      var queries = [Approvals.firstWaiting]
      if let pool { queries.append(Scopes.query(project: pool.project, tenant: pool.tenant)) }
      return queries
    }
  }

  /// Prefetches what the frame of a pool's pages shows: the menus of projects and tenants, and the
  /// number of users.
  public func prefetchFrame(
    in scope: Scope, for administrator: Administrator, menuLength: Int
  ) {
    store.database.prefetch {
      let names = [
        UserPools.projectNames(visibleTo: administrator, limit: menuLength),
        UserPools.tenantNames(
          project: scope.project, visibleTo: administrator, limit: menuLength),
      ]
      let users = administrator.may(.findUsers, in: scope) ? Accounts.count(scope) : nil
      return (names + [users]).compactMap { $0 }
    }
  }
}
