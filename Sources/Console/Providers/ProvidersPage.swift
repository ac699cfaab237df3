import HTTP
import Identity
import Localization
import Templating

/// `S/settings/providers`: lists the identity providers of a user pool.
struct ProvidersPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ProvidersView>

  func show(_ context: ScopeContext) async throws -> Response {
    let scope = context.scope
    let providers = try await identity.identityProviders.list(scope).items
    let frame = try await frames.frame(Message("Identity providers"), in: context)
    return .html(
      view.render(
        ProvidersView(
          frame: frame, context: context, providers: providers,
          isEmulator: identity.profile == .emulator)))
  }
}
