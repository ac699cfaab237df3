import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/temporary-code/shown`: shows a generated temporary code once.
struct TemporaryCodePage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<TemporaryCodeView>

  func show(_ context: PoolContext, _ uid: String) async throws -> Response {
    let pool = context.pool
    let address = ConsolePaths.temporaryCode(pool, uid)
    let account = try await identity.account(
      FormTarget(place: context, objects: [uid], address: address))
    var code: TemporaryCode?
    if context.signedIn.request.method == .get {
      code = try await identity.consoleStorage.takeCode(
        of: account.id, in: pool, for: context.signedIn.session)
    }
    let title = Message(
      "Temporary code · {user} · Users", ["user": .name(Formatted.short(account.label))])
    var frame = try await frames.frame(title, in: context)
    frame.crumbs = Link.crumbs(to: account, in: pool)
    let model = TemporaryCodeView(
      frame: FrameView(frame), account: account, user: UserIdentity(account, in: pool), code: code,
      caution: LockCaution(account, at: identity.clock.now(), in: context),
      back: ConsolePaths.user(pool, uid), again: address)
    return .html(view.render(model))
  }
}

struct TemporaryCodeView: ViewModel {
  let frame: FrameView
  let account: Account
  let user: UserIdentity
  /// The code; nil if it was already shown.
  let code: TemporaryCode?
  let caution: LockCaution?
  let back: String
  let again: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object(\.user),
    .text("userName") { Formatted.short($0.account.label) },
    .optional("code") { view in
      view.code.map {
        ShownCode(
          code: $0, caution: view.caution, back: view.back, times: view.frame.times)
      }
    },
    .text(\.back),
    .text(\.again),
    .flag("isGone") { $0.code == nil },
  ]
}

struct ShownCode: ViewModel {
  let code: TemporaryCode
  let caution: LockCaution?
  let back: String
  let times: Times

  static let keys: Keys<Self> = [
    .text("text") { $0.code.code.revealedText },
    .optional(\.caution),
    .list("groups") { SpelledGroup.groups($0.code.code.revealedText) },
    .markup("until") { $0.times.moment($0.code.expiresAt) },
    .text(\.back),
  ]
}
