public import Crypto

/// Why a row of an import is rejected; other rows aren't affected.
public enum ImportFault: Error, Sendable {
  /// The row can't be parsed; the text describes the problem.
  case unreadable(String)
  case missingLocalID
  /// The uid is longer than ``Account/longestID`` bytes or contains a control character.
  case invalidLocalID
  case localIDExists
  case otherTenant
  case invalidEmail
  case emailExists
  /// The phone number isn't in E.164 format.
  case invalidPhone
  case phoneExists
  case nameTooLong
  case photoTooLong
  /// The password hash or salt isn't valid base64.
  case hashNotBase64
  /// The password hash can't be verified at sign-in.
  case hash(ImportedHashError)
  /// The password hash is in a format that only the emulator profile accepts.
  case emulatorHash
  /// The password is shorter than six characters.
  case weakPassword
  /// The password is longer than 4,096 characters.
  case passwordTooLong
  /// The custom claims aren't a JSON object.
  case invalidClaims
  /// The custom claims are longer than 1,000 characters.
  case claimsTooLarge
  case forbiddenClaim
  /// A provider identity has no provider or no ID.
  case missingRawID
  /// The provider ID is invalid, or the user's profile at the provider is longer than what is
  /// stored.
  case invalidProvider
  /// The provider identity belongs to another account in the pool.
  case providerExists
  /// The row has two identities of one provider; an account has at most one.
  case duplicateProvider
  /// Second factors require an email address.
  case factorNeedsEmail
  /// Second factors require a verified email address.
  case factorNeedsVerifiedEmail
  case duplicateFactorID
  /// An enrollment ID is longer than 128 bytes or contains a control character.
  case invalidFactorID
  case unsupportedFactor
  /// A TOTP factor has no secret.
  case totpNotAllowed
  /// The project doesn't allow the import of TOTP secrets.
  case totpImportOff
  /// The codes of a TOTP secret have another hash function, length, or period.
  case unsupportedTOTPParameters
  /// A TOTP secret isn't the base32 encoding of 10 to 64 bytes.
  case invalidTOTPSecret
  case invalidFactorPhone
  case duplicateFactorPhone
  /// The row has more than one authenticator app.
  case tooManyTOTP
  /// The row has more than five phones.
  case tooManyFactors
  /// The user reported a second-factor change as unauthorized, so second factors can't be changed
  /// until an owner has reviewed the report.
  case changesLocked
  /// The pool doesn't allow service tokens to remove second factors.
  case factorRemovalByTokenOff
  /// The service token has changed the second factors of as many users within an hour as the pool
  /// allows.
  case tooManyFactorChanges
  case factorNameTooLong
}

/// Why an import is rejected as a whole.
public enum ImportError: Error, Sendable {
  case empty
  case tooMany
  case duplicateLocalID(String)
  case duplicateEmail(String)
  case duplicateProvider(provider: String, rawID: String)
  /// Too many passwords are being hashed; retry after a second.
  case busy
}
