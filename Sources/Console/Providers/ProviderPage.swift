import HTTP
import Identity
import Localization
import Templating

/// `S/settings/providers/new` and `S/settings/providers/{id}`: adds an OpenID Connect provider, and
/// shows and changes a provider.
struct ProviderPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<ProviderView>

  private static let historyLength = 10
  private var frames: Frames { actions.frames }

  func new(_ context: ScopeContext) async throws -> Response {
    try await page(context, nil, ProviderAnswers())
  }

  func create(_ context: ScopeContext) async throws -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let signedIn = context.signedIn
    do {
      let settings = try Self.settings(answers)
      let outcome = try await identity.identityProviders.create(
        in: context.scope, id: answers.id, settings, actions.request(signedIn))
      return actions.leave(
        Message("Provider {id} added.", ["id": .text(answers.id)]), signedIn, after: outcome,
        to: ConsolePaths.providers(context.scope))
    } catch {
      let errors = try await actions.faults(
        error, .addIdentityProvider, signedIn, FieldError.init(_:))
      return try await page(context, nil, answers, errors: errors)
    }
  }

  private static func settings(
    _ answers: ProviderAnswers
  ) throws -> ProviderSettings {
    guard IdentityProviders.kind(of: answers.id) == .oidc else { throw ProviderError.invalidID }
    var settings = ProviderSettings()
    try answers.apply(to: &settings, .oidc)
    return settings
  }

  func show(_ context: ScopeContext, _ id: String) async throws -> Response {
    let provider = try await find(context, id)
    return try await page(context, provider, ProviderAnswers(provider))
  }

  func change(_ context: ScopeContext, _ id: String) async throws -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let provider = try await find(context, id)
    let kind = provider.kind
    let signedIn = context.signedIn
    do {
      let outcome = try await identity.identityProviders.update(
        context.scope, id, expecting: answers.expected,
        actions.request(signedIn)
      ) { (settings) throws(ProviderError) in try answers.apply(to: &settings, kind) }
      return actions.leave(
        Message("Provider saved."), signedIn, after: outcome,
        to: ConsolePaths.provider(context.scope, id))
    } catch {
      let errors = try await actions.faults(
        error, .changeIdentityProvider, signedIn, FieldError.init(_:))
      return try await page(context, provider, answers, errors: errors)
    }
  }

  private func find(
    _ context: ScopeContext, _ id: String
  ) async throws -> IdentityProvider {
    do {
      return try await identity.identityProviders.find(context.scope, id)
    } catch is ProviderError {
      throw Refusal.notFound
    }
  }

  private func page(
    _ context: ScopeContext, _ provider: IdentityProvider?, _ answers: ProviderAnswers,
    errors: [FieldError] = []
  ) async throws -> Response {
    let scope = context.scope
    var history: [AuditRow]?
    if let provider, context.may(.readAudit) {
      let filter = AuditFilter(
        scope: scope, object: .provider, objectID: provider.id.text)
      history = try await identity.audit.list(filter, limit: Self.historyLength).items
    }
    let title =
      provider.map { Message("{id} · Identity providers", ["id": .text($0.id.text)]) }
      ?? Message("Add provider")
    var frame = try await frames.frame(title, in: context)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Identity providers"), href: ConsolePaths.providers(scope))
    ]
    let action: ConsoleAction = provider == nil ? .addIdentityProvider : .changeIdentityProvider
    let frameView = FrameView(frame)
    let model = ProviderView(
      frame: frameView, context: context, provider: provider, answers: answers, history: history,
      fields: try await actions.fields(action, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}
