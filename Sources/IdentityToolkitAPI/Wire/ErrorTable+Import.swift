import Crypto
public import Identity

extension WireError {
  init(_ error: ImportError) {
    switch error {
    case .empty: self.init("MISSING_USER_ACCOUNT")
    case .tooMany:
      self.init(
        "MAXIMUM_USER_COUNT_EXCEEDED : At most \(Imports.mostRows) users can be imported at once.")
    case .duplicateLocalID(let id): self.init("DUPLICATE_LOCAL_ID : \(id.prefix(128))")
    case .duplicateEmail(let email): self.init("DUPLICATE_EMAIL : \(email.prefix(320))")
    case .duplicateProvider(let provider, let rawID):
      self.init(
        "DUPLICATE_RAW_ID : Provider id(\(provider.prefix(128))), Raw id(\(rawID.prefix(512)))")
    }
  }

  /// Uses production's messages, which contain no details; messages about limits specific to this
  /// server include the numbers.
  init(_ error: HashParameterError) {
    switch error {
    case .unknownAlgorithm: self.init("INVALID_HASH_ALGORITHM")
    case .missing("signerKey"): self.init("EMPTY_HASH_KEY")
    case .missing(let name), .outOfRange(let name, _): self.init(Self.word(name))
    case .notPowerOfTwo(let name):
      self.init("\(Self.word(name)) : \(name) must be a power of two, and greater than one.")
    case .tooLong(let name): self.init("\(Self.word(name)) : \(name) is longer than 1024 bytes.")
    case .tooExpensive:
      self.init(
        "INVALID_HASH_PARAMETER : A hash can use at most 256 MiB, and 1 GiB across all "
          + "parallelization or iterations."
      )
    }
  }

  private static func word(_ parameter: String) -> String {
    switch parameter {
    case "signerKey": "INVALID_HASH_KEY"
    case "saltSeparator": "INVALID_HASH_SALT_SEPARATOR"
    case "rounds": "INVALID_HASH_ROUNDS"
    case "memoryCost": "INVALID_HASH_MEMORY_COSTS"
    case "argon2Parameters", "argon2Parameters.memoryCostKib": "INVALID_ARGON2_MEMORY_COST"
    case "argon2Parameters.iterations": "INVALID_ARGON2_ITERATIONS"
    case "argon2Parameters.parallelism": "INVALID_ARGON2_PARALLELISM"
    case "argon2Parameters.hashType": "INVALID_ARGON2_HASH_TYPE"
    default: "INVALID_HASH_PARAMETER"
    }
  }
}

extension ImportFault {
  /// The message of a row's error, which is that of production or of Google's emulator if there is
  /// one.
  public var text: String {
    switch self {
    case .unreadable(let text): text
    case .missingLocalID: "localId is missing"
    case .invalidLocalID: "localId is invalid"
    case .localIDExists: "localId belongs to an existing account - can not overwrite."
    case .otherTenant: "Tenant id in userInfo does not match the tenant id in request."
    case .invalidEmail: "email is invalid"
    case .emailExists: "email exists in other account in database"
    case .invalidPhone: "phone number format is invalid"
    case .phoneExists: "phone number exists in other account in database"
    case .nameTooLong: "display name is too long"
    case .photoTooLong: "photo url is too long"
    case .hashNotBase64: "Password hash and salt should be base64 encoded."
    case .hash(.empty): "password hash is empty"
    case .hash(.malformed): "password hash is invalid for the hash algorithm"
    case .hash(.salt): "password salt is invalid for the hash algorithm"
    case .hash(.tooExpensive): "password hash exceeds the cost limits of this server"
    case .emulatorHash: "password hash is from the emulator"
    case .weakPassword: "password should be at least 6 characters"
    case .passwordTooLong: "password cannot be longer than 4096 characters"
    case .invalidClaims: "Invalid custom claims provided."
    case .claimsTooLarge: "Custom claims provided are too large."
    case .forbiddenClaim: "Custom claims provided include a reserved claim."
    case .missingRawID: "federatedId or (providerId & rawId) is required"
    case .invalidProvider: "provider id is invalid"
    case .providerExists: "raw id exists in other account in database"
    case .duplicateProvider: "provider id appears more than once"
    case .factorNeedsEmail: "Second factor account requires email to be presented."
    case .factorNeedsVerifiedEmail: "Second factor account requires email to be verified."
    case .duplicateFactorID: "Enrollment id already exists."
    case .invalidFactorID: "Enrollment id is invalid."
    case .unsupportedFactor: "Second factor not supported."
    case .totpNotAllowed: "Importing TOTP MFA is not supported."
    case .totpImportOff:
      "Importing TOTP MFA is not supported unless the project's importTotpSecrets is true."
    case .unsupportedTOTPParameter(let name):
      """
      totpInfo.\(name.prefix(100)) is not supported: TOTP secret should be of codes with SHA1, 6 \
      digits, and 30 seconds.
      """
    case .invalidTOTPSecret: "TOTP secret should be base32 of 10 to 64 bytes."
    case .invalidFactorPhone: "Phone number format is invalid"
    case .duplicateFactorPhone:
      "Phone number already enrolled as second factor for this account."
    case .tooManyTOTP: "Too many TOTP based second factors enrolled for this account."
    case .tooManyFactors: "Too many second factors enrolled for this account."
    case .changesLocked: "Changes are locked for this account."
    case .factorRemovalByTokenOff: "Service tokens can't remove second factors here."
    case .tooManyFactorChanges:
      "This service token has changed second factors too often. Try again later."
    case .factorNameTooLong: "Display name of second factor is too long."
    }
  }
}
