public import Crypto

/// An error in enrolling or unenrolling a factor.
public enum EnrollmentError: Error, Sendable {
  /// TOTP is disabled in the user pool.
  case totpNotEnabled
  /// SMS is disabled in the user pool.
  case smsNotEnabled
  /// Not a phone number in E.164 format.
  case invalidPhone
  /// SMS isn't allowed in the number's region.
  case regionNotAllowed
  /// The number is already a second factor of the account.
  case phoneAlreadyEnrolled
  /// Too many messages or codes; a retry is possible at the given time.
  case quotaExceeded(until: Instant)
  /// A temporary proof that's invalid, expired, already used, or for another phone number.
  case invalidTemporaryProof
  /// The user pool requires a session with a second factor to unenroll a factor.
  case secondFactorNeeded
  /// The session is invalid.
  case session(SessionError)
  /// The session's first factor doesn't support a second factor.
  case unsupportedFirstFactor
  /// The email address isn't verified.
  case unverifiedEmail
  /// The sign-in was more than five minutes ago.
  case signInTooOld
  /// The account already has a TOTP factor.
  case alreadyEnrolled
  /// The account already has five phones.
  case tooManyFactors
  /// The enrollment session is invalid or belongs to another user.
  case invalidSessionInfo
  /// The enrollment session expired, or sessions of the user were ended since it started, whether or
  /// not the one that continues was kept.
  case sessionExpired
  /// The enrollment session was already completed.
  case alreadyComplete
  /// The factor's name is missing.
  case missingDisplayName
  /// A name longer than ``Factor/longestName`` characters.
  case displayNameTooLong
  /// The code is missing.
  case missingCode
  /// The code is incorrect.
  case invalidCode
  /// Three codes were incorrect; enrollment must start over.
  case tooManyAttempts
  /// The user reported a change; factors can't be changed until an owner reviews the report.
  case changesLocked
  /// The factor is suspended; it remains required at sign-in, and can't be unenrolled until the
  /// suspension ends. A session that passed no other factor and no backup code can't enroll another.
  case factorSuspended
  /// Recovery codes are disabled in the user pool.
  case recoveryCodesNotEnabled
  /// The account has no such factor.
  case enrollmentNotFound
  /// The database is unavailable.
  case unavailable(Failure)
}

extension EnrollmentError: UseCaseError {
  package static func signInDisabled(_ scope: Scope) -> EnrollmentError { .session(.tokenExpired) }
}

/// The data an application needs to show a new secret to its user.
public struct EnrollmentStart: Sendable {
  /// The shared secret in Base32, to be shown once.
  public let sharedSecret: Secret
  /// The sealed enrollment session to send back with the code.
  public let sessionInfo: String
  /// The time the enrollment session expires.
  public let finalizeBy: Instant
  /// The number of digits in a code.
  public let digits = TOTPFactor.digits
  /// The length of a time interval, in seconds.
  public let period = Int(TOTPFactor.period)
  /// The hash function, as spelled in `otpauth` URIs.
  public let algorithm = HashFunction.sha1.rawValue
}
