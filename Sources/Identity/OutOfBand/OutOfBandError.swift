/// Why a code is not made, or does nothing.
public enum OutOfBandError: Error, Sendable {
  /// A code that was not made here, is another pool's or does something else, or has nothing left
  /// to do.
  case invalidCode
  /// A code that is too old.
  case expiredCode
  /// A code that was used.
  case usedCode
  /// No account has the address.
  case emailNotFound
  /// No such account.
  case userNotFound
  /// The account may not sign in.
  case userDisabled
  /// The account has no address.
  case missingEmail
  /// Not an email address.
  case invalidEmail
  /// No address to change to, or none that is one.
  case invalidNewEmail
  /// The address belongs to another account.
  case emailExists
  /// The code was sent to another address than this.
  case emailMismatch
  /// Not an absolute address of http or https with a host.
  case invalidContinueURL
  /// An address on a domain that links may not lead to.
  case unauthorizedDomain
  /// A domain for links that the project doesn't authorize.
  case unknownLinkDomain
  /// The scope does not allow this way of signing in.
  case operationNotAllowed
  /// The scope does not allow passwords.
  case passwordLoginDisabled
  /// Nobody can sign in to the scope.
  case scopeDisabled(Scope)
  /// Enough mails were sent to the address, or asked for from one network, for now.
  case tooManyMails(OutOfBandCode.Kind, until: Instant)
  /// The user said that a change was none of theirs: until an owner has looked at it, none is made.
  case changesLocked
  /// The session does not count any more.
  case session(SessionError)
  /// The account cannot become what it should, as when the password is too weak.
  case account(AccountError)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension OutOfBandError: UseCaseError {}

extension OutOfBandError {
  /// The error for what an account cannot become.
  init(_ error: AccountError) {
    switch error {
    case .emailExists: self = .emailExists
    case .unavailable(let failure): self = .unavailable(failure)
    default: self = .account(error)
    }
  }

  /// Does something with an account, and says what went wrong in the words of codes.
  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as AccountError {
      throw OutOfBandError(error)
    } catch let error as SessionError {
      throw OutOfBandError.session(error)
    }
  }
}
