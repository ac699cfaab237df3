import HTTP
import Identity
import Localization

enum LinkedEnrollmentState {
  case open(LinkedEnrollment)
  case done(Pool)
  /// The link was already used or replaced by a newer one.
  case used(Pool)
  case late(Pool)
  case tooManyCodes(Pool)
  case disabled(Pool)
  case refused(Pool, EnrollmentError)
  /// The link is unknown, or the account has changed since it was sent.
  case void

  var pool: Pool? {
    switch self {
    case .open(let enrollment): enrollment.pool
    case .done(let pool), .used(let pool), .late(let pool), .tooManyCodes(let pool),
      .disabled(let pool), .refused(let pool, _):
      pool
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

  var title: Message {
    switch self {
    case .open: Message("Set up your authenticator app")
    case .done: Message("Your authenticator app is set up")
    case .used: Message("This link was already used")
    case .late: Message("This link has expired")
    case .tooManyCodes: Message("Too many incorrect codes")
    case .disabled: Message("This account is disabled")
    case .refused(_, .alreadyEnrolled): Message("You already have an authenticator app")
    case .refused: Message("You can’t set up an authenticator app right now")
    case .void: Message("This link is invalid")
    }
  }

  var sentence: Message? {
    switch self {
    case .open: nil
    case .done:
      Message(
        """
        The next time you sign in, you’ll be asked for a code from the app. Keep the app on your \
        phone. You can now close this page and return to the application.
        """)
    case .used:
      Message(
        """
        Each link can be used once, and a newer link replaces it. If you haven’t set up an app, \
        sign in again or ask support for a new link.
        """)
    case .late:
      Message("Links are valid for 30 minutes. Sign in again or ask support for a new one.")
    case .tooManyCodes:
      Message("This link is no longer valid. Sign in again or ask support for a new one.")
    case .disabled: Message("No changes made. Contact the application’s support team.")
    case .refused(_, .alreadyEnrolled):
      Message(
        """
        Sign in with a code from the app. If you no longer have the device, ask support to remove \
        it first.
        """)
    case .refused(_, .tooManyFactors):
      Message(
        "You’ve reached the maximum number of second factors. Remove one in the application first.")
    case .refused(_, .changesLocked):
      Message(
        """
        You reported a change you didn’t make. Your second factors are locked until the \
        application’s support team reviews your report.
        """)
    case .refused(_, .quotaExceeded):
      Message(
        """
        Too many notification emails were sent to your address. Changes that require a notification \
        are blocked for an hour. Ask support for a new link after that.
        """)
    case .refused(_, .unverifiedEmail):
      Message("Your email address is no longer verified. Verify it in the application first.")
    case .refused:
      Message("The application doesn’t currently allow authenticator apps. No changes made.")
    case .void:
      Message(
        """
        Part of the link may be missing, it may have been replaced, or your account has changed \
        since it was sent. Ask support for a new one.
        """)
    }
  }
}
