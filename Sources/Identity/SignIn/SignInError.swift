/// Why somebody is not signed in.
public enum SignInError: Error, Sendable {
  /// Not an email address.
  case invalidEmail
  /// No account has the address.
  case emailNotFound
  /// The password is another.
  case wrongPassword
  /// The password is right, but the pool's policy lets no such password sign in any more.
  case passwordRequirements([PasswordRequirement])
  /// There is no such account, and users may not make one themselves.
  case adminOnly
  /// The account may not sign in.
  case userDisabled
  /// The scope does not allow passwords.
  case passwordLoginDisabled
  /// Nobody can sign in to the scope.
  case scopeDisabled(Scope)
  /// Too many wrong passwords; from then on one may try again.
  case tooManyAttempts(until: Instant)
  /// A pending credential that was not issued here, or was used.
  case invalidPendingCredential
  /// A pending credential that is too old.
  case pendingExpired
  /// An enrollment id that is not one of the user's.
  case invalidEnrollment
  /// A code is to be sent to a factor that the user doesn't have.
  case enrollmentNotFound
  /// The scope does not have codes by SMS switched on.
  case smsNotEnabled
  /// The scope does not let phone numbers sign in.
  case phoneLoginDisabled
  /// The scope is a tenant, and phone numbers sign in to projects only.
  case tenantWithoutPhones
  /// Not a phone number in E.164 form, or a factor that is no phone.
  case invalidPhone
  /// Messages do not go to the region of the number.
  case regionNotAllowed
  /// A pending credential that is too old for a code that is sent.
  case phonePendingExpired
  /// The session of a code that was not issued here, or for another sign-in.
  case invalidSessionInfo
  /// The session of a code that is too old, was used, or was tried too often.
  case sessionExpired
  /// A proof of a phone that was not issued here, is too old, was used, or is for another number.
  case invalidTemporaryProof
  /// The account has a second factor, which a phone number as first factor would pass by.
  case unsupportedFirstFactor
  /// The number belongs to another account.
  case phoneNumberExists
  /// The session that the number shall be added to does not count.
  case session(SessionError)
  /// A wrong, used or late code.
  case invalidCode
  /// Too many wrong codes in a row; from then on one may try again.
  case quotaExceeded(until: Instant)
  /// The account does not exist any more.
  case userNotFound
  /// The pending credential is another project's.
  case projectMismatch
  /// The pending credential is another tenant's.
  case tenantMismatch
  /// Too many passwords are being hashed; try again after a second.
  case busy
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension SignInError: UseCaseError {}

/// What a first factor leads to.
public enum SignInOutcome: Sendable {
  /// The user is signed in.
  case signedIn(SessionGrant)
  /// A second factor is due.
  case secondFactorDue(account: Account, pendingCredential: String, factors: [Factor])
}
