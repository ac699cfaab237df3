import HTTP
import Identity
import Localization
import OTP
import Templating

/// `/sign-in/code`: verifies the second factor after the password and starts the session.
struct SignInCodePage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SignInCodeView>
  let destinations: [Route]

  func show(_ visitor: Visitor) async throws -> Response {
    let pending = authorizer.cookies.pending(of: visitor.request)
    guard let pending else { return .redirect(to: ConsolePaths.signIn()) }
    let methods = try await identity.consoleSessions.methods(pending)
    guard !methods.isEmpty else { return authorizer.cookies.endPending() }
    let next = visitor.request.target.query.text("next")
    guard methods.contains(.totp) else {
      let isRecovery = visitor.request.target.query["recovery"] != nil
      let accepts = try await identity.consoleSessions.acceptsRecoveryCode(pending)
      guard isRecovery, accepts else { return .redirect(to: passkey(next)) }
      return page(visitor, next: next, methods)
    }
    return page(visitor, next: next, methods)
  }

  func signIn(_ visitor: Visitor) async throws -> Response {
    let request = visitor.request
    guard let pending = authorizer.cookies.pending(of: request) else {
      return authorizer.cookies.endPending()
    }
    let next = visitor.form.text("next")
    let methods = try await identity.consoleSessions.methods(pending)
    // The page has two forms. The field that was sent tells which one shows the error.
    let field = visitor.form["recovery"] == nil ? "code" : "recovery"
    let code = visitor.form.code(field)
    guard !code.isEmpty else {
      guard !methods.isEmpty else { return authorizer.cookies.endPending() }
      let text =
        field == "code"
        ? Message("Enter the code.") : Message("Enter a recovery code.")
      return page(visitor, next: next, methods, errors: [FieldError(field: field, text: text)])
    }
    let new: NewConsoleSession
    do {
      new = try await identity.consoleSessions.finish(
        pending, code: code, address: request.peer,
        userAgent: request.fields[.userAgent] ?? "",
        devices: authorizer.cookies.devices(of: request), requestID: request.id.text)
    } catch let error as ConsoleSignInError {
      return try refused(error, visitor, field, next: next, methods)
    }
    return await SignInCompletion(authorizer: authorizer, frames: frames).response(
      new, visitor, to: ReturnAddress.checked(next, among: destinations), among: destinations)
  }

  private func refused(
    _ error: ConsoleSignInError, _ visitor: Visitor, _ field: String, next: String?,
    _ methods: Set<ReauthenticationMethod>
  ) throws -> Response {
    let text: Message
    switch error {
    case .ended, .refused, .passkeyRefused: return authorizer.cookies.endPending()
    case .passkeyRequired where field == "code": return .redirect(to: passkey(next))
    case .wrongCode where field == "code":
      text = Message("Incorrect or already used code. Wait for the next code in your app.")
    case .passkeyRequired, .wrongCode: text = Message("Incorrect or already used recovery code.")
    // Only for those who know the password; it may be the first sign of someone else's sign-in.
    case .usedCode: text = CodeFault.used
    case .throttled(let until):
      let fault = CodeFault.tooManyCodes(in: field, until: until, at: frames.clock.now())
      return page(visitor, next: next, methods, errors: [fault])
    }
    return page(visitor, next: next, methods, errors: [FieldError(field: field, text: text)])
  }

  private func passkey(_ next: String?) -> String {
    ReturnAddress.of(
      ConsolePaths.signInCodePasskey(), backTo: ReturnAddress.checked(next, among: destinations))
  }

  private func page(
    _ visitor: Visitor, next: String?, _ methods: Set<ReauthenticationMethod>,
    errors: [FieldError] = []
  ) -> Response {
    let frame = frames.bare(
      Message("Enter your code"), for: visitor, path: ConsolePaths.signInCode(), errors: errors)
    let model = SignInCodeView(
      frame: FrameView(frame),
      next: ReturnAddress.checked(next, among: destinations),
      passkey: methods.contains(.passkey) ? passkey(next) : nil,
      hasApp: methods.contains(.totp))
    return authorizer.cookies.keeping(
      visitor, in: .html(view.render(model), errors: errors))
  }
}

struct SignInCodeView: ViewModel {
  let frame: FrameView
  let next: String?
  let passkey: String?
  /// Whether a code of an authenticator app is accepted, not only a recovery code.
  let hasApp: Bool

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.signInCode() },
    .text("other") { ReturnAddress.of(ConsolePaths.signIn(), backTo: $0.next) },
    .text("roles") { _ in Message.value(Permission.manageAdministrators.roleNames) },
    .text(\.next),
    .text(\.passkey),
    .flag(\.hasApp),
    .text("codeError") { $0.frame.error(at: "code") },
    .text("recoveryError") { $0.frame.error(at: "recovery") },
  ]
}
