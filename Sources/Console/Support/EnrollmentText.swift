import Identity
import Localization

/// Explains to support agents why a user can't enroll an authenticator app.
enum EnrollmentText {
  static func sentence(_ error: EnrollmentError) -> Message {
    switch error {
    case .totpNotEnabled: Message("TOTP is off, so users can’t set up an authenticator app.")
    case .unverifiedEmail:
      Message("This user’s email isn’t verified, so links can’t be sent to it.")
    case .alreadyEnrolled:
      Message(
        "This user already has an authenticator app. If the device is lost, remove the app first.")
    case .tooManyFactors:
      Message(
        one: "This user has reached the limit of {count} second factor.",
        other: "This user has reached the limit of {count} second factors.",
        ["count": .number(Enrollments.mostPhones)])
    case .unsupportedFirstFactor:
      Message(
        """
        This user can sign in only by phone, and phone sign-in doesn’t support a second factor. \
        Enable another sign-in method first.
        """)
    case .changesLocked: ActionErrorText.sentence(.changesLocked)
    default: Message("This user can’t set up an authenticator app right now.")
    }
  }
}
