import HTTP
import Identity
import Templating

/// `/__/auth/action`: the page that links in mails lead to, for users of applications.
///
/// Opening it changes nothing, since programs that look through mail open links too: a button does
/// what the code says. What the code is for is known by the code alone, and where it goes on to was
/// checked when it was made; the rest of the query is not believed.
struct ActionLinkPage: Sendable {
  let codes: OutOfBandCodes
  let gate: Gate
  let frames: Frames
  let view: Template<ActionLinkView>

  func show(_ visitor: Visitor) async throws(Refusal) -> Response {
    let query = visitor.request.target.query
    let text = query.text("oobCode") ?? ""
    let code: OutOfBandCode
    do {
      code = try await codes.look(at: text)
    } catch {
      return try await ended(error, text, visitor)
    }
    guard code.kind == .signIn else {
      return page(visitor, .open(code), code: text)
    }
    guard let application = code.continueURL else {
      return page(visitor, .signIn(code), code: text)
    }
    let rest = query.entries.filter { $0.name != "continueUrl" }
    return .redirect(
      to: OutOfBandCode.address(application, with: rest.map { ($0.name.text, $0.value.text) }))
  }

  func act(_ visitor: Visitor) async throws(Refusal) -> Response {
    let text = visitor.form.text("code") ?? ""
    let author = Author(
      actor: .nobody, address: visitor.request.peer, requestID: visitor.request.id.text)
    do throws(OutOfBandError) {
      let code = try await codes.look(at: text)
      if code.kind == .passwordReset {
        let password = visitor.form.text("password") ?? ""
        guard !password.isEmpty else {
          let fault = FieldError(field: "password", text: "Enter a new password.")
          return page(visitor, .open(code), code: text, errors: [fault])
        }
        try await codes.resetPassword(text, to: Secret(password), by: author)
      } else {
        try await codes.apply(text, by: author)
      }
    } catch {
      guard case .account(let wrong) = error else {
        return try await ended(error, text, visitor)
      }
      return try await refused(wrong, text, visitor)
    }
    var query = Form()
    query.add("oobCode", text)
    query.add("done", "1")
    return .redirect(to: query.query(of: ConsolePaths.actionLink()))
  }

  /// The form again, with what is wrong with the password.
  private func refused(
    _ error: AccountError, _ text: String, _ visitor: Visitor
  ) async throws(Refusal) -> Response {
    if case .busy = error { throw .busy }
    let code: OutOfBandCode
    do { code = try await codes.look(at: text) } catch {
      return try await ended(error, text, visitor)
    }
    let fault = FieldError(field: "password", text: Self.words(error))
    return page(visitor, .open(code), code: text, errors: [fault])
  }

  private static func words(_ error: AccountError) -> String {
    switch error {
    case .weakPassword: "Choose a password of six characters or more."
    case .passwordTooLong: "Choose a password of at most 4,096 characters."
    case .passwordRequirements(let missing): PasswordPolicy.sentence(missing)
    default: "This password is not allowed here. Choose another one."
    }
  }

  /// What to say of a code that does nothing any more.
  private func ended(
    _ error: OutOfBandError, _ text: String, _ visitor: Visitor
  ) async throws(Refusal) -> Response {
    let state: ActionLinkState
    switch error {
    case .unavailable, .tooManyMails: throw .unavailable(error)
    case .usedCode, .expiredCode:
      let remains = try await refusing { try await codes.remains(of: text) }
      let isDone = visitor.request.target.query["done"] != nil
      state =
        remains.map { $0.usedAt == nil ? .late($0) : isDone ? .done($0) : .used($0) } ?? .void
    case .userDisabled: state = .disabled
    case .emailExists: state = .taken
    case .changesLocked: state = .locked
    case .scopeDisabled, .operationNotAllowed, .passwordLoginDisabled: state = .closed
    default: state = .void
    }
    return page(visitor, state, code: text)
  }

  private func page(
    _ visitor: Visitor, _ state: ActionLinkState, code: String, errors: [FieldError] = []
  ) -> Response {
    var frame = frames.outside(
      state.title, path: ConsolePaths.actionLink(), of: state.code?.scope)
    frame.errors = errors
    let model = ActionLinkView(
      frame: FrameView(frame), csrf: visitor.formToken, state: state, code: code)
    var response = Response.html(
      view.render(model), status: errors.isEmpty ? state.status : .unprocessableContent)
    gate.cookies.keep(visitor, in: &response)
    return response
  }
}
