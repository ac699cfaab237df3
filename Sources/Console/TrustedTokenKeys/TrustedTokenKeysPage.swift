import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/settings/custom-token-keys`: lists the custom token signing keys of a project.
struct TrustedTokenKeysPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<TrustedTokenKeysView>

  private static let historyLength = 5

  func show(_ context: ProjectContext) async throws -> Response {
    let pool = context.pool
    let trustedTokenKeys = try await identity.trustedTokenKeys.list(pool.project)
    let administrator = context.signedIn.administrator
    var history: [AuditRow]?
    if administrator.may(.readAudit, in: pool) {
      history = try await identity.audit.list(
        AuditFilter(pool: pool, object: .trustedTokenKey), limit: Self.historyLength
      ).items
    }
    let frame = try await frames.frame(Message("Custom token signing keys"), in: context)
    return .html(
      view.render(
        TrustedTokenKeysView(
          frame: frame, pool: pool, trustedTokenKeys: trustedTokenKeys, history: history,
          mayChange: administrator.may(.manageTrust, in: pool),
          isEmulator: identity.profile == .emulator)))
  }
}
