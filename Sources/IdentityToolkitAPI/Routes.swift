import HTTP
import Identity
import JSON

/// The addresses of the methods, without the host name that may stand in front of them and without
/// the `admin` that may stand in front of `v2`.
struct Routes {
  let methods: Methods
  let gate: Gate
  var router = Router { _, _ in
    WireError.engine(.methodNotAllowed).response(.both)
  }

  init(_ methods: Methods, _ gate: Gate) {
    self.methods = methods
    self.gate = gate
    addAccounts()
    addFactors()
    addResources()
    addKeys()
    if methods.identity.profile == .emulator { addEmulator() }
  }

  private mutating func addAccounts() {
    client(
      .post, Path("v1", "accounts:signInWithPassword"), .v1, methods.signInWithPassword)
    either(Path("v1", "accounts:signUp"), .createAccounts, methods.createAccount, methods.signUp)
    either(Path("v1", "accounts:lookup"), .lookUpAccounts, methods.lookupAccounts, methods.lookup)
    either(Path("v1", "accounts:update"), .updateAccounts, methods.updateAccount, methods.update)
    either(Path("v1", "accounts:delete"), .deleteAccounts, methods.deleteAccount, methods.delete)
    scoped(.post, "accounts", .createAccounts, methods.createAccount)
    scoped(.post, "accounts:lookup", .lookUpAccounts, methods.lookupAccounts)
    scoped(.post, "accounts:update", .updateAccounts, methods.updateAccount)
    scoped(.post, "accounts:delete", .deleteAccounts, methods.deleteAccount)
    scoped(.post, "accounts:batchDelete", .deleteAccounts, methods.batchDelete)
    scoped(.get, "accounts:batchGet", .listAccounts, methods.batchGet)
    scoped(.post, "accounts:query", .listAccounts, methods.query)
    router.on(.post, Path("v1", "token")) { [gate, methods] request in
      await gate.client(request, .v2, reading: Body.formOrMessage, methods.refresh)
    }
  }

  private mutating func addFactors() {
    client(.post, Path("v2", "accounts", "mfaEnrollment:start"), .v2, methods.startEnrolment)
    client(.post, Path("v2", "accounts", "mfaEnrollment:finalize"), .v2, methods.finalizeEnrolment)
    client(.post, Path("v2", "accounts", "mfaEnrollment:withdraw"), .v2, methods.withdrawEnrolment)
    client(.post, Path("v2", "accounts", "mfaSignIn:start"), .v2, methods.startSignIn)
    client(.post, Path("v2", "accounts", "mfaSignIn:finalize"), .v2, methods.finalizeSignIn)
  }

  private mutating func addResources() {
    let config = Path("v2", "projects", nil, "config", parameters: String.self)
    project(.get, config, .readConfig, methods.getConfig)
    project(.patch, config, .changeConfig, methods.updateConfig)
    let tenants = Path("v2", "projects", nil, "tenants", parameters: String.self)
    project(.get, tenants, .readTenants, methods.listTenants)
    project(.post, tenants, .createTenants, methods.createTenant)
    let one = Path("v2", "projects", nil, "tenants", nil, parameters: String.self, String.self)
    tenant(.get, one, .readTenants, methods.getTenant)
    tenant(.patch, one, .changeTenants, methods.updateTenant)
    tenant(.delete, one, .deleteTenants, methods.deleteTenant)
    client(.get, Path("v1", "projects"), .v1, methods.getProject)
    client(.get, Path("v2", "recaptchaConfig"), .v2, methods.getRecaptchaConfig)
    client(.get, Path("v2", "passwordPolicy"), .v2, methods.getPasswordPolicy)
  }

  private mutating func addKeys() {
    let account = "securetoken@system.gserviceaccount.com"
    let certificates: [Path<>] = [
      Path("robot", "v1", "metadata", "x509", .literal(account)), Path("v1", "publicKeys"),
      Path("identitytoolkit", "v3", "relyingparty", "publicKeys"),
    ]
    let keys: [Path<>] = [
      Path("service_accounts", "v1", "jwk", .literal(account)),
      Path("v1", "sessionCookiePublicKeys"),
    ]
    for path in certificates { open(path) { [methods] _ in methods.certificates() } }
    for path in keys { open(path) { [methods] _ in methods.keySet() } }
    let discovery = Path(
      nil, ".well-known", "openid-configuration", parameters: String.self)
    router.on(.get, discovery) { [methods, gate] request, project in
      Routes.cached(
        await gate.open(request, .both) { () async throws(WireError) in
          methods.discovery(project)
        })
    }
  }
}

// MARK: - Kinds of routes

extension Routes {
  private mutating func client(
    _ method: Method, _ path: Path<>, _ shape: ErrorShape,
    _ work: @escaping Gate.ClientMethod
  ) {
    router.on(method, path) { [gate] request in await gate.client(request, shape, work) }
  }

  private mutating func either(
    _ path: Path<>, _ action: Action, _ admin: @escaping Gate.AdminMethod,
    _ client: @escaping Gate.ClientMethod
  ) {
    router.on(.post, path) { [gate] request in
      await gate.either(request, .v1, action, admin: admin, client: client)
    }
  }

  /// A method of version 1 over the users of a project, and over those of a tenant.
  private mutating func scoped(
    _ method: Method, _ name: String, _ action: Action, _ work: @escaping Gate.AdminMethod
  ) {
    let project = Path("v1", "projects", nil, .literal(name), parameters: String.self)
    router.on(method, project) { [gate] request, project in
      await gate.admin(request, .v1, action, project: project, tenant: nil, work)
    }
    let tenant = Path(
      "v1", "projects", nil, "tenants", nil, .literal(name), parameters: String.self, String.self)
    router.on(method, tenant) { [gate] request, project, tenant in
      await gate.admin(request, .v1, action, project: project, tenant: tenant, work)
    }
  }

  private mutating func project(
    _ method: Method, _ path: Path<String>, _ action: Action, _ work: @escaping Gate.AdminMethod
  ) {
    router.on(method, path) { [gate] request, project in
      await gate.admin(request, .v2, action, project: project, tenant: nil, work)
    }
  }

  private mutating func tenant(
    _ method: Method, _ path: Path<String, String>, _ action: Action,
    _ work: @escaping Gate.AdminMethod
  ) {
    router.on(method, path) { [gate] request, project, tenant in
      await gate.admin(request, .v2, action, project: project, tenant: tenant, work)
    }
  }

  private mutating func open(_ path: Path<>, _ work: @escaping @Sendable (Request) -> JSON) {
    router.on(.get, path) { [gate] request in
      Routes.cached(
        await gate.open(request, .both) { () async throws(WireError) in work(request) })
    }
  }

  /// Keys change rarely and are fetched by many: an hour, after which a new key is known everywhere.
  private static func cached(_ response: Response) -> Response {
    var response = response
    if response.status == .ok { response.fields[.cacheControl] = "public, max-age=3600" }
    return response
  }
}
