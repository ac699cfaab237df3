import HTTP
import Identity
import Localization

enum ActionLinkState {
  case open(OpenedCode)
  /// The code was just applied; whether the user has an app to generate recovery codes with.
  case done(OutOfBandCode, hasApp: Bool)
  case used(OutOfBandCode)
  /// An earlier email address was restored with its own code, which ended this one.
  case replaced(OutOfBandCode)
  case late(OutOfBandCode)
  /// The code signs in, but has no continue URL of an application that could use it.
  case signIn(OutOfBandCode)
  /// The code no longer applies to the account, or, without a kind, doesn't exist.
  case void(OutOfBandCode.Kind?)
  case disabled
  case taken
  /// The user reported a change, so the account is locked.
  case locked
  case suspended
  /// Sign-in is disabled for the whole pool.
  case closed
  /// Sign-in with email and password is disabled, so a password can't be reset.
  case passwordOff

  /// The values of the parameter `done`, which the address has after a code was applied.
  static let doneMark = "1"
  static let doneWithAppMark = "app"

  init(_ remains: OutOfBandCode?, after error: OutOfBandError, done: String?) {
    guard let remains else {
      self = .void(nil)
      return
    }
    if case .invalidCode = error {
      self = .void(remains.kind)
    } else if remains.usedAt == nil {
      self = .late(remains)
    } else if remains.isReplaced {
      self = .replaced(remains)
    } else {
      self =
        done.map { .done(remains, hasApp: $0 == Self.doneWithAppMark) } ?? .used(remains)
    }
  }

  var code: OutOfBandCode? {
    switch self {
    case .open(let opened): opened.code
    case .done(let code, _), .used(let code), .replaced(let code), .late(let code),
      .signIn(let code):
      code
    case .void, .disabled, .taken, .locked, .suspended, .closed, .passwordOff: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done, .signIn: .ok
    case .used, .replaced, .late: .gone
    case .void: .notFound
    case .disabled, .locked, .suspended, .closed, .passwordOff: .forbidden
    case .taken: .conflict
    }
  }

  var title: Message {
    switch self {
    case .open(let opened):
      switch opened.code.kind {
      case .passwordReset: Message("Choose a new password")
      case .verifyEmail: Message("Verify your email address")
      case .changeEmail: Message("Verify your new email address")
      case .recoverEmail: Message("Restore your previous email address")
      case .revertFactor: Message("Remove a second factor")
      case .signIn: Message("Sign in")
      }
    case .done(let code, _):
      switch code.kind {
      case .passwordReset: Message("Password changed")
      case .verifyEmail: Message("Email address verified")
      case .changeEmail: Message("Email address changed")
      case .recoverEmail: Message("Email address restored")
      case .revertFactor: Message("Second factor removed")
      case .signIn: Message("You’re signed in")
      }
    case .used: Message("This link was already used")
    case .replaced: Message("An earlier address was restored")
    case .late: Message("This link has expired")
    case .signIn: Message("Open this link in the application")
    case .void: Message("This link is invalid or expired")
    case .disabled: Message("This account is disabled")
    case .taken: Message("This email address belongs to another account")
    case .locked: Message("Your account is locked")
    case .suspended: Message("Your second factor is suspended")
    case .closed: Message("This link no longer works")
    case .passwordOff: Message("You can’t reset your password right now")
    }
  }

  var sentence: Message {
    switch self {
    case .open(let opened): Self.explanation(of: opened.code)
    case .done(let code, let hasApp):
      switch code.kind {
      case .passwordReset:
        Message("Sign in with your new password. You’ve been signed out everywhere.")
      case .verifyEmail:
        Message("{email} is verified as your email address.", ["email": Self.name(code.email)])
      case .changeEmail:
        Message(
          "From now on, sign in as {email}. You’ve been signed out everywhere.",
          ["email": Self.name(code.newEmail ?? "")])
      case .recoverEmail:
        Message(
          """
          Sign in as {email} again. Someone else may know your password: reset it in the \
          application with “Forgot password”.
          """, ["email": Self.name(code.email)])
      case .revertFactor:
        hasApp
          ? Message(
            """
            It’s no longer required when you sign in. If you had recovery codes, they no longer \
            work: generate new ones in the application. Someone else may know your password: \
            reset it in the application with “Forgot password”.
            """)
          : Message(
            """
            It’s no longer required when you sign in. If you had recovery codes, they no longer \
            work. Someone else may know your password: reset it in the application with “Forgot \
            password”.
            """)
      case .signIn: Message("Continue in the application.")
      }
    case .used(let code):
      switch code.kind {
      case .passwordReset:
        Message(
          """
          Each link can be used once. If you didn’t change the password, request a new link in the \
          application.
          """)
      case .verifyEmail:
        Message("Each link can be used once. The email address is verified. No action is needed.")
      case .signIn: Message("Each link can be used once. Request a new link in the application.")
      case .changeEmail, .recoverEmail, .revertFactor:
        Message("Each link can be used once. The change was made. No action is needed.")
      }
    case .replaced:
      Message(
        """
        Your account’s email address was changed more than once. The link from an earlier change \
        was used, so this link is no longer valid. Sign in with the earlier address. If you didn’t \
        restore it, contact the application’s support team.
        """)
    case .late(let code) where code.isExpiredEarly:
      switch code.kind {
      case .passwordReset, .signIn, .verifyEmail, .changeEmail:
        Message("It’s no longer valid. Request a new link in the application.")
      case .recoverEmail, .revertFactor:
        Message(
          """
          It’s no longer valid. If you didn’t make the change, contact the application’s support \
          team.
          """)
      }
    case .late(let code):
      switch code.kind {
      case .passwordReset, .signIn:
        Message("It was valid for one hour. Request a new link in the application.")
      case .verifyEmail, .changeEmail:
        Message("It was valid for three days. Request a new link in the application.")
      case .recoverEmail, .revertFactor:
        Message(
          """
          It was valid for seven days. If you didn’t make the change, contact the application’s \
          support team.
          """)
      }
    case .signIn:
      Message(
        """
        It signs you in on the device where you requested it. Open the email there, in the \
        application.
        """)
    case .void(.recoverEmail):
      Message(
        """
        Your email address can no longer be restored with this link. If you didn’t make the change, \
        contact the application’s support team.
        """)
    case .void(.revertFactor):
      Message(
        """
        The second factor was already removed, so this link has nothing to undo. If you didn’t add \
        it, reset your password in the application with “Forgot password”, and contact the \
        application’s support team.
        """)
    case .void(nil):
      Message(
        """
        Part of the link may be missing, it may have been replaced, or your account has changed \
        since it was sent. Request a new link in the application. If the link was sent because of a \
        change you didn’t make, contact the application’s support team.
        """)
    case .void:
      Message(
        """
        A newer link was sent, or your account has changed since. Request a new link in the \
        application.
        """)
    case .disabled: Message("No changes made. Contact the application’s support team.")
    case .taken: Message("No changes made. Choose another email address in the application.")
    case .locked:
      Message(
        """
        A change was reported as not made by you, so links to this mailbox can’t change your \
        account until the application’s support team reviews the report. Tell them about this link \
        too.
        """)
    case .suspended:
      Message(
        """
        You can’t remove a suspended second factor with a link. Contact the application’s support \
        team.
        """)
    case .closed: Message("Sign-in to this application is currently turned off. No changes made.")
    case .passwordOff:
      Message(
        """
        Sign-in with email and password is currently turned off for this application. No changes \
        made.
        """)
    }
  }

  private static func explanation(of code: OutOfBandCode) -> Message {
    let email = name(code.email)
    return switch code.kind {
    case .passwordReset: Message("For the account {email}.", ["email": email])
    case .verifyEmail: Message("Is {email} your email address?", ["email": email])
    case .changeEmail:
      Message(
        "You’ll sign in as {new} instead of {old}.",
        ["new": name(code.newEmail ?? ""), "old": email])
    case .recoverEmail:
      code.newEmail.map {
        Message(
          """
          Your account’s email address was changed from {old} to {new}. If you didn’t do this, \
          restore the previous address.
          """, ["old": email, "new": name($0)])
      }
        ?? Message(
          "The email address {old} was removed from your account. If you didn’t do this, restore it.",
          ["old": email])
    case .revertFactor:
      (code.factor?.visibleName ?? code.factor?.phoneNumber).map {
        Message(
          """
          The second factor {factor} was added to your account, {email}. If you didn’t do this, \
          remove it.
          """, ["factor": name($0), "email": email])
      }
        ?? Message(
          """
          The second factor <bdi>authenticator</bdi> was added to your account, {email}. If you \
          didn’t do this, remove it.
          """, ["email": email])
    case .signIn: .verbatim("")
    }
  }

  private static func name(_ text: String) -> Message.Value { .name(Formatted.short(text, 200)) }
}
