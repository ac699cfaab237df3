public import Crypto

/// Why a factor is not enrolled or withdrawn.
public enum EnrollmentError: Error, Sendable {
  /// The scope does not have TOTP switched on.
  case totpNotEnabled
  /// The scope does not have codes by SMS switched on.
  case smsNotEnabled
  /// Not a phone number in E.164 form.
  case invalidPhone
  /// Messages do not go to the region of the number.
  case regionNotAllowed
  /// The number is a second factor of the account already.
  case phoneAlreadyEnrolled
  /// Too many messages, or too many codes; from then on one may try again.
  case quotaExceeded(until: Instant)
  /// A proof of a phone that was not issued here, is too old, was used, or is for another number.
  case invalidTemporaryProof
  /// The scope wants a factor to be withdrawn by a session that has passed one.
  case secondFactorNeeded
  /// The session does not count.
  case session(SessionError)
  /// The first factor of the session allows no second one.
  case unsupportedFirstFactor
  /// The email address is not verified.
  case unverifiedEmail
  /// The sign-in is older than five minutes.
  case signInTooOld
  /// The account has a TOTP factor already.
  case alreadyEnrolled
  /// The account has five phones already.
  case tooManyFactors
  /// An enrollment session that was not issued here, or to somebody else.
  case invalidSessionInfo
  /// The enrollment session is over.
  case sessionExpired
  /// The enrollment session has led to a factor already.
  case alreadyComplete
  /// The factor has no name.
  case missingDisplayName
  /// A name of more than ``Factor/longestName`` characters.
  case displayNameTooLong
  /// There's no code.
  case missingCode
  /// The code is wrong.
  case invalidCode
  /// Three codes were wrong; enrollment has to start again.
  case tooManyAttempts
  /// The user said that a change was none of theirs: until an owner has looked at it, none is made.
  case changesLocked
  /// The factor is suspended: until that ends one is due at sign-in, whatever a session wants.
  case factorSuspended
  /// The scope gives users no recovery codes.
  case recoveryCodesNotEnabled
  /// The account has no such factor.
  case enrollmentNotFound
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension EnrollmentError: UseCaseError {}

/// What an application needs to show a new secret to its user.
public struct EnrollmentStart: Sendable {
  /// The shared secret as base32 text, to be shown once.
  public let sharedSecret: Secret
  /// The sealed enrollment session that the code comes back with.
  public let sessionInfo: String
  /// Until when the code must come.
  public let finalizeBy: Instant
  /// The digits of a code.
  public let digits = TOTPFactor.digits
  /// The length of a time step in seconds.
  public let period = Int(TOTPFactor.period)
  /// The hash function, as `otpauth` addresses spell it.
  public let algorithm = HashFunction.sha1.rawValue
}

extension EnrollmentError {
  /// Does something with a session, and says what went wrong in the words of enrollments.
  @discardableResult
  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as SessionError {
      throw EnrollmentError.session(error)
    }
  }
}
