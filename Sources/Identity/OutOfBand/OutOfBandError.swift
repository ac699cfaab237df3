public enum OutOfBandError: Error, Sendable {
  /// The code doesn't exist, belongs to another pool, has another action, or no longer applies to
  /// the account.
  case invalidCode
  case expiredCode
  case usedCode
  case emailNotFound
  case userNotFound
  case userDisabled
  case missingEmail
  case invalidEmail
  case invalidNewEmail
  case emailExists
  /// The code was sent to a different email address.
  case emailMismatch
  /// The continue URL isn't an absolute http or https URL with a host.
  case invalidContinueURL
  /// The continue URL isn't on an authorized domain.
  case unauthorizedDomain
  case unknownLinkDomain
  /// The sign-in method is disabled in the pool.
  case operationNotAllowed
  case passwordLoginDisabled
  /// The hourly email limit of the address or network is reached.
  case tooManyMails(OutOfBandCode.Kind, until: Instant)
  /// The user reported a change, so second factors are locked until an owner has reviewed it.
  case changesLocked
  /// The factor is suspended; it remains required at sign-in and can't be removed with a link until
  /// the suspension ends.
  case factorSuspended
  /// The change to the account is invalid, such as a weak password.
  case account(AccountError)
}

extension OutOfBandError {
  init(_ error: AccountError) {
    switch error {
    case .emailExists: self = .emailExists
    default: self = .account(error)
    }
  }

  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as AccountError {
      throw OutOfBandError(error)
    }
  }
}
