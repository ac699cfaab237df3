import HTTP
import Identity
import Templating

/// `S/settings/tokens`: makes a service token and shows it once, and revokes one after asking.
struct TokensPage: Sendable {
  let tokens: ServiceTokens
  let frames: Frames
  let form: Template<NewTokenView>
  let made: Template<MadeTokenView>
  let revocation: Template<TokenRevocationView>

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await formPage(context, name: "", role: nil, errors: [])
  }

  /// Makes a token and answers with the page that shows it: it is kept nowhere, so no other page
  /// could.
  func create(_ context: ScopeContext) async throws(Refusal) -> Response {
    let form = context.signedIn.form
    let name = form.trimmed("name")
    let scope = context.scope
    guard let role = ServiceTokenRole(rawValue: form.trimmed("role")) else {
      let fault = FieldError(field: "role", text: "Choose what the token may do.")
      return try await formPage(context, name: name, role: nil, errors: [fault])
    }
    let new: (token: ServiceToken, secret: Secret)
    do {
      new = try await tokens.create(
        project: scope.project, tenant: scope.tenant, role: role, name: name,
        maker: .administrator(context.signedIn.administrator, context.signedIn.author))
    } catch {
      let fault = try Self.fault(error)
      return try await formPage(context, name: name, role: role, errors: [fault])
    }
    var frame = try await frames.frame("Token made · Settings", in: context, tab: .settings)
    frame.crumbs = [Link(text: "Settings", href: ConsolePaths.settings(scope))]
    return .html(
      made.render(
        MadeTokenView(
          frame: FrameView(frame), scope: scope, token: new.token,
          text: new.secret.revealedText)))
  }

  private func formPage(
    _ context: ScopeContext, name: String, role: ServiceTokenRole?, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame("New service token", in: context, tab: .settings)
    frame.errors = errors
    frame.crumbs = [Link(text: "Settings", href: ConsolePaths.settings(context.scope))]
    let model = NewTokenView(frame: FrameView(frame), context: context, name: name, role: role)
    return .html(form.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  func ask(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let scope = context.scope
    let all = try await refusing {
      try await tokens.list(scope.project, tenant: scope.tenant)
    }
    guard let token = all.first(where: { $0.id.text == id && $0.revokedAt == nil }) else {
      throw .notFound
    }
    var frame = try await frames.frame("Revoke a token · Settings", in: context, tab: .settings)
    frame.crumbs = [Link(text: "Settings", href: ConsolePaths.settings(scope))]
    return .html(
      revocation.render(
        TokenRevocationView(frame: FrameView(frame), context: context, token: token)))
  }

  func revoke(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let scope = context.scope
    do {
      try await tokens.revoke(
        ID(id), of: scope.project, tenant: scope.tenant, by: context.signedIn.author)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    frames.leave(
      "Revoked the token. Calls with it are refused from now on.", for: context.signedIn)
    return .redirect(to: ConsolePaths.settings(scope))
  }

  private static func fault(_ error: ServiceTokenError) throws(Refusal) -> FieldError {
    switch error {
    case .invalidName:
      FieldError(
        field: "name", text: "Write a name of 1 to 100 characters, by which the token is known.")
    case .exceedsMaker:
      FieldError(
        field: "role",
        text: "A token may do no more than who makes it. Choose a role that yours includes.")
    case .scopeNotFound, .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }
}
