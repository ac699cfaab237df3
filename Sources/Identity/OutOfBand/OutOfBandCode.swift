public import Database

/// A code in an email action link, which is emailed to a user or returned to a server.
public struct OutOfBandCode: Sendable {
  public enum Kind: String, CaseIterable, Sendable, SQLConvertible {
    case passwordReset = "PASSWORD_RESET"
    case verifyEmail = "VERIFY_EMAIL"
    case signIn = "EMAIL_SIGNIN"
    case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
    case recoverEmail = "RECOVER_EMAIL"
    case revertFactor = "REVERT_SECOND_FACTOR_ADDITION"

    /// The `mode` parameter in links.
    public var mode: String {
      switch self {
      case .passwordReset: "resetPassword"
      case .verifyEmail: "verifyEmail"
      case .signIn: "signIn"
      case .changeEmail: "verifyAndChangeEmail"
      case .recoverEmail: "recoverEmail"
      case .revertFactor: "revertSecondFactorAddition"
      }
    }

    /// The lifetime of a code, in seconds.
    ///
    /// Codes that give access are short-lived. Codes that undo a change last longer, because users
    /// may read the email days later.
    public var lifetime: Int64 {
      switch self {
      case .passwordReset, .signIn: 3_600
      case .verifyEmail, .changeEmail: 3 * 86_400
      case .recoverEmail, .revertFactor: 7 * 86_400
      }
    }
  }

  public let kind: Kind
  public let pool: Pool
  /// The email address it's about; for a recovery, the address to restore.
  public let email: String
  /// The new email address; for a recovery, the account's current address.
  public let newEmail: String?
  /// The second factor to remove.
  public let factor: Factor?
  /// The continue URL, which was checked when the code was created.
  public let continueURL: String?
  public let expiresAt: Instant
  public let usedAt: Instant?
  /// Whether it can't be used because the code of an earlier email address restored that address.
  public internal(set) var isReplaced = false
  /// Whether it expired early, because a backup was restored or because its account's sessions
  /// ended.
  public internal(set) var isExpiredEarly = false
}

/// A code that can be used, with what its page states before it's used.
public struct OpenedCode: Sendable {
  public let code: OutOfBandCode
  /// The requirements for the new password; empty for a code that doesn't reset one.
  public let passwordRequirements: [PasswordRequirement]
}

public struct OutOfBandRequest: Sendable {
  public enum Subject: Sendable {
    case email(String)
    case session(UserSession)
  }

  public let kind: OutOfBandCode.Kind
  public let subject: Subject
  public var newEmail: String?
  public var continueURL: String?
  /// The domain of the link, one of the project's authorized domains; nil for the default.
  public var linkDomain: String?
  /// The API key in the link; nil for the project's first key.
  public var apiKey: String?
  /// The user's preferred language, such as `de` or `pt-BR`.
  public var locale: String?

  public init(_ kind: OutOfBandCode.Kind, for subject: Subject) {
    self.kind = kind
    self.subject = subject
  }
}

/// A created code and its link, for a server that sends it.
public struct OutOfBandLink: Sendable {
  public let email: String
  /// The code; only its digest is stored.
  public let code: String
  public let link: String
}

/// A link that the emulator lists for tests.
public struct ListedLink: Sendable {
  public let kind: OutOfBandCode.Kind
  public let email: String
  public let newEmail: String?
  public let link: String

  public var code: String {
    guard let start = link.firstRange(of: "oobCode=")?.upperBound else { return "" }
    return String(link[start...].prefix { $0 != "&" })
  }
}
