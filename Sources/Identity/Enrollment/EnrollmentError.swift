public import Crypto

public enum EnrollmentError: Error, Sendable {
  case totpNotEnabled
  case smsNotEnabled
  /// Not a phone number in E.164 format.
  case invalidPhone
  case regionNotAllowed
  case phoneAlreadyEnrolled
  /// Too many messages or codes; a retry is possible at the given time.
  case quotaExceeded(until: Instant)
  /// A temporary proof that's invalid, expired, already used, or for another phone number.
  case invalidTemporaryProof
  /// The pool requires a session with a second factor to unenroll a factor.
  case secondFactorNeeded
  /// The session's first factor doesn't support a second factor.
  case unsupportedFirstFactor
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
  case alreadyComplete
  case missingDisplayName
  case displayNameTooLong
  case missingCode
  case invalidCode
  /// Three codes were incorrect; enrollment must start over.
  case tooManyAttempts
  /// The user reported a change; factors can't be changed until an owner reviews the report.
  case changesLocked
  /// The factor is suspended; it remains required at sign-in, and can't be unenrolled until the
  /// suspension ends. A session that passed no other factor and no backup code can't enroll another.
  case factorSuspended
  case recoveryCodesNotEnabled
  case enrollmentNotFound
}

/// The data an application needs to show a new secret to its user.
public struct EnrollmentStart: Sendable {
  /// The shared secret in Base32, to be shown once.
  public let sharedSecret: Secret
  /// The sealed enrollment session to send back with the code.
  public let sessionInfo: String
  public let finalizeBy: Instant
  public let digits = TOTPFactor.digits
  /// The length of a time interval, in seconds.
  public let period = Int(TOTPFactor.period)
  /// The hash function, as spelled in `otpauth` URIs.
  public let algorithm = HashFunction.sha1.rawValue
}
