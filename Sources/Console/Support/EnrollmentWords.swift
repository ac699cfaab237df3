import Identity

/// Explains to support agents why a user can't enroll an authenticator app.
enum EnrollmentWords {
  static func sentence(_ error: EnrollmentError) -> String {
    switch error {
    case .totpNotEnabled: "TOTP is disabled, so users can’t set up an authenticator app."
    case .unverifiedEmail:
      "This user’s email isn’t verified, so links can’t be sent to it."
    case .alreadyEnrolled:
      "This user already has an authenticator app. If the device is lost, remove it first."
    case .tooManyFactors:
      "This user has reached the limit of \(Enrollments.mostPhones) second factors."
    case .unsupportedFirstFactor:
      "This user’s sign-in method doesn’t support a second factor."
    case .changesLocked: ActionErrorText.sentence(.changesLocked)
    default: "This user can’t set up an authenticator app right now."
    }
  }
}
