import HTTP
import Identity

/// What somebody sees who follows a link to set an authenticator app up.
enum LinkedEnrollmentState {
  /// The link counts: here is the secret.
  case open(LinkedEnrollment)
  /// The app was set up just now.
  case done(Scope)
  /// The link was used before, or replaced by a newer one.
  case used(Scope)
  /// It came too late.
  case late(Scope)
  /// Too many wrong codes were typed at it.
  case tooManyCodes(Scope)
  /// The account may not sign in.
  case disabled(Scope)
  /// The account cannot have another app.
  case refused(Scope, EnrollmentError)
  /// The link was never made, or the account has changed since.
  case void

  var scope: Scope? {
    switch self {
    case .open(let enrollment): enrollment.scope
    case .done(let scope), .used(let scope), .late(let scope), .tooManyCodes(let scope),
      .disabled(let scope), .refused(let scope, _):
      scope
    case .void: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done: .ok
    case .used, .late, .tooManyCodes: .gone
    case .disabled, .refused: .forbidden
    case .void: .notFound
    }
  }

  var title: String {
    switch self {
    case .open: "Set up your authenticator app"
    case .done: "Your authenticator app is set up"
    case .used: "This link was used already"
    case .late: "This link came too late"
    case .tooManyCodes: "Too many wrong codes"
    case .disabled: "This account is disabled"
    case .refused(_, .alreadyEnrolled): "You have an authenticator app already"
    case .refused: "No authenticator app can be set up now"
    case .void: "This link does not count"
    }
  }

  var sentence: String {
    switch self {
    case .open: ""
    case .done:
      "The next time you sign in, you are asked for the code that the app shows. Keep the app and the phone; you can close this page and go on in the application."
    case .used:
      "Each link counts once, and a newer one ends it. If you have set no app up, ask the support for a new link."
    case .late: "It counted for 30 minutes. Ask the support for a new one."
    case .tooManyCodes: "The link does not count any more. Ask the support for a new one."
    case .disabled: "Nothing was changed. Ask the support of the application."
    case .refused(_, .alreadyEnrolled):
      "Sign in with the code that it shows. If its device is gone, ask the support to remove it first."
    case .refused(_, .tooManyFactors):
      "You have as many second factors as there can be. Remove one in the application first."
    case .refused(_, .changesLocked):
      "You said that a change was none of yours, so nothing is changed until the support of the application has looked into it."
    case .refused(_, .quotaExceeded):
      "So many mails about changes went to your address that no more go out for an hour, and without one nothing is set up. Ask the support for a new link then."
    case .refused(_, .unverifiedEmail):
      "Your email address is not confirmed any more. Confirm it in the application first."
    case .refused:
      "The application does not take codes of authenticator apps at present. Nothing was changed."
    case .void:
      "It may be cut off or replaced, or your account has changed since. Ask the support for a new one."
    }
  }
}
