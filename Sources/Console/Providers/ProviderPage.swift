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

  func new(_ context: PoolContext) async throws -> Response {
    try await page(context, nil, ProviderAnswers())
  }

  func create(_ context: PoolContext) async throws -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let signedIn = context.signedIn
    do {
      let settings = try Self.settings(answers)
      let outcome = try await identity.identityProviders.create(
        in: context.pool, id: answers.id, settings, actions.request(signedIn))
      return actions.leave(
        Message("Provider {id} added.", ["id": .text(answers.id)]), signedIn, after: outcome,
        to: ConsolePaths.providers(context.pool))
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

  func show(_ context: PoolContext, _ id: String) async throws -> Response {
    let provider = try await find(context, id)
    return try await page(context, provider, ProviderAnswers(provider))
  }

  func change(_ context: PoolContext, _ id: String) async throws -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let provider = try await find(context, id)
    let kind = provider.kind
    let signedIn = context.signedIn
    do {
      let outcome = try await identity.identityProviders.update(
        context.pool, id, expecting: answers.expected,
        actions.request(signedIn)
      ) { (settings) throws(ProviderError) in try answers.apply(to: &settings, kind) }
      return actions.leave(
        Message("Provider saved."), signedIn, after: outcome,
        to: ConsolePaths.provider(context.pool, id))
    } catch {
      let errors = try await actions.faults(
        error, .changeIdentityProvider, signedIn, FieldError.init(_:))
      return try await page(context, provider, answers, errors: errors)
    }
  }

  private func find(
    _ context: PoolContext, _ id: String
  ) async throws -> IdentityProvider {
    do {
      return try await identity.identityProviders.find(context.pool, id)
    } catch is ProviderError {
      throw Refusal.notFound
    }
  }

  private func page(
    _ context: PoolContext, _ provider: IdentityProvider?, _ answers: ProviderAnswers,
    errors: [FieldError] = []
  ) async throws -> Response {
    let pool = context.pool
    var history: [AuditRow]?
    if let provider, context.may(.readAudit) {
      let filter = AuditFilter(
        pool: pool, object: .provider, objectID: provider.id.text)
      history = try await identity.audit.list(filter, limit: Self.historyLength).items
    }
    let title =
      provider.map { Message("{id} · Identity providers", ["id": .text($0.id.text)]) }
      ?? Message("Add provider")
    var frame = try await frames.frame(title, in: context)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Identity providers"), href: ConsolePaths.providers(pool))
    ]
    let action: ConsoleAction = provider == nil ? .addIdentityProvider : .changeIdentityProvider
    let frameView = FrameView(frame)
    let model = ProviderView(
      frame: frameView, context: context, provider: provider, answers: answers, history: history,
      fields: try await actions.fields(action, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}
