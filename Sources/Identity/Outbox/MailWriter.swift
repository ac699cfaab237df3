public import Database

public protocol MailWriter: Sendable {
  /// Returns the language of the text for a preferred locale, such as `de` for `de-AT`; the default
  /// language if there's no text in the preferred one or the locale is nil.
  func language(for locale: String?) -> String

  /// Writes a message in one of the languages that ``language(for:)`` returns.
  func write(_ content: MailContent, in language: String) -> WrittenMail
}

public struct WrittenMail: Sendable, Equatable {
  /// The subject on one line; empty for a text message.
  public let subject: String
  /// The body as plain text.
  public let body: String
  public let language: String

  public init(subject: String, body: String, language: String) {
    (self.subject, self.body, self.language) = (subject, body, language)
  }
}

public enum MailContent: Sendable {
  case notice(NoticeMail)
  /// A weakened MFA policy, to owners.
  case weakenedPolicy(WeakenedPolicyMail)
  /// Unusual activity in a pool, to owners.
  case alert(AlertMail)
  /// A policy review that is due, to the last reviewer.
  case reviewDue(ReviewDueMail)
  /// A change that a user reported, to administrators.
  case reportedChange(ReportedChangeMail)
  case signInMethod(SignInMethodMail)
  case administratorSignIn(AdministratorSignInMail)
  /// A sign-in of the break-glass account, to the other owners.
  case breakGlass(BreakGlassMail)
  /// A role of an administrator, to the administrator or those who manage administrators.
  case grant(GrantMail)
  case callerCode(CallerCodeMail)
  case enrollmentLink(EnrollmentLinkMail)
  case actionLink(ActionLinkMail)
  case verificationCode(code: String, project: String)
}

/// What a message is for, which administrators see instead of the text; the raw value is stored.
///
/// That of a notice to a user is its ``UserNotice/Kind``.
public enum MessagePurpose: String, CaseIterable, Sendable, SQLBindable {
  case passwordReset = "reset-password"
  case verifyEmail = "verify-email"
  case signIn = "sign-in"
  case changeEmail = "verify-new-email"
  case recoverEmail = "recover-email"
  case revertFactor = "revert-factor"
  case smsEnrollment = "sms-enrollment"
  case smsSecondFactor = "sms-second-factor"
  case smsSignIn = "sms-sign-in"
  case policyWeakened = "notice-policy-weakened"
  case reviewDue = "review-due"
  case passkey
  case administratorAuthenticator = "administrator-authenticator"
  case administratorPassword = "administrator-password"
  case administratorRecoveryCodes = "administrator-recovery-codes"
  case administratorProvider = "administrator-provider"
  case administratorSecondFactors = "administrator-second-factors"
  case changesLocked = "alert-changes-locked"
  case activity = "alert-activity"
  case breakGlass = "break-glass"
  case administratorSignIn = "administrator-sign-in"
  case grantGiven = "grant-given"
  case grantChanged = "grant-changed"
  case grantRevoked = "grant-revoked"
  case grantEnded = "grant-ended"
  case grantEnding = "grant-ending"
  case callerCode = "caller-code"
  /// Stored by earlier versions only.
  case notices = "notice"
  case enrollmentLink = "enrollment-link"
}

/// A change to a user's account.
public struct NoticeMail: Sendable {
  public let notice: UserNotice
  public let pool: Pool
  /// The account's email address; nil if the notice goes to another address, to keep it private.
  public let email: String?
  public let at: Instant
  /// The link to report the change; nil if the user should contact support instead.
  public let reportLink: String?

  public init(
    notice: UserNotice, pool: Pool, email: String?, at: Instant, reportLink: String?
  ) {
    (self.notice, self.pool, self.email) = (notice, pool, email)
    (self.at, self.reportLink) = (at, reportLink)
  }
}

public struct WeakenedPolicyMail: Sendable {
  public let pool: Pool
  public let changes: [PolicyChange]
  /// The name of the actor who changed the policy.
  public let by: String
  public let reason: String?
  public let at: Instant
}

public struct AlertMail: Sendable {
  public let pool: Pool
  public let kind: Alert.Kind
  /// The number of users, or of removals in an hour.
  public let count: Int
  public let at: Instant
  /// The URL of the pool in the console.
  public let link: String
}

/// A code to read back to a support agent.
public struct CallerCodeMail: Sendable {
  public let pool: Pool
  public let email: String
  public let code: String
  public let agent: String

  /// The code in two groups, which is how people read it.
  public var grouped: String { "\(code.prefix(4)) \(code.dropFirst(4))" }
}

public struct ReviewDueMail: Sendable {
  /// The project's own pool.
  public let pool: Pool
  public let signOff: SignOff
  /// Whether it's sent to the administrator who signed off; otherwise, they can't do it anymore.
  public let isToReviewer: Bool
  /// The URL of the review in the console.
  public let link: String
}

public struct ReportedChangeMail: Sendable {
  public struct ReportedAccount: Sendable {
    public let label: String
    public let id: ID<Account>
    /// The URL of its page in the console.
    public let link: String
  }

  public let change: ReportedChange
  /// The reported account; nil if the reader can't search users.
  public let account: ReportedAccount?
  public let at: Instant
}

public struct EnrollmentLinkMail: Sendable {
  public let pool: Pool
  public let email: String
  public let link: String
  public let reportLink: String
  /// Whether it's sent because a sign-in was refused, and not by an agent.
  public let isRequired: Bool
}

/// An action link, such as one to choose a new password.
public struct ActionLinkMail: Sendable {
  public let kind: OutOfBandCode.Kind
  public let project: String
  /// The account's email address, or the new one if the account's isn't verified.
  public let email: String
  /// The new email address, for kinds that change it; nil if the recipient sees only their own.
  public let newEmail: String?
  /// The name of the second factor, for the kind that removes one.
  public let factor: String?
  public let link: String

  public init(
    kind: OutOfBandCode.Kind, project: String, email: String, newEmail: String? = nil,
    factor: String? = nil, link: String
  ) {
    (self.kind, self.project, self.email) = (kind, project, email)
    (self.newEmail, self.factor, self.link) = (newEmail, factor, link)
  }
}
