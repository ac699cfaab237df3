import HTTP
import Identity
import Templating

/// `S/settings/providers/new` and `S/settings/providers/{id}`: makes a provider of OpenID Connect,
/// and shows and changes one.
struct ProviderPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ProviderView>

  private static let historyLength = 10

  func new(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await page(context, nil, ProviderAnswers())
  }

  func create(_ context: ScopeContext) async throws(Refusal) -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    var settings = ProviderSettings()
    do throws(ProviderError) {
      guard IdentityProviders.kind(of: answers.id) == .oidc else { throw ProviderError.invalidID }
      try answers.apply(to: &settings, .oidc)
      try await identity.identityProviders.create(
        in: context.scope, id: answers.id, settings, by: context.signedIn.author)
    } catch {
      return try await page(context, nil, answers, fault: try FieldError(error))
    }
    frames.leave("Added the provider \(answers.id).", for: context.signedIn)
    return .redirect(to: ConsolePaths.providers(context.scope))
  }

  func show(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let provider = try await find(context, id)
    return try await page(context, provider, ProviderAnswers(provider))
  }

  func change(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let provider = try await find(context, id)
    let kind = provider.kind
    do throws(ProviderError) {
      try await identity.identityProviders.update(
        context.scope, id, expecting: Int64(answers.seen).map { Instant(microseconds: $0) },
        by: context.signedIn.author
      ) { (settings) throws(ProviderError) in try answers.apply(to: &settings, kind) }
    } catch {
      return try await page(context, provider, answers, fault: try FieldError(error))
    }
    frames.leave("The provider is saved.", for: context.signedIn)
    return .redirect(to: ConsolePaths.provider(context.scope, id))
  }

  private func find(
    _ context: ScopeContext, _ id: String
  ) async throws(Refusal) -> IdentityProvider {
    do {
      return try await identity.identityProviders.find(context.scope, id)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
  }

  private func page(
    _ context: ScopeContext, _ provider: IdentityProvider?, _ answers: ProviderAnswers,
    fault: FieldError? = nil
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    var history: [AuditRow]?
    if let provider, context.may(.readAudit) {
      let filter = AuditFilter(
        scope: scope, objectKind: "provider", objectID: provider.id.text)
      history = try await refusing {
        try await identity.audit.list(filter, limit: Self.historyLength).items
      }
    }
    let title = provider.map { "\($0.id) · Identity providers" } ?? "Add a provider"
    var frame = try await frames.frame(title, in: context, tab: .settings)
    frame.errors = fault.map { [$0] } ?? []
    frame.crumbs = [
      Link(text: "Settings", href: ConsolePaths.settings(scope)),
      Link(text: "Identity providers", href: ConsolePaths.providers(scope)),
    ]
    let model = ProviderView(
      frame: frame, context: context, provider: provider, answers: answers, history: history)
    return .html(view.render(model), status: fault == nil ? .ok : .unprocessableContent)
  }
}
