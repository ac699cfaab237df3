import HTTP
import JSON

extension Routes {
  mutating func addFederation() {
    client(
      .post, Path("v1", "accounts:signInWithCustomToken"), .v1, Methods.signInWithCustomToken,
      methods.signInWithCustomToken)
    client(
      .post, Path("v1", "accounts:signInWithIdp"), .v1, Methods.signInWithIdp, methods.signInWithIdp
    )
    inPool(
      .get, Path("v2", "projects", nil, "defaultSupportedIdpConfigs", parameters: String.self),
      Path(
        "v2", "projects", nil, "tenants", nil, "defaultSupportedIdpConfigs",
        parameters: String.self,
        String.self),
      .v2, .readProviders, Methods.listDefaultProviders, methods.listDefaultProviders)
    let supported: Path<> = Path("v2", "defaultSupportedIdps")
    add(
      supported.route(.get) { [authorizer, methods] request in
        await authorizer.admin(request, .v2, .readProviders, methods.listSupportedProviders)
      }, Methods.listSupportedProviders, .admin(.readProviders), .v2)
    for kind in ProviderMessage.kinds {
      let name = kind.collection
      let ofProject = Path("v2", "projects", nil, .literal(name), parameters: String.self)
      let ofTenant = Path(
        "v2", "projects", nil, "tenants", nil, .literal(name), parameters: String.self,
        String.self)
      inPool(.get, ofProject, ofTenant, .v2, .readProviders, kind.list) {
        [methods] (call) in try await methods.listProviders(kind, call)
      }
      inPool(.post, ofProject, ofTenant, .v2, .changeProviders, kind.create) {
        [methods] (call) in try await methods.createProvider(kind, call)
      }
      provider(.get, kind, .readProviders, kind.get, methods.getProvider)
      provider(.patch, kind, .changeProviders, kind.patch, methods.updateProvider)
      provider(.delete, kind, .changeProviders, kind.delete, methods.deleteProvider)
    }
  }

  private typealias ProviderMethod =
    @Sendable (ProviderMessage, AdminCall, String) async throws -> JSON

  private mutating func provider(
    _ method: HTTP.Method, _ kind: ProviderMessage, _ action: BearerAction,
    _ declaration: Declaration,
    _ work: @escaping ProviderMethod
  ) {
    let name = kind.collection
    let ofProject = Path(
      "v2", "projects", nil, .literal(name), nil, parameters: String.self, String.self)
    add(
      ofProject.route(method) { [authorizer] request, project, id in
        await authorizer.admin(request, .v2, action, project: project, tenant: nil) {
          (call) in try await work(kind, call, id)
        }
      }, declaration, .admin(action), .v2, below: "projects.")
    let ofTenant = Path(
      "v2", "projects", nil, "tenants", nil, .literal(name), nil, parameters: String.self,
      String.self, String.self)
    add(
      ofTenant.route(method) { [authorizer] request, project, tenant, id in
        await authorizer.admin(request, .v2, action, project: project, tenant: tenant) {
          (call) in try await work(kind, call, id)
        }
      }, declaration, .admin(action), .v2, below: "projects.tenants.")
  }
}
