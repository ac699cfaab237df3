public import Crypto

/// Why a row of an import is rejected; other rows aren't affected.
public enum ImportFault: Error, Sendable {
  /// The row can't be parsed; the text describes the problem.
  case unreadable(String)
  /// The row has no uid.
  case missingLocalID
  /// The uid is longer than ``Account/longestID`` bytes or contains a control character.
  case invalidLocalID
  /// The uid already belongs to an account.
  case localIDExists
  /// The row names a different tenant than the call.
  case otherTenant
  /// The email isn't a valid address.
  case invalidEmail
  /// The email belongs to another account in the user pool.
  case emailExists
  /// The phone number isn't in E.164 format.
  case invalidPhone
  /// The phone number belongs to another account in the user pool.
  case phoneExists
  /// The display name is longer than ``Account/longestName`` characters.
  case nameTooLong
  /// The photo URL is longer than ``ProviderLink/longestField`` bytes.
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
  /// The custom claims use a reserved claim name.
  case forbiddenClaim
  /// A provider identity has no provider or no ID.
  case missingRawID
  /// The provider ID is invalid, or the user's profile at the provider is longer than what is
  /// stored.
  case invalidProvider
  /// The provider identity belongs to another account in the user pool.
  case providerExists
  /// The row has two identities of one provider; an account has at most one.
  case duplicateProvider
  /// Second factors require an email address.
  case factorNeedsEmail
  /// Second factors require a verified email address.
  case factorNeedsVerifiedEmail
  /// Two factors have the same enrollment ID.
  case duplicateFactorID
  /// An enrollment ID is longer than 128 bytes or contains a control character.
  case invalidFactorID
  /// A factor is of an unsupported kind.
  case unsupportedFactor
  /// A TOTP factor has no secret.
  case totpNotAllowed
  /// The project doesn't allow the import of TOTP secrets.
  case totpImportOff
  /// The codes of a TOTP secret have another hash function, length, or period.
  case unsupportedTOTPParameters
  /// A TOTP secret isn't the base32 encoding of 10 to 64 bytes.
  case invalidTOTPSecret
  /// A factor's phone number isn't in E.164 format.
  case invalidFactorPhone
  /// The same phone number appears twice.
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
  /// A factor's name is longer than ``Factor/longestName`` characters.
  case factorNameTooLong
}

/// Why an import is rejected as a whole.
public enum ImportError: Error, Sendable {
  /// The list has no rows.
  case empty
  /// The list has more than ``Imports/mostRows`` rows.
  case tooMany
  /// A uid appears twice in the list.
  case duplicateLocalID(String)
  /// An email appears twice in the list.
  case duplicateEmail(String)
  /// A provider identity appears twice in the list.
  case duplicateProvider(provider: String, rawID: String)
  /// The service token was revoked, or its creator's role ended, after the request began.
  case tokenRevoked
  /// The user pool was deleted in the meantime.
  case scopeDeleted(Scope)
  /// Too many passwords are being hashed; retry after a second.
  case busy
  /// The database is unavailable.
  case unavailable(Failure)
}

extension ImportError: UseCaseError {
  package static func deleted(_ scope: Scope) -> ImportError { .scopeDeleted(scope) }
  package static var revokedToken: ImportError { .tokenRevoked }
}
