import HTTP

/// Methods named directly after the project or tenant, and related ones.
extension Routes {
  mutating func addSessions() {
    inPool(
      verb: ":createSessionCookie", .createSessionCookies, .createSessionCookie,
      methods.createSessionCookie)
    inPool(verb: ":queryAccounts", .listAccounts, .queryAccounts, methods.query)
    let project = Path("v1", "projects", nil, parameters: String.self)
    add(
      project.route(.get) { [authorizer, methods] request, project in
        await authorizer.admin(
          request, .v1, .readConfig, project: project, tenant: nil, methods.getProject)
      }, .getProjectOfAdmin, .admin(.readConfig), .v1)
    client(.post, Path("v2", "accounts:revokeToken"), .v2, .revokeToken, methods.revokeToken)
  }
}
