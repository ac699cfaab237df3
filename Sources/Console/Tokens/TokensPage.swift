import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `S/settings/tokens`: creates a service token and shows it once, and revokes one after
/// confirmation.
struct TokensPage: Sendable {
  let tokens: ServiceTokens
  let actions: ActionForms
  let form: Template<NewTokenView>
  let created: Template<CreatedTokenView>
  let revocation: Template<TokenRevocationView>

  private var frames: Frames { actions.frames }

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await formPage(context, name: "", role: nil, errors: [])
  }

  /// Creates a token and responds with the page that shows it; only a hash is stored, so no other
  /// page can show it.
  func create(_ context: ScopeContext) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    let name = signedIn.form.trimmed("name")
    let scope = context.scope
    guard let role = ServiceTokenRole(rawValue: signedIn.form.trimmed("role")) else {
      let fault = FieldError(field: "role", text: Message("Select a role."))
      let errors = [fault] + (try await actions.unmet(.createServiceToken, signedIn))
      return try await formPage(context, name: name, role: nil, errors: errors)
    }
    let outcome: ActionOutcome<(token: ServiceToken, secret: Secret)>
    do {
      outcome = try await tokens.create(
        project: scope.project, tenant: scope.tenant, role: role, name: name,
        actions.request(signedIn))
    } catch {
      let errors = try await actions.faults(
        error, .createServiceToken, signedIn, Self.fault)
      return try await formPage(context, name: name, role: role, errors: errors)
    }
    let new = outcome.value
    var frame = try await frames.frame(Message("Token created · Settings"), in: context)
    frame.crumbs = [
      Link(text: Message("API keys and tokens"), href: ConsolePaths.keys(scope))
    ]
    let html = created.render(
      CreatedTokenView(
        frame: FrameView(frame), scope: scope, token: new.token, text: new.secret.revealedText))
    return actions.page(.html(html), after: outcome)
  }

  private func formPage(
    _ context: ScopeContext, name: String, role: ServiceTokenRole?, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame(Message("New service token"), in: context)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("API keys and tokens"), href: ConsolePaths.keys(context.scope))
    ]
    let view = FrameView(frame)
    let model = NewTokenView(
      frame: view, context: context, name: name, role: role,
      fields: try await actions.fields(.createServiceToken, context.signedIn, view))
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
    var frame = try await frames.frame(Message("Revoke service token · Settings"), in: context)
    frame.crumbs = [
      Link(text: Message("API keys and tokens"), href: ConsolePaths.keys(scope))
    ]
    return .html(
      revocation.render(
        TokenRevocationView(frame: FrameView(frame), context: context, token: token)))
  }

  func revoke(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let scope = context.scope
    let signedIn = context.signedIn
    let outcome: ActionOutcome<Void>
    do {
      outcome = try await tokens.revoke(
        ID(id), of: scope.project, tenant: scope.tenant, actions.request(signedIn))
    } catch {
      _ = try await actions.faults(error, .revokeServiceToken, signedIn, Self.fault)
      throw .unavailable(error)
    }
    return actions.leave(
      Message("Service token revoked. Calls with it are now rejected."), signedIn, after: outcome,
      to: ConsolePaths.keys(scope))
  }

  private static func fault(_ error: ServiceTokenError) throws(Refusal) -> FieldError {
    switch error {
    case .invalidName:
      FieldError(
        field: "name",
        text: Message("Enter a name of 1 to 100 characters that identifies the token."))
    case .exceedsMaker:
      FieldError(
        field: "role",
        text: Message(
          "A token can’t have more permissions than its creator. Select a role included in yours."))
    case .scopeNotFound, .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }
}
