import HTTP
import Identity
import Templating

/// What somebody sees who follows a link in a mail.
enum ActionLinkState {
  /// The code counts; a button does what it says.
  case open(OutOfBandCode)
  /// It was used just now.
  case done(OutOfBandCode)
  /// It was used before.
  case used(OutOfBandCode)
  /// It came too late.
  case late(OutOfBandCode)
  /// It signs in, and no application was named that could.
  case signIn(OutOfBandCode)
  /// It was never made, or there is nothing left for it to do.
  case void
  /// The account may not sign in.
  case disabled
  /// The address belongs to another account by now.
  case taken
  /// The user said that a change of second factors was none of theirs.
  case locked
  /// The application does not take this way of signing in any more.
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
      case .verifyEmail: "Confirm your address"
      case .changeEmail: "Confirm your new address"
      case .recoverEmail: "Go back to your former address"
      case .revertFactor: "Remove a second factor"
      case .signIn: "Sign in"
      }
    case .done(let code):
      switch code.kind {
      case .passwordReset: "Your password is changed"
      case .verifyEmail: "Your address is confirmed"
      case .changeEmail: "Your address is changed"
      case .recoverEmail: "Your former address is back"
      case .revertFactor: "The second factor is removed"
      case .signIn: "You are signed in"
      }
    case .used: "This link was used already"
    case .late: "This link came too late"
    case .signIn: "Open this link in the application"
    case .void: "This link does not count"
    case .disabled: "This account is disabled"
    case .taken: "This address belongs to another account"
    case .locked: "Your second factors are locked"
    case .closed: "This link leads nowhere any more"
    }
  }

  /// What it is about, with names and addresses isolated.
  var sentence: Markup {
    var html = HTML()
    switch self {
    case .open(let code): html.explain(code)
    case .done(let code):
      switch code.kind {
      case .passwordReset:
        html.raw(
          "From now on you sign in with the new one. Wherever you were signed in, you are not any more."
        )
      case .verifyEmail:
        html.isolate(code.email)
        html.raw(" is known to be yours.")
      case .changeEmail:
        html.raw("From now on you sign in as ")
        html.isolate(code.newEmail ?? "")
        html.raw(". Wherever you were signed in, you are not any more.")
      case .recoverEmail:
        html.raw("You sign in as ")
        html.isolate(code.email)
        html.raw(
          " again. Somebody else may know your password: choose a new one in the application, by “forgot password”."
        )
      case .revertFactor:
        html.raw(
          "You sign in without it. Somebody else may know your password: choose a new one in the application, by “forgot password”."
        )
      case .signIn: html.raw("Go on in the application.")
      }
    case .used(let code):
      html.raw("Each link counts once. ")
      switch code.kind {
      case .passwordReset:
        html.raw("If it was not you who changed the password, ask the application for a new link.")
      case .verifyEmail: html.raw("The address is confirmed; there is nothing left to do.")
      case .signIn: html.raw("Ask the application for a new one.")
      case .changeEmail, .recoverEmail, .revertFactor:
        html.raw("What it does is done; there is nothing left to do.")
      }
    case .late(let code):
      switch code.kind {
      case .passwordReset, .signIn:
        html.raw("It counted for one hour. Ask the application for a new one.")
      case .verifyEmail, .changeEmail:
        html.raw("It counted for three days. Ask the application for a new one.")
      case .recoverEmail, .revertFactor:
        html.raw(
          "It counted for seven days. If the change was not yours, tell the support of the application."
        )
      }
    case .signIn:
      html.raw(
        "It signs you in on the device on which you asked for it. Open the mail there, in the application."
      )
    case .void:
      html.raw(
        "It may be cut off or replaced, or your account has changed since. Ask the application for a new one."
      )
    case .disabled: html.raw("Nothing was changed. Ask the support of the application.")
    case .taken: html.raw("Nothing was changed. Choose another address in the application.")
    case .locked:
      html.raw(
        "You said that a change was none of yours, so nothing is changed until the support of the application has looked into it. Tell them about this factor too; the link still counts afterwards."
      )
    case .closed:
      html.raw("The application does not let users in this way at present. Nothing was changed.")
    }
    return html.markup
  }
}

extension HTML {
  /// Adds a name or an address that a user wrote.
  fileprivate mutating func isolate(_ text: String) { add(HTML.isolated(Words.short(text, 200))) }

  /// What a code that counts does.
  fileprivate mutating func explain(_ code: OutOfBandCode) {
    switch code.kind {
    case .passwordReset:
      raw("For the account ")
      isolate(code.email)
      raw(".")
    case .verifyEmail:
      raw("Is ")
      isolate(code.email)
      raw(" your address?")
    case .changeEmail:
      raw("Afterwards you sign in as ")
      isolate(code.newEmail ?? "")
      raw(" in place of ")
      isolate(code.email)
      raw(".")
    case .recoverEmail:
      raw("The address of your account was changed from ")
      isolate(code.email)
      raw(" to ")
      isolate(code.newEmail ?? "none")
      raw(". If that was not you, go back to the former one.")
    case .revertFactor:
      raw("The second factor ")
      isolate(code.factor?.label ?? "")
      raw(" was added to the account ")
      isolate(code.email)
      raw(". If that was not you, remove it.")
    case .signIn: break
    }
  }
}
