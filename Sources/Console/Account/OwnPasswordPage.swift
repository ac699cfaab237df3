import Crypto
import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/account/password`: changes the administrator's own password.
struct OwnPasswordPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<OwnPasswordView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    guard try await isOpen(to: signedIn) else { return .redirect(to: ConsolePaths.account()) }
    return await page(signedIn, errors: [])
  }

  private func isOpen(to signedIn: SignedIn) async throws -> Bool {
    try await identity.administrators.record(signedIn.administrator.id).hasPassword
  }

  func change(_ signedIn: SignedIn) async throws -> Response {
    guard try await isOpen(to: signedIn) else { return .redirect(to: ConsolePaths.account()) }
    let old = signedIn.form.text("old-password") ?? ""
    let new = signedIn.form.text("new-password") ?? ""
    var errors: [FieldError] = []
    if old.isEmpty {
      errors.append(
        FieldError(field: "old-password", text: Message("Enter your current password.")))
    }
    if new.isEmpty {
      errors.append(
        FieldError(field: "new-password", text: Message("Enter a new password.")))
    }
    guard errors.isEmpty else { return await page(signedIn, errors: errors) }
    let ended: Int
    do {
      ended = try await identity.ownAccount.changePassword(
        of: signedIn.session, old: Secret(old), new: Secret(new), by: signedIn.author)
    } catch let error as PasswordChangeError {
      return try await refused(error, signedIn)
    }
    let text =
      ended == 0
      ? Message("Password changed.")
      : Message(
        one: "Password changed. {count} other session ended.",
        other: "Password changed. {count} other sessions ended.", ["count": .number(ended)])
    frames.leave(text, for: signedIn)
    return .redirect(to: ConsolePaths.account())
  }

  private func refused(
    _ error: PasswordChangeError, _ signedIn: SignedIn
  ) async throws -> Response {
    switch error {
    case .sessionEnded: throw Refusal.sessionEnded
    case .wrongPassword:
      return await page(
        signedIn,
        errors: [
          FieldError(
            field: "old-password",
            text: Message("The current password is incorrect."))
        ])
    case .weakPassword(let reason):
      return await page(signedIn, errors: [FieldError(field: "new-password", text: reason.message)])
    case .throttled(let until):
      let seconds = until.wait(at: frames.clock.now())
      let fault = FieldError(
        field: "old-password", text: CodeFault.tooManyPasswords(retryingIn: seconds))
      var response = await page(signedIn, errors: [fault], status: .tooManyRequests)
      response.fields[.retryAfter] = String(seconds)
      return response
    case .busy: throw Refusal.busy
    case .notFound: throw Refusal.notFound
    }
  }

  private func page(
    _ signedIn: SignedIn, errors: [FieldError], status: Status? = nil
  ) async -> Response {
    let title = Message("Change password")
    var frame = await frames.frame(
      Message("{title} · Your account", ["title": .message(title)]), for: signedIn)
    frame.errors = errors
    frame.crumbs = [Link(text: Message("Your account"), href: ConsolePaths.account())]
    let model = OwnPasswordView(
      frame: FrameView(frame),
      email: signedIn.administrator.email)
    let fitting: Status = errors.isEmpty ? .ok : .unprocessableContent
    return .html(view.render(model), status: status ?? fitting)
  }
}

struct OwnPasswordView: ViewModel {
  let frame: FrameView
  let email: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.ownPassword() },
    .text("cancel") { _ in ConsolePaths.account() },
    .text(\.email),
    .text("oldError") { $0.frame.error(at: "old-password") },
    .text("newError") { $0.frame.error(at: "new-password") },
  ]
}
