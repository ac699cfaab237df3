public enum SignInError: Error, Sendable {
  case invalidEmail
  case emailNotFound
  case wrongPassword
  /// The password is correct, but doesn't meet the pool's password policy, which is enforced at
  /// sign-in.
  case passwordRequirements([PasswordRequirement])
  /// The account doesn't exist, and users can't sign up.
  case adminOnly
  case userDisabled
  case passwordLoginDisabled
  case poolDisabled(Pool)
  /// Too many wrong passwords; retry after this time.
  case tooManyAttempts(until: Instant)
  /// The pending credential wasn't issued here or was already used.
  case invalidPendingCredential
  case pendingExpired
  /// The enrollment ID isn't one of the user's.
  case invalidEnrollment
  /// A code was requested for a factor that the user doesn't have.
  case enrollmentNotFound
  case smsNotEnabled
  /// TOTP is off as a second factor, and another factor is required.
  case totpNotEnabled
  case phoneLoginDisabled
  /// The pool is a tenant; phone sign-in is available for projects only.
  case tenantWithoutPhones
  /// The phone number isn't in E.164 format, or the factor isn't a phone.
  case invalidPhone
  case regionNotAllowed
  /// The pending credential has expired for codes sent by SMS.
  case phonePendingExpired
  /// The code's session wasn't issued here or belongs to another sign-in.
  case invalidSessionInfo
  /// The code's session expired, was used, or was tried too often.
  case sessionExpired
  /// The phone proof wasn't issued here, expired, was used, or is for another number.
  case invalidTemporaryProof
  /// The user should have a second factor by now and has none; an enrollment link is in their email.
  case enrollmentRequired
  /// The account has a second factor, which phone sign-in would bypass.
  case unsupportedFirstFactor
  case phoneNumberExists
  /// The session that the number would be linked to isn't valid.
  case session(SessionError)
  /// The code is incorrect, expired, or was already used.
  case invalidCode
  /// Too many wrong codes in a row; retry after this time.
  case quotaExceeded(until: Instant)
  case userNotFound
  case projectMismatch
  case tenantMismatch
  /// Too many passwords are being hashed; retry after a second.
  case busy
}

public enum SignInOutcome: Sendable {
  case signedIn(SessionGrant)
  case secondFactorDue(account: Account, pendingCredential: String, factors: [Factor])
  /// The user should have a second factor by now and has none; an enrollment link is in their email.
  case enrollmentRequired
}
