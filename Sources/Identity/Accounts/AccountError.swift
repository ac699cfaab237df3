/// Why an account cannot be made, found or changed.
public enum AccountError: Error, Sendable {
  /// The address belongs to another account of the scope.
  case emailExists
  /// Not an email address.
  case invalidEmail
  /// A password without an address.
  case missingEmail
  /// An address without a password, at a sign-up.
  case missingPassword
  /// A password of less than six characters.
  case weakPassword
  /// A password of more than 4096 characters.
  case passwordTooLong
  /// A password that the pool's policy refuses.
  case passwordRequirements([PasswordRequirement])
  /// The uid belongs to another account of the scope.
  case duplicateLocalID
  /// A uid that is empty, longer than ``Account/longestID`` bytes, or has a control character.
  case invalidLocalID
  /// The phone number belongs to another account of the scope.
  case phoneExists
  /// Not a phone number in E.164 form.
  case invalidPhone
  /// The identity at another provider belongs to another account of the scope.
  case federatedIDAlreadyLinked
  /// Not the id of another provider, or more said about the user than is kept.
  case invalidProvider
  /// An id at another provider that is empty, too long, or has a control character.
  case invalidRawID
  /// A name of more than ``Account/longestName`` characters.
  case nameTooLong
  /// An address of a picture of more than 2048 bytes.
  case photoTooLong
  /// A name of a second factor of more than ``Factor/longestName`` characters.
  case factorNameTooLong
  /// No such account.
  case notFound
  /// The scope does not allow this way of signing in.
  case operationNotAllowed
  /// The scope does not allow users to make accounts of this kind themselves.
  case adminOnly
  /// Nobody can sign in to the scope.
  case scopeDisabled(Scope)
  /// More than five phones as second factors.
  case tooManyFactors
  /// An enrollment id that stands twice, or is the one of another kind of factor.
  case duplicateEnrollment
  /// An enrollment id of more than 128 bytes, or with a control character.
  case invalidEnrollment
  /// A number that stands twice among the second factors.
  case phoneFactorExists
  /// The user said that a change of second factors was none of theirs: until an owner has looked at it,
  /// none is made.
  case changesLocked
  /// The pool lets no service token remove second factors.
  case factorRemovalByTokenOff
  /// The service token has changed the second factors of as many users as the pool lets it in an hour;
  /// from then on one may try again.
  case tooManyFactorChanges(until: Instant)
  /// A new TOTP factor can only be enrolled by its user.
  case unsupportedSecondFactor
  /// Custom claims of more than 1000 characters.
  case claimsTooLarge
  /// Custom claims that are not a JSON object.
  case invalidClaims
  /// Custom claims with a name that tokens use themselves.
  case forbiddenClaim(String)
  /// The old address was warned of so many changes that another has to wait.
  case tooManyMails(until: Instant)
  /// The session for which a new one shall begin does not count any more.
  case session(SessionError)
  /// Too many passwords are being hashed; try again after a second.
  case busy
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension AccountError: UseCaseError {}
