import HTTP
import Identity
import JSON

/// Lets a request through to a method: reads its credentials and its message, finds what it is
/// about, and gives every answer its form.
struct Gate: Sendable {
  let identity: Identity
  let credentials: Credentials
  let log: @Sendable (String) -> Void

  typealias ClientMethod = @Sendable (ClientCall) async throws(WireError) -> JSON
  typealias AdminMethod = @Sendable (AdminCall) async throws(WireError) -> JSON

  /// A call with an API key.
  ///
  /// A bearer token counts as well as a key, for the project it is for.
  func client(
    _ request: Request, _ shape: ErrorShape,
    reading read: (Request) throws(WireError) -> Message = Body.message, _ method: ClientMethod
  ) async -> Response {
    await answer(request, shape) { () async throws(WireError) in
      let bearer = try await credentials.bearer(request)
      let key = try await credentials.keyProject(request)
      guard bearer != nil || key != nil else { throw .missingKey }
      let message = try read(request)
      return try await method(try clientCall(request, message, key: key, bearer))
    }
  }

  /// A call that only a bearer token allows, for a scope that the path names.
  func admin(
    _ request: Request, _ shape: ErrorShape, _ action: Action, project: String, tenant: String?,
    _ method: AdminMethod
  ) async -> Response {
    await answer(request, shape) { () async throws(WireError) in
      guard let bearer = try await credentials.bearer(request) else { throw .missingCredentials }
      let message = try Body.message(of: request)
      return try await method(
        try await adminCall(
          request, message, action, project: ID(project), tenant: tenant.map { ID($0) }, bearer))
    }
  }

  /// A call that only a bearer token allows, about no project in particular: the token's, or the
  /// standard one, says whether it's allowed.
  func admin(
    _ request: Request, _ shape: ErrorShape, _ action: Action, _ method: AdminMethod
  ) async -> Response {
    await answer(request, shape) { () async throws(WireError) in
      guard let bearer = try await credentials.bearer(request) else { throw .missingCredentials }
      guard let project = bearer.project ?? identity.defaultProject else {
        throw WireError("INVALID_PROJECT_ID")
      }
      return try await method(
        try await adminCall(
          request, Message(), action, project: project, tenant: bearer.tenant, bearer))
    }
  }

  /// A call that means one thing with a bearer token and another with an API key alone.
  func either(
    _ request: Request, _ shape: ErrorShape, _ action: Action, admin: AdminMethod,
    client: ClientMethod
  ) async -> Response {
    await answer(request, shape) { () async throws(WireError) in
      let bearer = try await credentials.bearer(request)
      let key = try await credentials.keyProject(request)
      guard bearer != nil || key != nil else { throw .missingKey }
      let message = try Body.message(of: request)
      guard let bearer, try message.given("idToken") == nil else {
        return try await client(try clientCall(request, message, key: key, bearer))
      }
      let named = try namedProject(message)
      guard let project = named ?? key ?? bearer.project ?? identity.defaultProject else {
        throw WireError("INVALID_PROJECT_ID")
      }
      return try await admin(
        try await adminCall(
          request, message, action, project: project, tenant: nil,
          otherwise: named == nil ? bearer.tenant : nil, bearer))
    }
  }

  /// A call of version 3 that only a bearer token allows, for a project that the message names.
  func transfer(_ request: Request, _ action: Action, _ method: AdminMethod) async -> Response {
    await answer(request, .v1) { () async throws(WireError) in
      guard let bearer = try await credentials.bearer(request) else { throw .missingCredentials }
      let message = try Body.message(of: request)
      guard let project = try namedProject(message) else {
        throw WireError("INSUFFICIENT_PERMISSION")
      }
      return try await method(
        try await adminCall(request, message, action, project: project, tenant: nil, bearer))
    }
  }

  /// A call that needs no credential at all.
  func open(
    _ request: Request, _ shape: ErrorShape, _ method: () async throws(WireError) -> JSON
  ) async -> Response {
    await answer(request, shape, method)
  }
}

// MARK: - What a call is about

extension Gate {
  private func clientCall(
    _ request: Request, _ message: Message, key: ID<Project>?, _ bearer: Operator?
  ) throws(WireError) -> ClientCall {
    let named = try namedProject(message)
    guard bearer != nil || named == nil else {
      throw WireError(
        "INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id.")
    }
    guard let project = named ?? key ?? bearer?.project ?? identity.defaultProject else {
      throw WireError("INVALID_PROJECT_ID")
    }
    let tenant = try namedTenant(request, message)
    if let bearer {
      guard bearer.covers(project, tenant) else { throw .permissionDenied }
      // In place of a key it signs users in, which is more than to look them up.
      guard key != nil || bearer.may(.updateAccounts, project, tenant) else {
        throw .permissionDenied
      }
    }
    let isTrusted = bearer?.may(.updateAccounts, project, tenant) ?? false
    return ClientCall(
      request: request, project: project, tenant: tenant, message: message,
      address: try EndUserAddress.of(request, isTrusted: isTrusted), isTrusted: isTrusted)
  }

  func adminCall(
    _ request: Request, _ message: Message, _ action: Action, project: ID<Project>,
    tenant: ID<Tenant>?, otherwise standard: ID<Tenant>? = nil, _ bearer: Operator
  ) async throws(WireError) -> AdminCall {
    let named = action.isAboutTenants ? nil : try namedTenant(request, message)
    if let tenant, let named, tenant != named { throw WireError("TENANT_ID_MISMATCH") }
    let tenant = tenant ?? named ?? standard
    guard bearer.may(action, project, tenant) else { throw .permissionDenied }
    if action.needsTenants { try await checkTenants(of: project) }
    let scope: Scope
    do throws(ScopeError) {
      scope = try await identity.scopes.find(project: project, tenant: tenant)
    } catch {
      throw action.isAboutTenants ? WireError(tenants: error) : WireError(error)
    }
    // The users of a tenant with sign-in off aren't reached, as in production.
    if !action.isAboutTenants, scope.tenant != nil, scope.isDisabled {
      throw WireError(disabled: scope)
    }
    let author = Author(
      actor: bearer.actor, address: request.peer, requestID: request.id.text)
    return AdminCall(
      request: request, scope: scope, message: message, author: author, holder: bearer)
  }

  /// Refuses a project that doesn't allow tenants, before a tenant is looked up.
  private func checkTenants(of project: ID<Project>) async throws(WireError) {
    do throws(TenantError) {
      guard try await identity.tenants.areAllowed(in: project) else { throw .multiTenancyOff }
    } catch {
      throw WireError(error)
    }
  }

  private func namedProject(_ message: Message) throws(WireError) -> ID<Project>? {
    try message.text("targetProjectId").flatMap { $0.isEmpty ? nil : ID($0) }
  }

  /// The tenant that the message names, or the query beside the key.
  private func namedTenant(
    _ request: Request, _ message: Message
  ) throws(WireError) -> ID<Tenant>? {
    let inMessage = try givenTenant(message)
    let inQuery = request.parameter("tenantId").flatMap { $0.isEmpty ? nil : $0 }
    if let inMessage, let inQuery, inMessage != inQuery { throw WireError("TENANT_ID_MISMATCH") }
    return (inMessage ?? inQuery).map { ID($0) }
  }

  /// The tenant that the message names; a number is taken as its text.
  private func givenTenant(_ message: Message) throws(WireError) -> String? {
    if case .number(let number)? = try message.value("tenantId") { return number.text }
    return try message.given("tenantId")
  }
}

// MARK: - The answer

extension Gate {
  private func answer(
    _ request: Request, _ shape: ErrorShape, _ work: () async throws(WireError) -> JSON
  ) async -> Response {
    do throws(WireError) {
      return .json(try await work())
    } catch {
      if let cause = error.cause { log("request \(request.id): \(cause)") }
      return error.response(shape)
    }
  }
}
