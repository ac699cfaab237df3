import HTTP
import Identity
import Localization
import Templating

struct ActionLinkView: ViewModel {
  let frame: FrameView
  let csrf: String
  let state: ActionLinkState
  let code: String

  private var form: ActionLinkForm? {
    guard case .open(let opened) = state else { return nil }
    return ActionLinkForm(
      frame: frame, csrf: csrf, code: code, subject: opened.code,
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
    .flag("isPlain") { $0.form == nil },
  ]
}

struct ActionLinkForm: ViewModel {
  let frame: FrameView
  let csrf: String
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
    .text(\.csrf),
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
