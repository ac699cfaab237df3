import Identity

/// Why an account cannot have another authenticator app, in words for whoever helps its user.
enum EnrollmentWords {
  static func sentence(_ error: EnrollmentError) -> String {
    switch error {
    case .totpNotEnabled: "TOTP is off here, so nobody can set an authenticator app up."
    case .unverifiedEmail:
      "The email address of this user is not verified, so no link is sent to it."
    case .alreadyEnrolled:
      "This user has an authenticator app already. Remove it first, if its device is gone."
    case .tooManyFactors:
      "This user has \(Enrollments.mostPhones) second factors, which is as many as there can be."
    case .unsupportedFirstFactor:
      "This user signs in without any credential, which takes no second factor."
    case .changesLocked: ActionErrorText.sentence(.changesLocked)
    default: "This user cannot set an authenticator app up now."
    }
  }
}
