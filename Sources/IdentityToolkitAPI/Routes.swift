import HTTP
import Identity
import JSON

/// The routes of the methods, without the host name that may precede them and the `admin` that may
/// precede `v2`.
///
/// Each line has the path, the required credentials, the declaration, and the method.
struct Routes {
  let methods: Methods
  let authorizer: CallAuthorizer
  private(set) var router = Router { _, _ in
    WireError.engine(.methodNotAllowed).response(.both)
  }
  private(set) var operations: [Operation] = []
  /// The calls without path parameters, by method and path, for the version 3 aliases.
  private(set) var calls: [String: Call] = [:]
  /// The methods for the users of a project, by method and name, for the version 3 aliases.
  private(set) var works: [String: Work] = [:]

  init(_ methods: Methods, _ authorizer: CallAuthorizer) {
    self.methods = methods
    self.authorizer = authorizer
    addAccounts()
    addOutOfBand()
    addPhones()
    addFactors()
    addRecoveryCodes()
    addEnrollmentPolicy()
    addResources()
    addFederation()
    addKeys()
    addSessions()
    addLegacy()
    if methods.identity.profile == .emulator { addEmulator() }
    addDocument()
  }

  private mutating func addAccounts() {
    client(
      .post, Path("v1", "accounts:signInWithPassword"), .v1, Methods.signInWithPassword,
      methods.signInWithPassword)
    client(
      .post, Path("v1", "accounts:signInWithGameCenter"), .v1, Methods.signInWithGameCenter,
      methods.signInWithGameCenter)
    either(
      Path("v1", "accounts:signUp"), .createAccounts, Methods.signUp, methods.createAccount,
      methods.signUp)
    either(
      Path("v1", "accounts:lookup"), .lookUpAccounts, Methods.lookup, methods.lookupAccounts,
      methods.lookup)
    either(
      Path("v1", "accounts:update"), .updateAccounts, Methods.update, methods.updateAccount,
      methods.update)
    either(
      Path("v1", "accounts:delete"), .deleteAccounts, Methods.delete, methods.deleteAccount,
      methods.delete)
    inPool(.post, "accounts", .createAccounts, Methods.createAccount, methods.createAccount)
    inPool(.post, "accounts:lookup", .lookUpAccounts, Methods.lookup, methods.lookupAccounts)
    inPool(.post, "accounts:update", .updateAccounts, Methods.update, methods.updateAccount)
    inPool(.post, "accounts:delete", .deleteAccounts, Methods.delete, methods.deleteAccount)
    inPool(.post, "accounts:batchCreate", .createAccounts, Methods.batchCreate, methods.batchCreate)
    inPool(.post, "accounts:batchDelete", .deleteAccounts, Methods.batchDelete, methods.batchDelete)
    inPool(.get, "accounts:batchGet", .listAccounts, Methods.batchGet, methods.batchGet)
    inPool(.post, "accounts:query", .listAccounts, Methods.query, methods.query)
    client(
      .post, Path("v1", "token"), .v2, Methods.refresh, reading: Body.formOrMessage, methods.refresh
    )
  }

  private mutating func addFactors() {
    client(
      .post, Path("v2", "accounts", "mfaEnrollment:start"), .v2, Methods.startEnrollment,
      methods.startEnrollment)
    client(
      .post, Path("v2", "accounts", "mfaEnrollment:finalize"), .v2, Methods.finalizeEnrollment,
      methods.finalizeEnrollment)
    client(
      .post, Path("v2", "accounts", "mfaEnrollment:withdraw"), .v2, Methods.withdrawEnrollment,
      methods.withdrawEnrollment)
    client(
      .post, Path("v2", "accounts", "mfaSignIn:start"), .v2, Methods.startSignIn,
      methods.startSignIn)
    client(
      .post, Path("v2", "accounts", "mfaSignIn:finalize"), .v2, Methods.finalizeSignIn,
      methods.finalizeSignIn)
  }

  private mutating func addResources() {
    let config = Path("v2", "projects", nil, "config", parameters: String.self)
    project(.get, config, .readConfig, Methods.getConfig, methods.getConfig)
    project(.patch, config, .changeConfig, Methods.updateConfig, methods.updateConfig)
    project(
      .post,
      Path("v2", "projects", nil, "identityPlatform:initializeAuth", parameters: String.self),
      .changeConfig, Methods.initializeAuth, methods.initializeAuth)
    let tenants = Path("v2", "projects", nil, "tenants", parameters: String.self)
    project(.get, tenants, .readTenants, Methods.listTenants, methods.listTenants)
    project(.post, tenants, .createTenants, Methods.createTenant, methods.createTenant)
    let one = Path("v2", "projects", nil, "tenants", nil, parameters: String.self, String.self)
    tenant(.get, one, .readTenants, Methods.getTenant, methods.getTenant)
    tenant(.patch, one, .changeTenants, Methods.updateTenant, methods.updateTenant)
    tenant(.delete, one, .deleteTenants, Methods.deleteTenant, methods.deleteTenant)
    client(.get, Path("v1", "projects"), .v1, Methods.getProject, methods.getProject)
    client(
      .get, Path("v2", "recaptchaConfig"), .v2, Methods.getRecaptchaConfig,
      methods.getRecaptchaConfig)
    client(
      .get, Path("v1", "recaptchaParams"), .v1, Methods.getRecaptchaParams,
      methods.getRecaptchaParams)
    client(
      .get, Path("v2", "passwordPolicy"), .v2, Methods.getPasswordPolicy, methods.getPasswordPolicy)
  }

  private mutating func addKeys() {
    let account = "securetoken@system.gserviceaccount.com"
    open(
      Path("robot", "v1", "metadata", "x509", .literal(account)), Methods.tokenCertificates,
      methods.certificates)
    open(Path("v1", "publicKeys"), Methods.cookieCertificates, methods.certificates)
    open(
      Path("service_accounts", "v1", "jwk", .literal(account)), Methods.tokenKeys, methods.keySet)
    open(Path("v1", "sessionCookiePublicKeys"), Methods.cookieKeys, methods.keySet)
    open(
      Path(".well-known", "countersign-evidence-keys"), Methods.evidenceKeys, methods.evidenceKeys)
    let discovery = Path(nil, ".well-known", "openid-configuration", parameters: String.self)
    add(
      discovery.route(.get) { [methods, authorizer] request, project in
        Routes.cached(
          await authorizer.open(request, .both) {
            methods.discovery(project)
          })
      }, Methods.discovery, .open, .both)
  }

  private mutating func addDocument() {
    let document = Document(methods.identity.profile)
    let path: Path<> = Path("openapi.json")
    add(path.route(.get, document.answer), Methods.document, .open, .both)
    if methods.identity.profile == .emulator {
      let path: Path<> = Path("emulator", "openapi.json")
      add(path.route(.get, document.answer), Methods.emulatorDocument, .emulator, .both)
    }
    document.describe(operations)
  }
}

// MARK: - Registering routes

extension Routes {
  struct Call: Sendable {
    let operation: Operation
    let answer: @Sendable (Request) async -> Response
  }

  struct Work: Sendable {
    let action: BearerAction
    let declaration: Declaration
    let method: CallAuthorizer.AdminMethod
  }

  /// Adds a route with its declaration; every route is added this way.
  ///
  /// `family` is the prefix of the declaration's name, such as `projects.tenants.`.
  mutating func add(
    _ route: Route, _ declaration: Declaration, _ access: Operation.Access, _ shape: ErrorShape,
    below family: String = "", isDeprecated: Bool = false, isPage: Bool = false
  ) {
    router.add(route)
    operations.append(
      Operation(
        id: family + declaration.id, method: route.method, components: route.components,
        declaration: declaration, access: access, shape: shape, isDeprecated: isDeprecated,
        isPage: isPage))
  }

  /// Adds a route without parameters, and keeps its call for a version 3 alias.
  private mutating func add(
    _ method: Method, _ path: Path<>, _ declaration: Declaration, _ access: Operation.Access,
    _ shape: ErrorShape, _ answer: @escaping @Sendable (Request) async -> Response
  ) {
    let route = path.route(method, answer)
    add(route, declaration, access, shape)
    if let operation = operations.last {
      calls[route.description] = Call(operation: operation, answer: answer)
    }
  }
}

// MARK: - Kinds of routes

extension Routes {
  mutating func client(
    _ method: Method, _ path: Path<>, _ shape: ErrorShape, _ declaration: Declaration,
    reading read: @escaping @Sendable (Request) throws(WireError) -> RequestMessage = Body.message,
    _ work: @escaping CallAuthorizer.ClientMethod
  ) {
    add(method, path, declaration, .client, shape) { [authorizer] request in
      await authorizer.client(
        request, shape, poolFrom: declaration.poolToken, reading: read, work)
    }
  }

  mutating func either(
    _ path: Path<>, _ action: BearerAction, _ declaration: Declaration,
    _ admin: @escaping CallAuthorizer.AdminMethod,
    _ client: @escaping CallAuthorizer.ClientMethod
  ) {
    add(.post, path, declaration, .either(action), .v1) { [authorizer] request in
      await authorizer.either(
        request, .v1, action, poolFrom: declaration.poolToken, admin: admin, client: client)
    }
  }

  /// Adds a version 1 method for the users of a project and its counterpart for those of a tenant.
  mutating func inPool(
    _ method: Method, _ name: String, _ action: BearerAction, _ declaration: Declaration,
    _ work: @escaping CallAuthorizer.AdminMethod
  ) {
    works["\(method) \(name)"] = Work(action: action, declaration: declaration, method: work)
    inPool(
      method, Path("v1", "projects", nil, .literal(name), parameters: String.self),
      Path(
        "v1", "projects", nil, "tenants", nil, .literal(name), parameters: String.self,
        String.self),
      .v1, action, declaration, work)
  }

  /// Adds a version 1 method of a project itself, such as `{p}:createSessionCookie`, and its
  /// counterpart of a tenant.
  mutating func inPool(
    verb suffix: String, _ action: BearerAction, _ declaration: Declaration,
    _ work: @escaping CallAuthorizer.AdminMethod
  ) {
    inPool(
      .post, Path("v1", "projects", .parameter(suffix: suffix), parameters: String.self),
      Path(
        "v1", "projects", nil, "tenants", .parameter(suffix: suffix), parameters: String.self,
        String.self),
      .v1, action, declaration, work)
  }

  mutating func inPool(
    _ method: Method, _ project: Path<String>, _ tenant: Path<String, String>,
    _ shape: ErrorShape, _ action: BearerAction, _ declaration: Declaration,
    _ work: @escaping CallAuthorizer.AdminMethod
  ) {
    self.project(method, project, as: shape, action, declaration, below: "projects.", work)
    self.tenant(method, tenant, as: shape, action, declaration, below: "projects.tenants.", work)
  }

  mutating func project(
    _ method: Method, _ path: Path<String>, as shape: ErrorShape = .v2, _ action: BearerAction,
    _ declaration: Declaration, below family: String = "",
    _ work: @escaping CallAuthorizer.AdminMethod
  ) {
    add(
      path.route(method) { [authorizer] request, project in
        await authorizer.admin(request, shape, action, project: project, tenant: nil, work)
      }, declaration, .admin(action), shape, below: family)
  }

  mutating func tenant(
    _ method: Method, _ path: Path<String, String>, as shape: ErrorShape = .v2,
    _ action: BearerAction, _ declaration: Declaration, below family: String = "",
    _ work: @escaping CallAuthorizer.AdminMethod
  ) {
    add(
      path.route(method) { [authorizer] request, project, tenant in
        await authorizer.admin(request, shape, action, project: project, tenant: tenant, work)
      }, declaration, .admin(action), shape, below: family)
  }

  mutating func open(
    _ path: Path<>, _ declaration: Declaration,
    _ work: @escaping @Sendable () async throws -> JSON
  ) {
    add(.get, path, declaration, .open, .both) { [authorizer] request in
      Routes.cached(await authorizer.open(request, .both, work))
    }
  }

  /// Makes a response cacheable for an hour, the time after which new keys are known everywhere.
  ///
  /// Keys change rarely and have many readers.
  static func cached(_ response: Response) -> Response {
    var response = response
    if response.status == .ok { response.fields[.cacheControl] = "public, max-age=3600" }
    return response
  }

  mutating func addOutOfBand() {
    either(
      Path("v1", "accounts:sendOobCode"), .updateAccounts, Methods.sendOobCode,
      methods.sendOobCodeAsAdministrator, methods.sendOobCode)
    inPool(
      .post, "accounts:sendOobCode", .updateAccounts, Methods.sendOobCode,
      methods.sendOobCodeAsAdministrator)
    client(
      .post, Path("v1", "accounts:resetPassword"), .v1, Methods.resetPassword, methods.resetPassword
    )
    client(
      .post, Path("v1", "accounts:signInWithEmailLink"), .v1, Methods.signInWithEmailLink,
      methods.signInWithEmailLink)
    client(
      .post, Path("v1", "accounts:createAuthUri"), .v1, Methods.createAuthUri, methods.createAuthUri
    )
  }

  mutating func addPhones() {
    client(
      .post, Path("v1", "accounts:sendVerificationCode"), .v1, Methods.sendVerificationCode,
      methods.sendVerificationCode)
    client(
      .post, Path("v1", "accounts:signInWithPhoneNumber"), .v1, Methods.signInWithPhoneNumber,
      methods.signInWithPhoneNumber)
    client(
      .post, Path("v1", "accounts:verifyIosClient"), .v1, Methods.verifyIosClient,
      methods.verifyIosClient)
  }
}

/// Methods named directly after the project or tenant, and related ones.
extension Routes {
  mutating func addSessions() {
    inPool(
      verb: ":createSessionCookie", .createSessionCookies, Methods.createSessionCookie,
      methods.createSessionCookie)
    inPool(verb: ":queryAccounts", .listAccounts, Methods.queryAccounts, methods.query)
    project(
      .get, Path("v1", "projects", nil, parameters: String.self), as: .v1, .readConfig,
      Methods.getProjectOfAdmin, methods.getProject)
    client(.post, Path("v2", "accounts:revokeToken"), .v2, Methods.revokeToken, methods.revokeToken)
  }
}
