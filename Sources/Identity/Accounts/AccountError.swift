public enum AccountError: Error, Sendable {
  case emailExists
  case invalidEmail
  /// A password without an email address.
  case missingEmail
  /// An email address without a password, at sign-up.
  case missingPassword
  /// A password shorter than six characters.
  case weakPassword
  /// A password longer than 4,096 characters.
  case passwordTooLong
  case passwordRequirements([PasswordRequirement])
  case duplicateLocalID
  /// A uid that is empty, longer than ``Account/longestID`` bytes, or contains a control character.
  case invalidLocalID
  case phoneExists
  /// Not a phone number in E.164 format.
  case invalidPhone
  case federatedIDAlreadyLinked
  /// An invalid provider ID, or profile data longer than the limit.
  case invalidProvider
  /// A user ID at a provider that is empty, too long, or contains a control character.
  case invalidRawID
  case nameTooLong
  /// A photo URL longer than 2,048 bytes.
  case photoTooLong
  case factorNameTooLong
  case notFound
  /// The sign-in method is disabled in the pool.
  case operationNotAllowed
  /// Users can't create accounts of this kind themselves; only administrators can.
  case adminOnly
  /// The account isn't disabled, and only a disabled one was to be deleted.
  case notDisabled
  /// More than five phones as second factors.
  case tooManyFactors
  /// An enrollment ID that appears twice or belongs to a different kind of factor.
  case duplicateEnrollment
  /// An enrollment ID longer than 128 bytes, or with a control character.
  case invalidEnrollment
  /// A phone number that appears twice among the second factors.
  case phoneFactorExists
  /// The user reported a change to their second factors; they can't be changed, nor can the
  /// account be deleted, until an owner reviews the report.
  case changesLocked
  /// The pool requires a session with a second factor to unenroll a factor, and so to delete an
  /// account with one.
  case secondFactorNeeded
  /// A factor is suspended, so its user can't delete the account.
  case factorSuspended
  /// Service tokens can't remove second factors in this pool.
  case factorRemovalByTokenOff
  /// The service token reached the pool's hourly limit of users whose second factors it can change;
  /// it can try again at the given time.
  case tooManyFactorChanges(until: Instant)
  /// Second factors can be added only to an account with a verified email address.
  case unverifiedEmail
  /// A new TOTP factor can be enrolled only by its user.
  case unsupportedSecondFactor
  /// Custom claims longer than 1,000 characters.
  case claimsTooLarge
  /// Custom claims that aren't a JSON object.
  case invalidClaims
  case forbiddenClaim(String)
  /// A user with a second factor can change their email address only with an emailed link, and
  /// can't remove it.
  case emailNeedsVerification
  /// Too many change notices were sent to the old address; another change is possible at the given
  /// time.
  case tooManyMails(until: Instant)
  /// Too many wrong passwords from the network, or attempts to take email addresses in use; retry
  /// after the given time.
  case tooManyAttempts(until: Instant)
  /// Too many passwords are being hashed; retry after a second.
  case busy
}
