import HTTP
import Identity
import Localization
import Templating

/// `S/settings/providers/{id}/removal`: asks for confirmation and removes a provider.
struct ProviderRemovalPage: Sendable {
  let providers: IdentityProviders
  let actions: ActionForms
  let view: Template<ProviderRemovalView>

  private var frames: Frames { actions.frames }

  func ask(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    try await page(context, id, [])
  }

  private func page(
    _ context: ScopeContext, _ id: String, _ errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let provider: IdentityProvider
    do { provider = try await providers.find(scope, id) } catch { throw Refusal(error) }
    var frame = try await frames.frame(Message("Remove provider · Settings"), in: context)
    frame.crumbs = [
      Link(text: Message("Identity providers"), href: ConsolePaths.providers(scope))
    ]
    frame.errors = errors
    let frameView = FrameView(frame)
    let model = ProviderRemovalView(
      frame: frameView, context: context, provider: provider,
      fields: try await actions.fields(.removeIdentityProvider, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  func remove(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    do {
      let outcome = try await providers.delete(context.scope, id, actions.request(signedIn))
      return actions.leave(
        Message("Provider {id} removed.", ["id": .text(id)]), signedIn, after: outcome,
        to: ConsolePaths.providers(context.scope))
    } catch {
      let errors = try await actions.faults(error, .removeIdentityProvider, signedIn) {
        error throws(Refusal) in throw Refusal(error)
      }
      return try await page(context, id, errors)
    }
  }
}

extension Refusal {
  fileprivate init(_ error: ProviderError) {
    if case .unavailable = error { self = .unavailable(error) } else { self = .notFound }
  }
}

struct ProviderRemovalView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let provider: IdentityProvider
  let fields: ActionFields

  private var consequences: [Message] {
    [
      Message(
        """
        Users can no longer sign in with it. Users without another sign-in method are locked out.
        """),
      Message("Signed-in users stay signed in. To end a session, go to the user’s page."),
      Message(
        """
        Users keep their linked identities: if you add a provider with the same ID again, they \
        can sign in as before.
        """),
      Message("Its keys, client ID, and client secret are deleted."),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("id") { $0.provider.id.text },
    .text("action") { ConsolePaths.providerRemoval($0.context.scope, $0.provider.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .texts("consequences") { $0.consequences },
    .object("authorization") { $0.fields },
    .text("keep") { ConsolePaths.provider($0.context.scope, $0.provider.id.text) },
  ]
}
