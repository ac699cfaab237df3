/// Why somebody is not signed in.
public enum SignInError: Error, Sendable {
  /// No account has the address.
  case emailNotFound
  /// The password is another.
  case wrongPassword
  /// The account may not sign in.
  case userDisabled
  /// The scope does not allow passwords.
  case passwordLoginDisabled
  /// Nobody can sign in to the scope.
  case scopeDisabled
  /// Too many wrong passwords; from then on one may try again.
  case tooManyAttempts(until: Instant)
  /// A pending credential that was not issued here, or was used.
  case invalidPendingCredential
  /// A pending credential that is too old.
  case pendingExpired
  /// An enrolment id that is not one of the user's.
  case invalidEnrolment
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
