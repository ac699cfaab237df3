import HTTP
import Identity
import Localization
import Templating

/// `S/settings/providers`: lists the identity providers of a pool.
struct ProvidersPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ProvidersView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let providers = try await identity.identityProviders.list(pool).items
    let frame = try await frames.frame(Message("Identity providers"), in: context)
    return .html(
      view.render(
        ProvidersView(
          frame: frame, context: context, providers: providers,
          isEmulator: identity.profile == .emulator)))
  }
}
