import HTTP
import Identity
import Templating

/// What the page of an email action link shows.
enum ActionLinkState {
  /// The code is valid; a button applies it.
  case open(OutOfBandCode)
  /// The code was just applied.
  case done(OutOfBandCode)
  /// The code was used before.
  case used(OutOfBandCode)
  /// The code has expired.
  case late(OutOfBandCode)
  /// The code signs in, but has no continue URL of an application that could use it.
  case signIn(OutOfBandCode)
  /// The code doesn't exist, or no longer applies to the account.
  case void
  /// The account is disabled.
  case disabled
  /// The email address now belongs to another account.
  case taken
  /// The user reported a change, so second factors are locked.
  case locked
  /// The application no longer allows this sign-in method.
  case closed

  var code: OutOfBandCode? {
    switch self {
    case .open(let code), .done(let code), .used(let code), .late(let code), .signIn(let code): code
    case .void, .disabled, .taken, .locked, .closed: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done, .signIn: .ok
    case .used, .late: .gone
    case .void: .notFound
    case .disabled, .locked, .closed: .forbidden
    case .taken: .conflict
    }
  }

  var title: String {
    switch self {
    case .open(let code):
      switch code.kind {
      case .passwordReset: "Choose a new password"
      case .verifyEmail: "Confirm your email address"
      case .changeEmail: "Confirm your new email address"
      case .recoverEmail: "Restore your previous email address"
      case .revertFactor: "Remove a second factor"
      case .signIn: "Sign in"
      }
    case .done(let code):
      switch code.kind {
      case .passwordReset: "Password changed"
      case .verifyEmail: "Email address confirmed"
      case .changeEmail: "Email address changed"
      case .recoverEmail: "Email address restored"
      case .revertFactor: "Second factor removed"
      case .signIn: "You’re signed in"
      }
    case .used: "This link was already used"
    case .late: "This link has expired"
    case .signIn: "Open this link in the application"
    case .void: "This link is invalid or expired"
    case .disabled: "This account is disabled"
    case .taken: "This email address belongs to another account"
    case .locked: "Your second factors are locked"
    case .closed: "This link no longer works"
    }
  }

  /// The explanation, with names and addresses isolated for bidirectional text.
  var sentence: Markup {
    var html = HTML()
    switch self {
    case .open(let code): html.explain(code)
    case .done(let code):
      switch code.kind {
      case .passwordReset:
        html.raw(
          "Sign in with your new password. You’ve been signed out everywhere."
        )
      case .verifyEmail:
        html.isolate(code.email)
        html.raw(" is confirmed as your email address.")
      case .changeEmail:
        html.raw("From now on, sign in as ")
        html.isolate(code.newEmail ?? "")
        html.raw(". You’ve been signed out everywhere.")
      case .recoverEmail:
        html.raw("Sign in as ")
        html.isolate(code.email)
        html.raw(
          " again. Someone else may know your password: reset it in the application with “Forgot password”."
        )
      case .revertFactor:
        html.raw(
          "It’s no longer required when you sign in. Someone else may know your password: reset it in the application with “Forgot password”."
        )
      case .signIn: html.raw("Continue in the application.")
      }
    case .used(let code):
      html.raw("Each link is single use. ")
      switch code.kind {
      case .passwordReset:
        html.raw("If you didn’t change the password, request a new link in the application.")
      case .verifyEmail: html.raw("The email address is confirmed. No action is needed.")
      case .signIn: html.raw("Request a new link in the application.")
      case .changeEmail, .recoverEmail, .revertFactor:
        html.raw("The change was made. No action is needed.")
      }
    case .late(let code):
      switch code.kind {
      case .passwordReset, .signIn:
        html.raw("It was valid for one hour. Request a new link in the application.")
      case .verifyEmail, .changeEmail:
        html.raw("It was valid for three days. Request a new link in the application.")
      case .recoverEmail, .revertFactor:
        html.raw(
          "It was valid for seven days. If you didn’t make the change, contact the application’s support."
        )
      }
    case .signIn:
      html.raw(
        "It signs you in on the device where you requested it. Open the email there, in the application."
      )
    case .void:
      html.raw(
        "It may be incomplete or replaced, or your account has changed since. Request a new link in the application."
      )
    case .disabled: html.raw("No changes made. Contact the application’s support.")
    case .taken: html.raw("No changes made. Choose another email address in the application.")
    case .locked:
      html.raw(
        "You reported a change that wasn’t yours, so your second factors can’t be changed until the application’s support has reviewed it. Tell them about this factor too. The link stays valid."
      )
    case .closed:
      html.raw("The application doesn’t currently allow this sign-in method. No changes made.")
    }
    return html.markup
  }
}

extension HTML {
  /// Adds a name or an address that a user wrote.
  fileprivate mutating func isolate(_ text: String) { add(HTML.isolated(Words.short(text, 200))) }

  /// Explains what a valid code does.
  fileprivate mutating func explain(_ code: OutOfBandCode) {
    switch code.kind {
    case .passwordReset:
      raw("For the account ")
      isolate(code.email)
      raw(".")
    case .verifyEmail:
      raw("Is ")
      isolate(code.email)
      raw(" your email address?")
    case .changeEmail:
      raw("You’ll sign in as ")
      isolate(code.newEmail ?? "")
      raw(" instead of ")
      isolate(code.email)
      raw(".")
    case .recoverEmail:
      raw("The email address of your account was changed from ")
      isolate(code.email)
      raw(" to ")
      isolate(code.newEmail ?? "none")
      raw(". If you didn’t do this, restore the previous address.")
    case .revertFactor:
      raw("The second factor ")
      isolate(code.factor?.label ?? "")
      raw(" was added to the account ")
      isolate(code.email)
      raw(". If you didn’t do this, remove it.")
    case .signIn: break
    }
  }
}
