import Crypto
import HTTP
import Identity
import Localization
import Templating
import Text

/// `/__/auth/action`: the page that email action links open, for end users of applications.
///
/// Opening the page changes nothing, because mail scanners open links too; a button applies the
/// code. The stored code alone determines the action, and the continue URL was checked when the
/// code was created. The rest of the query isn't trusted.
struct ActionLinkPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ActionLinkView>

  private var codes: OutOfBandCodes { identity.outOfBandCodes }

  func show(_ visitor: Visitor) async throws -> Response {
    let query = visitor.request.target.query
    let text = query.text("oobCode") ?? ""
    let opened: OpenedCode
    do {
      opened = try await codes.open(text)
    } catch {
      return try await ended(error, text, visitor)
    }
    let code = opened.code
    guard code.kind == .signIn else {
      return page(visitor, .open(opened), code: text)
    }
    guard let application = code.continueURL else {
      return page(visitor, .signIn(code), code: text)
    }
    let rest = query.entries.filter { $0.name != "continueUrl" }
    return .redirect(
      to: OutOfBandCode.address(application, with: rest.map { ($0.name.text, $0.value.text) }))
  }

  /// `/__/auth/links`: leads to the link in a link for an app, on a device without the app.
  func follow(_ visitor: Visitor) async throws -> Response {
    let query = visitor.request.target.query
    guard let address = query.text("link"), try await codes.mayOpen(address) else {
      return page(visitor, .void(nil), code: "")
    }
    let rest = query.entries.filter { $0.name != "link" }
    return .redirect(
      to: OutOfBandCode.address(address, with: rest.map { ($0.name.text, $0.value.text) }))
  }

  func act(_ visitor: Visitor) async throws -> Response {
    let text = visitor.form.text("code") ?? ""
    var done = ActionLinkState.doneMark
    do {
      let opened = try await codes.open(text)
      if opened.code.kind == .passwordReset {
        let password = visitor.form.text("password") ?? ""
        guard !password.isEmpty else {
          let fault = FieldError(field: "password", text: Message("Enter a new password."))
          return page(visitor, .open(opened), code: text, errors: [fault])
        }
        try await codes.resetPassword(text, to: Secret(password), by: visitor.author)
      } else {
        let applied = try await codes.apply(text, by: visitor.author)
        if applied.canMakeRecoveryCodes { done = ActionLinkState.doneWithAppMark }
      }
    } catch OutOfBandError.account(let wrong) {
      return try await refused(wrong, text, visitor)
    } catch {
      return try await ended(error, text, visitor)
    }
    let query: Form = ["oobCode": text, "done": done]
    return .redirect(to: query.query(of: ConsolePaths.actionLink()))
  }

  private func refused(
    _ error: AccountError, _ text: String, _ visitor: Visitor
  ) async throws -> Response {
    let opened: OpenedCode
    do { opened = try await codes.open(text) } catch {
      return try await ended(error, text, visitor)
    }
    let fault = FieldError(field: "password", text: Self.words(error))
    return page(visitor, .open(opened), code: text, errors: [fault])
  }

  private static func words(_ error: AccountError) -> Message {
    switch error {
    case .weakPassword: Message("Choose a password of at least six characters.")
    case .passwordTooLong: Message("Choose a password of at most 4,096 characters.")
    case .passwordRequirements(let missing): PasswordPolicy.sentence(missing)
    default: Message("This password isn’t allowed. Choose another one.")
    }
  }

  private func ended(
    _ error: any Error, _ text: String, _ visitor: Visitor
  ) async throws -> Response {
    if case CallError.poolDisabled = error { return page(visitor, .closed, code: text) }
    guard let error = error as? OutOfBandError else { throw error }
    let state: ActionLinkState
    switch error {
    case .tooManyMails: throw error
    case .usedCode, .expiredCode, .invalidCode:
      let remains = try await codes.remains(of: text)
      state = ActionLinkState(
        remains, after: error, done: visitor.request.target.query.text("done"))
    case .userDisabled: state = .disabled
    case .emailExists: state = .taken
    case .changesLocked: state = .locked
    case .factorSuspended: state = .suspended
    case .passwordLoginDisabled: state = .passwordOff
    default: state = .void(nil)
    }
    return page(visitor, state, code: text)
  }

  private func page(
    _ visitor: Visitor, _ state: ActionLinkState, code: String, errors: [FieldError] = []
  ) -> Response {
    let frame = frames.outside(
      state.title, for: visitor, path: ConsolePaths.actionLink(), of: state.code?.pool,
      errors: errors)
    let model = ActionLinkView(
      frame: FrameView(frame), state: state, code: code)
    return authorizer.cookies.keeping(
      visitor,
      in: .html(view.render(model), status: errors.isEmpty ? state.status : .unprocessableContent))
  }
}

struct ActionLinkView: ViewModel {
  let frame: FrameView
  let state: ActionLinkState
  let code: String

  private var form: ActionLinkForm? {
    guard case .open(let opened) = state else { return nil }
    return ActionLinkForm(
      frame: frame, code: code, subject: opened.code,
      requirements: opened.passwordRequirements)
  }

  /// The link to the application's continue URL; nil until the code is used.
  private var next: Link? {
    switch state {
    case .done(let code, _), .used(let code):
      code.continueURL.map { Link(text: Message("Continue to the application"), href: $0) }
    default: nil
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.state.title },
    .markup("sentence") { $0.state.sentence },
    .optional("form") { $0.form },
    .optional("next") { $0.next },
  ]
}

struct ActionLinkForm: ViewModel {
  let frame: FrameView
  let code: String
  let subject: OutOfBandCode
  let requirements: [PasswordRequirement]

  private var button: Message {
    switch subject.kind {
    case .passwordReset: Message("Change password")
    case .verifyEmail: Message("Verify email address")
    case .changeEmail: Message("Change email address")
    case .recoverEmail: Message("Restore email address")
    case .revertFactor: Message("Remove second factor")
    case .signIn: Message("Sign in")
    }
  }

  static let keys: Keys<Self> = [
    .text("action") { _ in ConsolePaths.actionLink() },
    .text(\.code),
    .text("email") { $0.subject.email },
    .flag("asksForPassword") { $0.subject.kind == .passwordReset },
    .text("requirements") { PasswordPolicy.sentence($0.requirements) },
    .text("passwordError") { $0.frame.error(at: "password") },
    .markup("until") { $0.frame.times.moment($0.subject.expiresAt) },
    .flag("endsSessions") { $0.subject.kind != .verifyEmail },
    .text("button") { $0.button },
  ]
}

enum ActionLinkRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let actionLink = try parts.page("action-link/action-link", ActionLinkPage.init)
    table.open(.get, ConsolePaths.actionLink, actionLink.show)
    table.open(.post, ConsolePaths.actionLink, actionLink.act)
    table.open(.get, ConsolePaths.appLink, actionLink.follow)
  }
}

extension ConsolePaths {
  /// The page that email action links open, at the same path as in Firebase.
  static let actionLink = Path("__", "auth", "action")
  /// Links that open an app, at the same path as in Firebase.
  static let appLink = Path("__", "auth", "links")
}
