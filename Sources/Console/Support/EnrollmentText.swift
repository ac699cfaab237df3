import Identity
import Localization

/// Explains to support agents why a user can't enroll an authenticator app.
enum EnrollmentText {
  static func sentence(_ error: EnrollmentError) -> Message {
    switch error {
    case .totpNotEnabled: Message("support.enrollment-totp-disabled")
    case .unverifiedEmail: Message("support.enrollment-email-unverified")
    case .alreadyEnrolled: Message("support.enrollment-already-done")
    case .tooManyFactors:
      Message(
        "support.enrollment-too-many-factors", ["count": .number(Enrollments.mostPhones)])
    case .unsupportedFirstFactor: Message("support.enrollment-unsupported-first-factor")
    case .changesLocked: ActionErrorText.sentence(.changesLocked)
    default: Message("support.enrollment-unavailable")
    }
  }
}
