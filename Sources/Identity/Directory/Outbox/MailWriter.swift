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
  /// Sign-in methods that a program changed, to owners.
  case narrowedSignIn(NarrowedSignInMail)
  /// Unusual activity in a pool, to owners.
  case alert(AlertMail)
  /// Many users that an administrator saw within an hour, to owners.
  case usersShown(ShownUsersMail)
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
  case signInNarrowed = "notice-sign-in-narrowed"
  case reviewDue = "review-due"
  case passkey
  case administratorAuthenticator = "administrator-authenticator"
  case administratorPassword = "administrator-password"
  case administratorRecoveryCodes = "administrator-recovery-codes"
  case administratorProvider = "administrator-provider"
  case administratorSecondFactors = "administrator-second-factors"
  case changesLocked = "alert-changes-locked"
  case activity = "alert-activity"
  case usersShown = "alert-users-shown"
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
  case linkCode = "link-code"
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
}

public struct WeakenedPolicyMail: Sendable {
  public let pool: Pool
  public let changes: [PolicyChange]
  /// The name of the actor who changed the policy.
  public let by: String
  public let reason: String?
  public let at: Instant
}

/// A change of sign-in methods that leaves users with a second factor without a way to sign in.
public struct NarrowedSignInMail: Sendable {
  public let pool: Pool
  public let losesPassword: Bool
  public let losesEmailLink: Bool
  /// The ID of a provider that was changed or removed; nil if none was.
  public let provider: String?
  public let found: LeftOutside
  /// The name of the program that changed them.
  public let by: String
  public let at: Instant
  /// The URL of the pool's sign-in methods in the console.
  public let link: String
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

/// A code to read back to a support agent, or to type on the page of a campaign's link.
public struct CallerCodeMail: Sendable {
  public let pool: Pool
  public let email: String
  public let code: String
  /// The agent's name; nil for a link.
  public let agent: String?

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
  /// How the account signs in until an owner decides.
  public let signIn: AccountLock.SignIn
  public let at: Instant
}

public struct EnrollmentLinkMail: Sendable {
  public let pool: Pool
  public let email: String
  public let link: String
  public let reportLink: String
  public let cause: Cause

  public enum Cause: Sendable {
    case agent
    /// A sign-in was refused, because it had no second factor.
    case refusedSignIn
    /// A campaign, with the administrator's sentence, which may be empty, and the end of the link.
    case campaign(sentence: String, until: Instant)
  }
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
}

/// Makes names that people choose safe for the text of a message.
public enum SafeName {
  /// The fewest digits that mail clients turn into a phone number.
  private static let leastLinkedDigits = 7
  /// How many of them are left.
  private static let shownDigits = 4

  /// Returns a name on one line, cut to `longest` scalars, without what mail clients turn into links:
  /// web addresses, email addresses, and phone numbers, of which the last four digits are left.
  public static func unlinked(_ name: String, longest: Int = Factor.longestName) -> String {
    // A client may ignore an invisible character between a dot and the letter after it.
    let shown = plain(name).unicodeScalars.lazy.filter { !SearchText.isInvisible($0) }
    let scalars = withoutPhoneNumbers(Array(shown.prefix(longest)))
    var result = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      switch scalar {
      case "@", "\u{FE6B}", "\u{FF20}", "/", "\u{FF0F}", "\\", "\u{FF3C}": result.append(" ")
      case ".", "\u{2024}", "\u{3002}", "\u{FE12}", "\u{FE52}", "\u{FF0E}", "\u{FF61}":
        result.append(startsWord(next) ? " " : scalar)
      case ":", "\u{FE13}", "\u{FE55}", "\u{FF1A}":
        let isScheme = index > 0 && scalars[index - 1].properties.isAlphabetic
        result.append(startsWord(next) || isScheme && next != " " ? " " : scalar)
      case "+", "\u{FE62}", "\u{FF0B}": if !isDigit(next) { result.append(scalar) }
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// Returns text in which numbers as long as phone numbers, with or without separators, are replaced
  /// by their last digits.
  private static func withoutPhoneNumbers(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var result: [Unicode.Scalar] = []
    var index = 0
    while index < scalars.count {
      guard isDigit(scalars[index]) else {
        result.append(scalars[index])
        index += 1
        continue
      }
      var digits: [Unicode.Scalar] = []
      var (next, end) = (index, index)
      while next < scalars.count {
        if isDigit(scalars[next]) {
          digits.append(scalars[next])
          end = next + 1
        } else if !separatesDigits(scalars[next]) {
          break
        }
        next += 1
      }
      if digits.count < leastLinkedDigits {
        result += scalars[index..<end]
      } else {
        result.append("…")
        result += digits.suffix(shownDigits)
      }
      index = end
    }
    return result
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .decimalNumber
  }

  /// Whether phone numbers have the character between their digits.
  private static func separatesDigits(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ".", "/", "+", "~", "_", "·", "•", "*", "\u{2024}", "\u{2212}", "\u{223C}", "\u{30FC}",
      "\u{FE52}", "\u{FE62}", "\u{FF0B}", "\u{FF0E}", "\u{FF0F}", "\u{FF5E}":
      return true
    default:
      switch scalar.properties.generalCategory {
      case .dashPunctuation, .openPunctuation, .closePunctuation: return true
      default: return scalar.properties.isWhitespace
      }
    }
  }

  /// Whether a character continues an address after a dot or a colon.
  private static func startsWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: scalar.properties.isAlphabetic || scalar == "/"
    }
  }

  /// Returns a name on one line, without control characters and bidirectional marks.
  public static func plain(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: result.append(" ")
      case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: continue
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// Returns whether text is on one line: it has no control characters and no line separators.
  public static func isOneLine(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
      default: true
      }
    }
  }

  /// Returns text on one line, without control and formatting characters, cut to `longest` scalars.
  public static func oneLine(_ text: String, longest: Int = 100) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: " "
      default: scalar
      }
    }
    var line = String.UnicodeScalarView()
    line.append(contentsOf: scalars.prefix(longest))
    return String(line)
  }
}
