import HTTP
import Identity
import Templating

/// `S/settings/providers/{id}/removal`: asks, and removes a provider.
struct ProviderRemovalPage: Sendable {
  let providers: IdentityProviders
  let frames: Frames
  let view: Template<ProviderRemovalView>

  func ask(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let scope = context.scope
    let provider: IdentityProvider
    do { provider = try await providers.find(scope, id) } catch { throw Refusal(error) }
    var frame = try await frames.frame("Remove a provider · Settings", in: context, tab: .settings)
    frame.crumbs = [
      Link(text: "Settings", href: ConsolePaths.settings(scope)),
      Link(text: "Identity providers", href: ConsolePaths.providers(scope)),
    ]
    return .html(
      view.render(
        ProviderRemovalView(frame: FrameView(frame), context: context, provider: provider)))
  }

  func remove(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    do {
      try await providers.delete(context.scope, id, by: context.signedIn.author)
    } catch {
      throw Refusal(error)
    }
    frames.leave("Removed the provider \(id).", for: context.signedIn)
    return .redirect(to: ConsolePaths.providers(context.scope))
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

  private var consequences: [String] {
    [
      "Nobody signs in with it from then on. Who has no other way to sign in is shut out.",
      "Whoever is signed in stays so; to end a session, open the user.",
      "Users keep their identities at it: when a provider of the same id is added again, they sign in as before.",
      "Its keys, client id and secret are forgotten.",
    ]
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("id") { $0.provider.id.text },
    .text("action") { ConsolePaths.providerRemoval($0.context.scope, $0.provider.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .texts("consequences") { $0.consequences },
    .text("keep") { ConsolePaths.provider($0.context.scope, $0.provider.id.text) },
  ]
}
