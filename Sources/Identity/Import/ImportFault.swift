public import Crypto

/// Why a row of an import is refused; the others are not affected.
public enum ImportFault: Error, Sendable {
  /// The row cannot be read; the text says what is wrong with it.
  case unreadable(String)
  /// It has no uid.
  case missingLocalID
  /// A uid that is longer than ``Account/longestID`` bytes, or has a control character.
  case invalidLocalID
  /// The uid belongs to an account.
  case localIDExists
  /// It says another tenant than the call.
  case otherTenant
  /// Not an email address.
  case invalidEmail
  /// The address belongs to another account of the scope.
  case emailExists
  /// Not a phone number in E.164 form.
  case invalidPhone
  /// The phone number belongs to another account of the scope.
  case phoneExists
  /// A name of more than ``Account/longestName`` characters.
  case nameTooLong
  /// A picture's address of more than ``ProviderLink/longestField`` bytes.
  case photoTooLong
  /// Hash or salt are not base64.
  case hashNotBase64
  /// The hash cannot be checked at a sign-in.
  case hash(ImportedHashError)
  /// A hash that only the emulator profile takes.
  case emulatorHash
  /// A password of less than six characters.
  case weakPassword
  /// A password of more than 4096 characters.
  case passwordTooLong
  /// Custom claims that are not a JSON object.
  case invalidClaims
  /// Custom claims of more than 1000 characters.
  case claimsTooLarge
  /// Custom claims with a name that tokens use themselves.
  case forbiddenClaim
  /// An identity without provider or id.
  case missingRawID
  /// Not the id of another provider, or more said about the user than is kept.
  case invalidProvider
  /// The identity belongs to another account of the scope.
  case providerExists
  /// Second factors need an address.
  case factorNeedsEmail
  /// Second factors need an address that is verified.
  case factorNeedsVerifiedEmail
  /// Two factors have the same enrollment id.
  case duplicateFactorID
  /// An enrollment id of more than 128 bytes or with a control character.
  case invalidFactorID
  /// A factor of no kind that there is.
  case unsupportedFactor
  /// TOTP secrets may not be imported here.
  case totpNotAllowed
  /// Not the base32 of 10 to 64 bytes.
  case invalidTOTPSecret
  /// Not a phone number in E.164 form.
  case invalidFactorPhone
  /// The same phone twice.
  case duplicateFactorPhone
  /// More than one authenticator app.
  case tooManyTOTP
  /// More than five phones.
  case tooManyFactors
  /// The user said that a change of second factors was none of theirs: until an owner has looked at it,
  /// none is made.
  case changesLocked
  /// The pool lets no service token remove second factors.
  case factorRemovalByTokenOff
  /// A name of a second factor of more than ``Factor/longestName`` characters.
  case factorNameTooLong
}

/// Why an import is not made at all.
public enum ImportError: Error, Sendable {
  /// No rows.
  case empty
  /// More rows than ``Imports/mostRows``.
  case tooMany
  /// A uid stands twice in the list.
  case duplicateLocalID(String)
  /// An address stands twice in the list.
  case duplicateEmail(String)
  /// An identity stands twice in the list.
  case duplicateProvider(provider: String, rawID: String)
  /// The scope was deleted meanwhile.
  case scopeNotFound
  /// Too many passwords are being hashed; try again after a second.
  case busy
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ImportError: UseCaseError {}
