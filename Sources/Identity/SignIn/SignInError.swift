/// Why a sign-in failed.
public enum SignInError: Error, Sendable {
  /// The email isn't a valid address.
  case invalidEmail
  /// No account has the email.
  case emailNotFound
  /// The password is incorrect.
  case wrongPassword
  /// The password is correct, but doesn't meet the pool's password policy, which is enforced at
  /// sign-in.
  case passwordRequirements([PasswordRequirement])
  /// The account doesn't exist, and users can't sign up.
  case adminOnly
  /// The account is disabled.
  case userDisabled
  /// Password sign-in is disabled for the pool.
  case passwordLoginDisabled
  /// Sign-in is disabled for the pool.
  case scopeDisabled(Scope)
  /// The user pool was deleted in the meantime.
  case scopeDeleted(Scope)
  /// Too many wrong passwords; retry after this time.
  case tooManyAttempts(until: Instant)
  /// The pending credential wasn't issued here or was already used.
  case invalidPendingCredential
  /// The pending credential has expired.
  case pendingExpired
  /// The enrollment ID isn't one of the user's.
  case invalidEnrollment
  /// A code was requested for a factor that the user doesn't have.
  case enrollmentNotFound
  /// SMS is disabled for the pool.
  case smsNotEnabled
  /// TOTP is off as a second factor, and another factor is required.
  case totpNotEnabled
  /// Phone sign-in is disabled for the pool.
  case phoneLoginDisabled
  /// The pool is a tenant; phone sign-in is available for projects only.
  case tenantWithoutPhones
  /// The phone number isn't in E.164 format, or the factor isn't a phone.
  case invalidPhone
  /// Messages to the number's region aren't allowed.
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
  /// The number belongs to another account.
  case phoneNumberExists
  /// The session that the number would be linked to isn't valid.
  case session(SessionError)
  /// The code is incorrect, expired, or was already used.
  case invalidCode
  /// Too many wrong codes in a row; retry after this time.
  case quotaExceeded(until: Instant)
  /// The account no longer exists.
  case userNotFound
  /// The pending credential belongs to another project.
  case projectMismatch
  /// The pending credential belongs to another tenant.
  case tenantMismatch
  /// Too many passwords are being hashed; retry after a second.
  case busy
  /// The network created too many accounts; retry after this time.
  case tooManySignUps(until: Instant)
  /// The database is unavailable.
  case unavailable(Failure)
}

extension SignInError: UseCaseError {
  package static func deleted(_ scope: Scope) -> SignInError { .scopeDeleted(scope) }
  package static func signInDisabled(_ scope: Scope) -> SignInError { .scopeDisabled(scope) }
  package static func refusedSignUp(until: Instant) -> SignInError {
    .tooManySignUps(until: until)
  }
}

/// The result of a first factor.
public enum SignInOutcome: Sendable {
  /// The user is signed in.
  case signedIn(SessionGrant)
  /// A second factor is required.
  case secondFactorDue(account: Account, pendingCredential: String, factors: [Factor])
  /// The user should have a second factor by now and has none; an enrollment link is in their email.
  case enrollmentRequired
}
