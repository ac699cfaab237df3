import HTTP
import Identity
import JSON

/// Guards the methods: reads a request's credentials and message, resolves its project and tenant,
/// and formats the response.
struct CallAuthorizer: Sendable {
  let identity: Identity
  let credentials: Credentials
  let tokens: IDTokens
  let limit: PoolRequestLimit?
  let log: @Sendable (RequestID, RequestEvent) -> Void

  typealias ClientMethod = @Sendable (ClientCall) async throws -> JSON
  typealias AdminMethod = @Sendable (AdminCall) async throws -> JSON

  /// Handles a call with an API key.
  ///
  /// A bearer token is accepted in place of a key, for its project.
  func client(
    _ request: Request, _ shape: ErrorShape, poolFrom token: PoolToken?,
    reading read: (Request) throws(WireError) -> RequestMessage = Body.message,
    _ method: ClientMethod
  ) async -> Response {
    await answer(request, shape) { () in
      let bearer = try await credentials.bearer(request)
      let key = try await credentials.keyProject(request)
      guard bearer != nil || key != nil else { throw WireError.missingKey }
      let message = try read(request)
      return try await method(
        try await clientCall(request, message, key: key, bearer, poolFrom: token))
    }
  }

  /// Handles a call that requires a bearer token, for the pool in the path.
  func admin(
    _ request: Request, _ shape: ErrorShape, _ action: BearerAction, project: String,
    tenant: String?,
    _ method: AdminMethod
  ) async -> Response {
    await answer(request, shape) { () in
      guard let bearer = try await credentials.bearer(request) else {
        throw WireError.missingCredentials
      }
      let message = try Body.message(of: request)
      return try await method(
        try await adminCall(
          request, message, action, project: try await self.project(ID(project)),
          tenant: tenant.map { ID($0) }, bearer))
    }
  }

  /// Handles a call that requires a bearer token but names no project; it's authorized for the
  /// token's project or the default one.
  func admin(
    _ request: Request, _ shape: ErrorShape, _ action: BearerAction, _ method: AdminMethod
  ) async -> Response {
    await answer(request, shape) { () in
      guard let bearer = try await credentials.bearer(request) else {
        throw WireError.missingCredentials
      }
      guard let project = bearer.project ?? identity.defaultProject else {
        throw WireError("INVALID_PROJECT_ID")
      }
      return try await method(
        try await adminCall(
          request, RequestMessage(), action, project: project, tenant: bearer.tenant, bearer))
    }
  }

  /// Handles a call that is an administrator's with a bearer token and a client's with only an API
  /// key.
  func either(
    _ request: Request, _ shape: ErrorShape, _ action: BearerAction, poolFrom token: PoolToken?,
    admin: AdminMethod, client: ClientMethod
  ) async -> Response {
    await answer(request, shape) { () in
      let bearer = try await credentials.bearer(request)
      let key = try await credentials.keyProject(request)
      guard bearer != nil || key != nil else { throw WireError.missingKey }
      let message = try Body.message(of: request)
      guard let bearer, try message.given("idToken") == nil else {
        return try await client(
          try await clientCall(request, message, key: key, bearer, poolFrom: token))
      }
      let named = try await namedProject(message)
      guard let project = named ?? key ?? bearer.project ?? identity.defaultProject else {
        throw WireError("INVALID_PROJECT_ID")
      }
      return try await admin(
        try await adminCall(
          request, message, action, project: project, tenant: nil,
          otherwise: named == nil ? bearer.tenant : nil, bearer))
    }
  }

  /// Handles a call with an API key for the pool in the path.
  ///
  /// A bearer token is the ID token of a user, so it isn't a credential of the caller.
  func client(
    _ request: Request, _ shape: ErrorShape, project: String, tenant: String?,
    _ method: ClientMethod
  ) async -> Response {
    await answer(request, shape) { () in
      guard let key = try await credentials.keyProject(request) else { throw WireError.missingKey }
      let project = try await self.project(ID(project))
      guard key == project || identity.profile == .emulator else {
        throw WireError.permissionDenied
      }
      let counted = try await count(project, tenant.map { ID($0) })
      return try await method(
        ClientCall(
          request: request, project: project, tenant: tenant.map { ID($0) },
          message: RequestMessage(),
          address: try EndUserAddress.of(request, isTrusted: false), counted: counted))
    }
  }

  /// Handles a call of version 3 that requires a bearer token, for the project in the message.
  func transfer(_ request: Request, _ action: BearerAction, _ method: AdminMethod) async -> Response
  {
    await answer(request, .v1) { () in
      guard let bearer = try await credentials.bearer(request) else {
        throw WireError.missingCredentials
      }
      let message = try Body.message(of: request)
      guard let project = try await namedProject(message) else {
        throw WireError("INSUFFICIENT_PERMISSION")
      }
      return try await method(
        try await adminCall(request, message, action, project: project, tenant: nil, bearer))
    }
  }

  func open(
    _ request: Request, _ shape: ErrorShape, _ method: () async throws -> JSON
  ) async -> Response {
    await answer(request, shape, method)
  }

  func hasToken(_ request: Request) async throws(WireError) -> Bool {
    do { return try await credentials.bearer(request) != nil } catch {
      let error = WireError(error)
      if error.status == .unauthorized { return false }
      if let cause = error.cause { log(request.id, .failed(cause: "\(cause)")) }
      throw error
    }
  }
}

// MARK: - Resolving the project and tenant

extension CallAuthorizer {
  private func clientCall(
    _ request: Request, _ message: RequestMessage, key: ID<Project>?, _ bearer: Operator?,
    poolFrom token: PoolToken?
  ) async throws -> ClientCall {
    let named = try await namedProject(message)
    guard bearer != nil || named == nil else {
      throw WireError(
        "INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id.")
    }
    guard let project = named ?? key ?? bearer?.project ?? identity.defaultProject else {
      throw WireError("INVALID_PROJECT_ID")
    }
    // A tenant's token is for its tenant unless the call names a pool.
    let standard = named == nil ? bearer?.tenant : nil
    let tenant = try namedTenant(request, message) ?? standard
    if let bearer {
      guard bearer.covers(project, tenant) else { throw denied(request, bearer, .seePool) }
      // Without a key of the project, the token is used to sign users in, which requires more than
      // looking them up.
      let action = BearerAction.updateAccounts
      guard key == project || bearer.may(action, project, tenant) else {
        throw denied(request, bearer, action.permission)
      }
    }
    let counted = try await count(project, tenant, or: token, message)
    let holder = bearer.flatMap { $0.may(.updateAccounts, project, tenant) ? $0 : nil }
    return ClientCall(
      request: request, project: project, tenant: tenant, message: message,
      address: try EndUserAddress.of(request, isTrusted: holder != nil), holder: holder,
      counted: counted)
  }

  func adminCall(
    _ request: Request, _ message: RequestMessage, _ action: BearerAction, project: ID<Project>,
    tenant: ID<Tenant>?, otherwise standard: ID<Tenant>? = nil, _ bearer: Operator
  ) async throws -> AdminCall {
    let named = action.isAboutTenants ? nil : try namedTenant(request, message)
    if let tenant, let named, tenant != named { throw WireError("TENANT_ID_MISMATCH") }
    let tenant = tenant ?? named ?? standard
    guard bearer.may(action, project, tenant) else {
      throw denied(request, bearer, action.permission)
    }
    if action.needsTenants { try await checkTenants(of: project) }
    let pool: Pool
    var settings: PoolSettings?
    do {
      if action.isAboutTenants {
        let found = try await identity.pools.settings(project: project, tenant: tenant)
        (pool, settings) = (found.pool, found)
      } else {
        pool = try await identity.pools.find(project: project, tenant: tenant)
      }
    } catch let error as PoolLookupError {
      throw action.isAboutTenants ? WireError(tenants: error) : error
    }
    // The users of a tenant with sign-in disabled can't be accessed, as in production.
    if !action.isAboutTenants, pool.tenant != nil, pool.isDisabled {
      throw WireError(disabled: pool)
    }
    try checkLimit(PoolRequestLimit.Key(pool.project, pool.tenant))
    return AdminCall(
      request: request, pool: pool, settings: settings, message: message,
      author: bearer.author(of: request), holder: bearer)
  }

  private func denied(_ request: Request, _ bearer: Operator, _ permission: Permission) -> WireError
  {
    log(request.id, .denied(bearer.actor, lacking: permission))
    return .permissionDenied
  }

  private func checkLimit(_ key: PoolRequestLimit.Key) throws(WireError) {
    guard let limit, !limit.allows(key) else { return }
    throw .tooManyRequests
  }

  /// Counts a client's call for the pool that it names, or else that of its token, and rejects it
  /// beyond that pool's limit.
  ///
  /// The web SDK doesn't name the tenant when it refreshes a token or looks a user up, and a second
  /// factor is that of its pending credential. A tenant that
  /// doesn't exist and a token that isn't valid count for the project, since a client can invent any
  /// number of them.
  private func count(
    _ project: ID<Project>, _ tenant: ID<Tenant>?, or token: PoolToken? = nil,
    _ message: RequestMessage = RequestMessage()
  ) async throws -> CountedPool? {
    guard let limit else { return nil }
    var tenant = tenant
    if tenant == nil, let token, let text = try message.text(token.rawValue) {
      switch token {
      case .idToken: tenant = await tokens.tenant(of: text, project: project)
      case .refreshToken:
        tenant = (try? await identity.sessions.pool(of: text, project: project))?.tenant
      case .pendingCredential:
        tenant = (try? await identity.signIns.pool(of: text, project: project))?.tenant
      }
    }
    if let named = tenant,
      (try? await identity.pools.existing(project: project, tenant: named)) == nil
    {
      tenant = nil
    }
    let key = PoolRequestLimit.Key(project, tenant)
    try checkLimit(key)
    return CountedPool(limit: limit, key: key)
  }

  private func checkTenants(of project: ID<Project>) async throws {
    guard try await identity.pools.areTenantsAllowed(in: project) else {
      throw PoolError.multiTenancyOff
    }
  }

  private func namedProject(_ message: RequestMessage) async throws -> ID<Project>? {
    guard let name = try message.text("targetProjectId"), !name.isEmpty else { return nil }
    return try await project(ID(name))
  }

  /// Resolves the project that a path or message names, by its ID or by the number in resource
  /// names.
  func project(_ name: ID<Project>) async throws -> ID<Project> {
    try await identity.pools.id(of: name)
  }

  private func namedTenant(
    _ request: Request, _ message: RequestMessage
  ) throws(WireError) -> ID<Tenant>? {
    let inMessage = try givenTenant(message)
    let inQuery = request.parameter("tenantId").flatMap { $0.isEmpty ? nil : $0 }
    if let inMessage, let inQuery, inMessage != inQuery { throw WireError("TENANT_ID_MISMATCH") }
    return (inMessage ?? inQuery).map { ID($0) }
  }

  /// Returns the tenant in the message; a number is read as text.
  private func givenTenant(_ message: RequestMessage) throws(WireError) -> String? {
    if case .number(let number)? = try message.value("tenantId") { return number.text }
    return try message.given("tenantId")
  }
}

// MARK: - Responses

extension CallAuthorizer {
  private func answer(
    _ request: Request, _ shape: ErrorShape, _ work: () async throws -> JSON
  ) async -> Response {
    do {
      // Read first, so that a call with an invalid selection changes nothing.
      let selection = try request.fieldSelection
      return .json(selection.of(try await work()))
    } catch {
      let error = WireError(error)
      if let cause = error.cause { log(request.id, .failed(cause: "\(cause)")) }
      return error.response(shape)
    }
  }
}
