import HTTP
import Identity

/// The states of the page that sets up an authenticator app by link.
enum LinkedEnrollmentState {
  /// The link is valid; the page shows the secret.
  case open(LinkedEnrollment)
  /// The app was just set up.
  case done(Scope)
  /// The link was already used or replaced by a newer one.
  case used(Scope)
  /// The link has expired.
  case late(Scope)
  /// Too many incorrect codes were entered.
  case tooManyCodes(Scope)
  /// The account is disabled.
  case disabled(Scope)
  /// The account can't enroll an authenticator app.
  case refused(Scope, EnrollmentError)
  /// The link is unknown, or the account has changed since it was sent.
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
    case .used: "This link was already used"
    case .late: "This link has expired"
    case .tooManyCodes: "Too many incorrect codes"
    case .disabled: "This account is disabled"
    case .refused(_, .alreadyEnrolled): "You already have an authenticator app"
    case .refused: "You can’t set up an authenticator app right now"
    case .void: "This link is invalid"
    }
  }

  var sentence: String {
    switch self {
    case .open: ""
    case .done:
      "The next time you sign in, you’ll be asked for a code from the app. Keep the app on your phone. You can now close this page and return to the application."
    case .used:
      "Each link can be used once, and a newer link replaces it. If you haven’t set up an app, ask support for a new link."
    case .late: "Links are valid for 30 minutes. Ask support for a new one."
    case .tooManyCodes: "This link is no longer valid. Ask support for a new one."
    case .disabled: "Nothing was changed. Contact the application’s support."
    case .refused(_, .alreadyEnrolled):
      "Sign in with a code from the app. If you no longer have the device, ask support to remove it first."
    case .refused(_, .tooManyFactors):
      "You’ve reached the limit of second factors. Remove one in the application first."
    case .refused(_, .changesLocked):
      "You reported a change you didn’t make. Your second factors are locked until the application’s support reviews your report."
    case .refused(_, .quotaExceeded):
      "Too many notification emails were sent to your address. Changes that require a notification are blocked for an hour. Ask support for a new link after that."
    case .refused(_, .unverifiedEmail):
      "Your email address is no longer verified. Verify it in the application first."
    case .refused:
      "The application doesn’t currently allow authenticator apps. Nothing was changed."
    case .void:
      "Part of the link may be missing, it may have been replaced, or your account has changed since it was sent. Ask support for a new one."
    }
  }
}
