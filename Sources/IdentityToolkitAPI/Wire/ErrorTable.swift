import Crypto
import HTTP
import Identity
import JSON

/// The wire errors of the rules.
///
/// Codes and messages are part of the interface: SDKs map the code before ` : ` to their own
/// errors.
extension WireError {
  /// The only translation of what a call throws; an error that isn't in the table is a failure of the
  /// server.
  init(_ error: any Error) {
    switch error {
    case let error as WireError: self = error
    case let error as CallError: self.init(error)
    case let error as PoolLookupError: self.init(error)
    case let error as PoolError: self.init(error)
    case let error as PolicyError: self.init(error)
    case let error as AccountError: self.init(error)
    case let error as SessionError: self.init(error)
    case let error as SignInError: self.init(error, hidingUsers: false)
    case let error as EnrollmentError: self.init(error)
    case let error as OutOfBandError: self.init(error)
    case let error as CustomTokenError: self.init(error)
    case let error as FederationError: self.init(error)
    case let error as ProviderError: self.init(error)
    case let error as ImportError: self.init(error)
    case let error as HashParameterError: self.init(error)
    case CryptoError.busy: self = .unavailable
    default:
      self = .unavailable
      cause = Failure(error).description
    }
  }

  init(_ error: CallError) {
    switch error {
    case .poolDisabled(let pool): self.init(disabled: pool)
    case .poolDeleted(let pool): self.init(deleted: pool)
    case .tokenRevoked: self = .invalidCredentials
    case .notFound: self = .engine(.notFound)
    case .tooManySignUps: self.init(Self.tooManySignUps)
    }
  }

  init(_ error: PoolLookupError) {
    switch error {
    case .projectNotFound, .projectDeleted: self.init("PROJECT_NOT_FOUND")
    case .tenantNotFound: self.init("INVALID_TENANT_ID")
    case .tenantDeleted: self.init("TENANT_DELETED")
    }
  }

  /// The pool refuses sign-ins of users who should have a second factor and have none.
  static let enrollmentRequired = WireError(
    "MFA_ENROLLMENT_REQUIRED : A second factor is required. A link to set it up was sent to the "
      + "user's verified email address.")

  init(disabled pool: Pool) {
    self.init(pool.tenant == nil ? "PROJECT_DISABLED" : "TENANT_DISABLED")
  }

  /// The pool was deleted after the call found it.
  init(deleted pool: Pool) {
    self.init(pool.tenant == nil ? PoolLookupError.projectDeleted : .tenantDeleted)
  }

  /// The error of a call about tenants themselves, which responds with 404.
  init(tenants error: PoolLookupError) {
    switch error {
    case .projectNotFound, .projectDeleted: self.init(PoolError.projectNotFound)
    case .tenantNotFound, .tenantDeleted: self.init(PoolError.tenantNotFound)
    }
  }

  init(_ error: PoolError) {
    switch error {
    case .projectNotFound: self.init("PROJECT_NOT_FOUND", status: .notFound, reason: "notFound")
    case .tenantNotFound: self.init("TENANT_NOT_FOUND", status: .notFound, reason: "notFound")
    case .invalidProjectID, .multiTenancyOff: self.init("INVALID_PROJECT_ID")
    case .projectIDTaken:
      self.init("PROJECT_ALREADY_EXISTS", status: .conflict, reason: "conflict")
    case .invalidProjectName: self.init("INVALID_DISPLAY_NAME")
    case .missingTenantName:
      self.init("MISSING_DISPLAY_NAME : Missing tenant with valid display_name.")
    case .invalidTenantName:
      self.init(
        "INVALID_DISPLAY_NAME : display_name should start with a letter and only consist of "
          + "letters, digits and hyphens with 4-20 characters.")
    case .invalidDomain(""):
      self.init("INVALID_AUTHORIZED_DOMAIN : An authorized domain is empty.")
    case .invalidDomain(let domain):
      self.init(
        "INVALID_AUTHORIZED_DOMAIN : \(domain.prefix(100)) should only contain the valid domain.")
    case .ownerOnly: self = .permissionDenied
    case .unauthorizedHost:
      self.init("UNAUTHORIZED_DOMAIN : The host of callbackUri isn't an authorized domain.")
    case .invalidSenderName:
      self.init(
        "INVALID_EMAIL_TEMPLATE : senderDisplayName has a control character or over 100 bytes.")
    case .invalidReplyTo:
      self.init("INVALID_EMAIL_TEMPLATE : replyTo isn't an email address.")
    case .policy(let error): self.init(error)
    case .shortestPasswordOutOfRange:
      self.init("INVALID_CONFIG : Minimum password length must be between 6 and 30")
    case .longestPasswordOutOfRange:
      self.init(
        "INVALID_CONFIG : Maximum password length must be greater than or equal to the minimum "
          + "password length")
    case .longestPasswordTooLong:
      self.init("INVALID_CONFIG : Maximum password length must be less than or equal to 4096")
    case .passwordPolicyVersions:
      self.init("INVALID_CONFIG : Policy versions list must be of length 1")
    case .recaptcha(let error): self.init(error)
    }
  }

  init(_ error: PolicyError) {
    switch error {
    case .invalidAdjacentIntervals:
      self.init(
        "INVALID_ADJACENT_INTERVAL_RANGE : Allowed number of adjacent intervals must be between "
          + "0 and 10, inclusive")
    case .twoTOTPEntries:
      self.init("INVALID_CONFIG : Only one TOTP provider config is allowed.")
    case .changedMeanwhile, .approvalPending:
      self.init(
        "ABORTED : The configuration was changed by another request.", status: .conflict,
        reason: "conflict")
    case .approvalRequired:
      self.init(
        "OPERATION_NOT_ALLOWED : This change weakens the policy for so many users that a second "
          + "administrator has to approve it. Change the policy in the console.")
    case .refusalNeedsEmail:
      self.init("INVALID_CONFIG : Sign-ins can't be refused while the server sends no email.")
    // Connected projects aren't served, so it isn't thrown for one that is.
    case .poolNotFound, .notAtOnce:
      self.init("TENANT_NOT_FOUND", status: .notFound, reason: "notFound")
    }
  }

  init(_ error: AccountError) {
    switch error {
    case .emailExists: self.init("EMAIL_EXISTS")
    case .invalidEmail: self.init("INVALID_EMAIL")
    case .missingEmail: self.init("MISSING_EMAIL")
    case .missingPassword: self.init("MISSING_PASSWORD")
    case .weakPassword: self.init("WEAK_PASSWORD : Password should be at least 6 characters")
    case .passwordTooLong:
      self.init(
        "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Password cannot be longer than 4096 characters")
    case .passwordRequirements(let missing): self.init(missing)
    case .duplicateLocalID: self.init("DUPLICATE_LOCAL_ID")
    case .invalidLocalID:
      self.init(
        "INVALID_LOCAL_ID : A uid must have 1 to \(Account.longestID) bytes, and no control "
          + "characters.")
    case .phoneExists: self.init("PHONE_NUMBER_EXISTS")
    case .federatedIDAlreadyLinked: self.init("FEDERATED_USER_ID_ALREADY_LINKED")
    case .invalidProvider: self.init("INVALID_PROVIDER_ID")
    case .invalidRawID:
      self.init("INVALID_RAW_ID : The raw ID of a user at a provider must have 1 to 512 bytes.")
    case .invalidPhone: self.init(Self.invalidPhone)
    case .nameTooLong: self.init("INVALID_PROFILE_ATTRIBUTE : Display name too long.")
    case .photoTooLong: self.init("INVALID_PROFILE_ATTRIBUTE : Photo URL too long.")
    case .factorNameTooLong: self.init(Self.factorNameTooLong)
    case .notFound: self.init("USER_NOT_FOUND")
    case .operationNotAllowed: self.init("OPERATION_NOT_ALLOWED")
    case .adminOnly: self.init("ADMIN_ONLY_OPERATION")
    case .notDisabled: self.init("NOT_DISABLED : Disable the account before batch deletion.")
    case .tooManyFactors: self.init("SECOND_FACTOR_LIMIT_EXCEEDED")
    case .changesLocked: self.init(Self.changesLocked)
    case .factorSuspended: self.init(Self.factorSuspended)
    case .factorRemovalByTokenOff:
      self.init("OPERATION_NOT_ALLOWED : Service tokens can't remove second factors here.")
    case .tooManyFactorChanges:
      self.init(
        "QUOTA_EXCEEDED : This service token has changed second factors too often. Try again later.",
        status: .tooManyRequests, reason: "rateLimitExceeded")
    case .duplicateEnrollment:
      self.init("DUPLICATE_MFA_ENROLLMENT_ID : Enrollment id already exists.")
    case .invalidEnrollment:
      self.init(
        "INVALID_MFA_ENROLLMENT_ID : An enrollment ID must have 1 to 128 bytes, and no control "
          + "characters.")
    case .phoneFactorExists: self.init(Self.phoneFactorExists)
    case .unverifiedEmail:
      self.init(
        "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")
    case .unsupportedSecondFactor:
      self.init("UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment")
    case .claimsTooLarge: self.init("CLAIMS_TOO_LARGE")
    case .invalidClaims: self.init("INVALID_CLAIMS")
    case .forbiddenClaim(let name): self.init("FORBIDDEN_CLAIM : \(name.prefix(100))")
    case .emailNeedsVerification: self.init("EMAIL_CHANGE_NEEDS_VERIFICATION")
    case .tooManyMails: self.init(Self.tooManyMails)
    case .tooManyAttempts: self.init(Self.tooManyAttempts)
    }
  }

  static let tooManyMails =
    "TOO_MANY_ATTEMPTS_TRY_LATER : Too many emails were requested. Try again later."
  static let tooManySignUps =
    "TOO_MANY_ATTEMPTS_TRY_LATER : Too many accounts were created from this network. Try again "
    + "later."
  private static let tooManyAttempts =
    "TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled due to many "
    + "failed login attempts."
  private static let phoneFactorExists =
    "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
  private static let invalidPhone = "INVALID_PHONE_NUMBER : Invalid format."
  static let factorSuspended = "OPERATION_NOT_ALLOWED : The second factor is suspended."
  static let changesLocked =
    "OPERATION_NOT_ALLOWED : Changes of how its user signs in are locked for this account."
  private static let totpNotEnabled = "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
  private static let smsNotEnabled = "OPERATION_NOT_ALLOWED : SMS based MFA not enabled."
  private static let regionNotAllowed =
    "OPERATION_NOT_ALLOWED : SMS unable to be sent until this region enabled by the app developer."
  private static let quotaExceeded = "QUOTA_EXCEEDED : Exceeded quota."
  private static let factorNameTooLong =
    "INVALID_DISPLAY_NAME : The display name of a second factor has at most "
    + "\(Factor.longestName) characters."

  init(_ error: SessionError) {
    switch error {
    case .userNotFound: self.init("USER_NOT_FOUND")
    case .userDisabled: self.init("USER_DISABLED")
    case .tokenExpired: self.init("TOKEN_EXPIRED")
    case .enrollmentRequired: self = .enrollmentRequired
    case .invalidRefreshToken: self.init("INVALID_REFRESH_TOKEN")
    case .tenantMismatch: self.init("TENANT_ID_MISMATCH")
    case .tenantDeleted: self.init("TENANT_DELETED")
    case .tooManyChanges:
      self.init("TOO_MANY_ATTEMPTS_TRY_LATER : Too many changes to this account. Try again later.")
    // Makes SDKs request a new sign-in, which then requires the second factor.
    case .signInTooOld, .secondFactorNeeded: self.init("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }
  }

  /// With email enumeration protection, the error doesn't reveal whether the email or the password
  /// was wrong.
  init(_ error: SignInError, hidingUsers: Bool) {
    switch error {
    case .invalidEmail: self.init("INVALID_EMAIL")
    case .emailNotFound where hidingUsers, .wrongPassword where hidingUsers:
      self.init("INVALID_LOGIN_CREDENTIALS")
    case .emailNotFound: self.init("EMAIL_NOT_FOUND")
    case .wrongPassword: self.init("INVALID_PASSWORD")
    case .passwordRequirements(let missing): self.init(missing)
    case .adminOnly: self.init("ADMIN_ONLY_OPERATION")
    case .userDisabled: self.init("USER_DISABLED")
    case .passwordLoginDisabled: self.init("PASSWORD_LOGIN_DISABLED")
    case .poolDisabled(let pool): self.init(disabled: pool)
    case .tooManyAttempts: self.init(Self.tooManyAttempts)
    case .invalidPendingCredential: self.init("INVALID_PENDING_TOKEN")
    case .pendingExpired:
      self.init(
        "TOTP_CHALLENGE_TIMEOUT : TOTP challenge timeout, provide first factor again.")
    case .invalidEnrollment: self.init("INVALID_MFA_ENROLLMENT_ID")
    case .enrollmentNotFound: self.init("MFA_ENROLLMENT_NOT_FOUND")
    case .smsNotEnabled: self.init(Self.smsNotEnabled)
    case .totpNotEnabled: self.init(Self.totpNotEnabled)
    case .phoneLoginDisabled: self.init("OPERATION_NOT_ALLOWED")
    case .tenantWithoutPhones: self.init("UNSUPPORTED_TENANT_OPERATION")
    case .invalidPhone: self.init(Self.invalidPhone)
    case .regionNotAllowed: self.init(Self.regionNotAllowed)
    case .phonePendingExpired:
      self.init("INVALID_MFA_PENDING_CREDENTIAL : MFA pending credential is expired.")
    case .invalidSessionInfo: self.init("INVALID_SESSION_INFO")
    case .sessionExpired: self.init("SESSION_EXPIRED")
    case .invalidTemporaryProof: self.init("INVALID_TEMPORARY_PROOF")
    case .enrollmentRequired: self = .enrollmentRequired
    case .unsupportedFirstFactor:
      self.init(
        "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS "
          + "based MFA user.")
    case .phoneNumberExists: self.init("PHONE_NUMBER_EXISTS")
    case .session(let error): self.init(error)
    case .invalidCode: self.init("INVALID_CODE")
    case .quotaExceeded: self.init(Self.quotaExceeded)
    case .userNotFound: self.init("USER_NOT_FOUND")
    case .projectMismatch:
      self.init("INVALID_PROJECT_ID : Project ID does not match MFA pending credential.")
    case .tenantMismatch: self.init("TENANT_ID_MISMATCH")
    }
  }

  init(_ error: EnrollmentError) {
    switch error {
    case .totpNotEnabled: self.init(Self.totpNotEnabled)
    case .smsNotEnabled: self.init(Self.smsNotEnabled)
    case .invalidPhone: self.init(Self.invalidPhone)
    case .regionNotAllowed: self.init(Self.regionNotAllowed)
    case .phoneAlreadyEnrolled: self.init(Self.phoneFactorExists)
    case .quotaExceeded: self.init(Self.quotaExceeded)
    case .invalidTemporaryProof: self.init("INVALID_TEMPORARY_PROOF")
    case .unsupportedFirstFactor:
      self.init("UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.")
    case .unverifiedEmail:
      self.init(AccountError.unverifiedEmail)
    case .signInTooOld: self.init(SessionError.signInTooOld)
    case .alreadyEnrolled:
      self.init(
        "SECOND_FACTOR_LIMIT_EXCEEDED : Too many TOTP based second factors enrolled for this "
          + "account.")
    case .tooManyFactors:
      self.init("SECOND_FACTOR_LIMIT_EXCEEDED : Too many second factors enrolled for this account.")
    case .invalidSessionInfo: self.init("INVALID_SESSION_INFO")
    case .sessionExpired: self.init("SESSION_EXPIRED")
    case .alreadyComplete: self.init("MFA_ENROLLMENT_ALREADY_COMPLETE")
    case .missingDisplayName:
      self.init("MISSING_DISPLAY_NAME : display name cannot be empty")
    case .displayNameTooLong: self.init(Self.factorNameTooLong)
    case .missingCode: self.init("MISSING_CODE")
    case .invalidCode: self.init("INVALID_CODE")
    case .tooManyAttempts: self.init("TOO_MANY_ENROLLMENT_ATTEMPTS : restart enrollment")
    case .changesLocked: self.init(Self.changesLocked)
    case .factorSuspended: self.init(Self.factorSuspended)
    case .recoveryCodesNotEnabled:
      self.init("OPERATION_NOT_ALLOWED : Recovery codes are not enabled.")
    case .enrollmentNotFound: self.init("MFA_ENROLLMENT_NOT_FOUND")
    }
  }

  /// Clients can't distinguish used codes from unknown ones, although pages can.
  init(_ error: OutOfBandError) {
    switch error {
    case .invalidCode, .usedCode: self.init("INVALID_OOB_CODE")
    case .expiredCode: self.init("EXPIRED_OOB_CODE")
    case .emailNotFound: self.init("EMAIL_NOT_FOUND")
    case .userNotFound: self.init("USER_NOT_FOUND")
    case .userDisabled: self.init("USER_DISABLED")
    case .missingEmail: self.init("MISSING_EMAIL")
    case .invalidEmail: self.init("INVALID_EMAIL")
    case .invalidNewEmail: self.init("INVALID_NEW_EMAIL")
    case .emailExists: self.init("EMAIL_EXISTS")
    case .emailMismatch:
      self.init("INVALID_EMAIL : The email provided does not match the sign-in email address.")
    case .invalidContinueURL:
      self.init("INVALID_CONTINUE_URI : Missing domain in continue url")
    case .unauthorizedDomain:
      self.init("UNAUTHORIZED_DOMAIN : Domain not allowlisted by project")
    case .unknownLinkDomain:
      self.init(
        "INVALID_HOSTING_LINK_DOMAIN : The provided hosting link domain is not configured in Firebase "
          + "Hosting or is not owned by the current project. This cannot be a default hosting domain "
          + "(web.app or firebaseapp.com).")
    case .operationNotAllowed: self.init("OPERATION_NOT_ALLOWED")
    case .changesLocked: self.init(Self.changesLocked)
    case .factorSuspended: self.init(Self.factorSuspended)
    case .passwordLoginDisabled: self.init("PASSWORD_LOGIN_DISABLED")
    case .tooManyMails(.passwordReset, _): self.init("RESET_PASSWORD_EXCEED_LIMIT")
    case .tooManyMails: self.init(Self.tooManyMails)
    case .account(let error): self.init(error)
    }
  }
}
