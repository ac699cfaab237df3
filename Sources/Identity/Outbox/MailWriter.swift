/// Writes the text of messages to users and administrators.
public protocol MailWriter: Sendable {
  /// Returns the language of the text for a preferred locale, such as `de` for `de-AT`; the default
  /// language if there's no text in the preferred one or the locale is nil.
  func language(for locale: String?) -> String

  /// Writes a message in one of the languages that ``language(for:)`` returns.
  func write(_ content: MailContent, in language: String) -> WrittenMail
}

/// The text of a message.
public struct WrittenMail: Sendable, Equatable {
  /// The subject on one line; empty for a text message.
  public let subject: String
  /// The body as plain text.
  public let body: String
  /// The language of the text.
  public let language: String

  /// Creates a text.
  public init(subject: String, body: String, language: String) {
    (self.subject, self.body, self.language) = (subject, body, language)
  }
}

/// The facts that a message reports.
public enum MailContent: Sendable {
  /// A change to a user's account, to the user.
  case notice(NoticeMail)
  /// A weakened MFA policy, to owners.
  case weakenedPolicy(WeakenedPolicyMail)
  /// Unusual activity in a user pool, to owners.
  case alert(AlertMail)
  /// A policy review that is due, to the last reviewer.
  case reviewDue(ReviewDueMail)
  /// A change that a user reported, to administrators.
  case reportedChange(ReportedChangeMail)
  /// A change to how an administrator signs in, to the administrator.
  case signInMethod(SignInMethodMail)
  /// A sign-in to the console from a new browser, to the administrator.
  case administratorSignIn(AdministratorSignInMail)
  /// A sign-in of the break-glass account, to the other owners.
  case breakGlass(BreakGlassMail)
  /// A role of an administrator, to the administrator or those who manage administrators.
  case grant(GrantMail)
  /// A code to read back to a support agent, to a user.
  case callerCode(CallerCodeMail)
  /// A link to set up an authenticator app, to a user.
  case enrollmentLink(EnrollmentLinkMail)
  /// An action link, to a user.
  case actionLink(ActionLinkMail)
  /// A verification code, as a text message to a phone.
  case verificationCode(code: String, project: String)
}

/// A change to a user's account.
public struct NoticeMail: Sendable {
  /// The change.
  public let notice: UserNotice
  /// The user pool.
  public let scope: Scope
  /// The account's email address; nil if the notice goes to another address, to keep it private.
  public let email: String?
  /// The time of the change.
  public let at: Instant
  /// The link to report the change; nil if the user should contact support instead.
  public let reportLink: String?

  /// Creates the facts.
  public init(
    notice: UserNotice, scope: Scope, email: String?, at: Instant, reportLink: String?
  ) {
    (self.notice, self.scope, self.email) = (notice, scope, email)
    (self.at, self.reportLink) = (at, reportLink)
  }
}

/// A weakened MFA policy of a project or tenant.
public struct WeakenedPolicyMail: Sendable {
  /// The user pool.
  public let scope: Scope
  /// The fields that changed.
  public let changes: [PolicyChange]
  /// The name of the actor who changed the policy.
  public let by: String
  /// The reason; nil if none was given.
  public let reason: String?
  /// The time of the change.
  public let at: Instant
}

/// Unusual activity in a user pool.
public struct AlertMail: Sendable {
  /// The user pool.
  public let scope: Scope
  /// What is unusual.
  public let kind: Alert.Kind
  /// The number of users, or of removals in an hour.
  public let count: Int
  /// When it began.
  public let at: Instant
  /// The URL of the pool in the console.
  public let link: String
}

/// A code to read back to a support agent.
public struct CallerCodeMail: Sendable {
  /// The user pool.
  public let scope: Scope
  /// The account's email address.
  public let email: String
  /// The code.
  public let code: String
  /// The name of the agent.
  public let agent: String

  /// The code in two groups, which is how people read it.
  public var grouped: String { "\(code.prefix(4)) \(code.dropFirst(4))" }
}

/// A policy review that is due.
public struct ReviewDueMail: Sendable {
  /// The project's own user pool.
  public let scope: Scope
  /// The last sign-off.
  public let signOff: SignOff
  /// Whether it's sent to the administrator who signed off; otherwise, they can't do it anymore.
  public let isToReviewer: Bool
  /// The URL of the review in the console.
  public let link: String
}

/// A change that a user reported.
public struct ReportedChangeMail: Sendable {
  /// The reported account.
  public struct ReportedAccount: Sendable {
    /// The account's display label.
    public let label: String
    /// The account's ID.
    public let id: ID<Account>
    /// The URL of its page in the console.
    public let link: String
  }

  /// The reported change.
  public let change: ReportedChange
  /// The reported account; nil if the reader can't search users.
  public let account: ReportedAccount?
  /// The time of the report.
  public let at: Instant
}

/// A link to set up an authenticator app.
public struct EnrollmentLinkMail: Sendable {
  /// The user pool.
  public let scope: Scope
  /// The account's email address.
  public let email: String
  /// The link.
  public let link: String
  /// The link to report the change.
  public let reportLink: String
  /// Whether it's sent because a sign-in was refused, and not by an agent.
  public let isRequired: Bool
}

/// An action link, such as one to choose a new password.
public struct ActionLinkMail: Sendable {
  /// The action of the link.
  public let kind: OutOfBandCode.Kind
  /// The project's name.
  public let project: String
  /// The account's email address, or the new one if the account's isn't verified.
  public let email: String
  /// The new email address, for kinds that change it; nil if the recipient sees only their own.
  public let newEmail: String?
  /// The name of the second factor, for the kind that removes one.
  public let factor: String?
  /// The link.
  public let link: String

  /// Creates the facts.
  public init(
    kind: OutOfBandCode.Kind, project: String, email: String, newEmail: String? = nil,
    factor: String? = nil, link: String
  ) {
    (self.kind, self.project, self.email) = (kind, project, email)
    (self.newEmail, self.factor, self.link) = (newEmail, factor, link)
  }
}
