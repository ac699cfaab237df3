import Crypto
import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/account/password`: changes the administrator's own password.
struct OwnPasswordPage: ConsolePage {
  let parts: ConsoleParts
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
    } catch AdministratorError.weakPassword(let reason) {
      return await page(
        signedIn, errors: [FieldError(field: "new-password", text: reason.message)])
    }
    let text =
      ended == 0
      ? Message("Password changed.")
      : Message(
        one: "Password changed. {count} other session ended.",
        other: "Password changed. {count} other sessions ended.", ["count": .number(ended)])
    return frames.leave(text, for: signedIn, to: ConsolePaths.account())
  }

  private func refused(
    _ error: PasswordChangeError, _ signedIn: SignedIn
  ) async throws -> Response {
    let fault: FieldError
    switch error {
    case .sessionEnded: throw Refusal.sessionEnded
    case .wrongPassword:
      fault = FieldError(
        field: "old-password", text: Message("The current password is incorrect."))
    case .throttled(let until):
      fault = CodeFault.tooManyPasswords(
        in: "old-password", until: until, at: frames.clock.now())
    }
    return await page(signedIn, errors: [fault])
  }

  private func page(
    _ signedIn: SignedIn, errors: [FieldError]
  ) async -> Response {
    let frame = await frames.account(Message("Change password"), signedIn, errors: errors)
    let model = OwnPasswordView(frame: FrameView(frame), email: signedIn.administrator.email)
    return .html(view.render(model), errors: errors)
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
