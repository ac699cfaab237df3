import Crypto
import HTTP
import Identity
import Templating

/// `/account/password`: changes the administrator's own password.
struct OwnPasswordPage: Sendable {
  let ownAccount: OwnAccount
  let frames: Frames
  let view: Template<OwnPasswordView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    page(signedIn, errors: [])
  }

  func change(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let old = signedIn.form.text("old-password") ?? ""
    let new = signedIn.form.text("new-password") ?? ""
    var errors: [FieldError] = []
    if old.isEmpty {
      errors.append(FieldError(field: "old-password", text: "Enter your current password."))
    }
    if new.isEmpty {
      errors.append(FieldError(field: "new-password", text: "Enter a new password."))
    }
    guard errors.isEmpty else { return page(signedIn, errors: errors) }
    let ended: Int
    do {
      ended = try await ownAccount.changePassword(
        of: signedIn.session, old: Secret(old), new: Secret(new), by: signedIn.author)
    } catch {
      return try refused(error, signedIn)
    }
    let sessions =
      ended == 0
      ? "" : " \(Words.count(ended, "other session", "other sessions")) ended."
    frames.leave("Password changed." + sessions, for: signedIn)
    return .redirect(to: ConsolePaths.account())
  }

  private func refused(
    _ error: PasswordChangeError, _ signedIn: SignedIn
  ) throws(Refusal) -> Response {
    switch error {
    case .wrongPassword:
      return page(
        signedIn,
        errors: [FieldError(field: "old-password", text: "The current password is incorrect.")])
    case .weakPassword(let reason):
      return page(signedIn, errors: [FieldError(field: "new-password", text: reason.message)])
    case .throttled(let until):
      let seconds = max(until.seconds - frames.clock.now().seconds, 1)
      let wait = Words.duration(seconds: Int(seconds))
      let fault = FieldError(
        field: "old-password",
        text: "Too many incorrect passwords. Try again in \(wait).")
      var response = page(signedIn, errors: [fault], status: .tooManyRequests)
      response.fields[.retryAfter] = String(seconds)
      return response
    case .busy: throw .busy
    case .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  private func page(
    _ signedIn: SignedIn, errors: [FieldError], status: Status? = nil
  ) -> Response {
    var frame = frames.frame("Change password · Your account", for: signedIn, tab: nil)
    frame.errors = errors
    frame.crumbs = [Link(text: "Your account", href: ConsolePaths.account())]
    let model = OwnPasswordView(
      frame: FrameView(frame), csrf: signedIn.session.csrfToken,
      email: signedIn.administrator.email)
    let fitting: Status = errors.isEmpty ? .ok : .unprocessableContent
    return .html(view.render(model), status: status ?? fitting)
  }
}

struct OwnPasswordView: ViewModel {
  let frame: FrameView
  let csrf: String
  let email: String

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") { _ in ConsolePaths.ownPassword() },
    .text("cancel") { _ in ConsolePaths.account() },
    .text("csrf") { $0.csrf },
    .text("email") { $0.email },
    .text("oldError") { $0.frame.error(at: "old-password") },
    .text("newError") { $0.frame.error(at: "new-password") },
  ]
}
