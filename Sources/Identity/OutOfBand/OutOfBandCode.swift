/// A code in an email action link, which is emailed to a user or returned to a server.
public struct OutOfBandCode: Sendable {
  /// The action of a code.
  public enum Kind: String, CaseIterable, Sendable {
    /// Resets the password.
    case passwordReset = "PASSWORD_RESET"
    /// Verifies the email address.
    case verifyEmail = "VERIFY_EMAIL"
    /// Signs in.
    case signIn = "EMAIL_SIGNIN"
    /// Verifies a new email address and changes the account to it.
    case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
    /// Restores the previous email address.
    case recoverEmail = "RECOVER_EMAIL"
    /// Removes a newly enrolled second factor.
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

  /// The action of the code.
  public let kind: Kind
  /// The user pool.
  public let scope: Scope
  /// The email address it's about; for a recovery, the address to restore.
  public let email: String
  /// The new email address; for a recovery, the account's current address.
  public let newEmail: String?
  /// The second factor to remove.
  public let factor: Factor?
  /// The continue URL, which was checked when the code was created.
  public let continueURL: String?
  /// When it expires.
  public let expiresAt: Instant
  /// When it was used; nil if it wasn't.
  public let usedAt: Instant?
  /// Whether it can't be used because the code of an earlier email address restored that address.
  public internal(set) var isReplaced = false
  /// Whether it expired early, because a backup was restored or because its account's sessions
  /// ended.
  public internal(set) var isExpiredEarly = false
}

/// A code that can be used, with what its page states before it's used.
public struct OpenedCode: Sendable {
  /// The code.
  public let code: OutOfBandCode
  /// The requirements for the new password; empty for a code that doesn't reset one.
  public let passwordRequirements: [PasswordRequirement]
}

/// A request for a code.
public struct OutOfBandRequest: Sendable {
  /// The user that a code is for.
  public enum Subject: Sendable {
    /// The user with an email address.
    case email(String)
    /// The user of a session.
    case session(UserSession)
  }

  /// The action of the code.
  public let kind: OutOfBandCode.Kind
  /// The user that the code is for.
  public let subject: Subject
  /// The new email address.
  public var newEmail: String?
  /// The continue URL.
  public var continueURL: String?
  /// The domain of the link, one of the project's authorized domains; nil for the default.
  public var linkDomain: String?
  /// The API key in the link; nil for the project's first key.
  public var apiKey: String?
  /// The user's preferred language, such as `de` or `pt-BR`.
  public var locale: String?

  /// Creates a request.
  public init(_ kind: OutOfBandCode.Kind, for subject: Subject) {
    self.kind = kind
    self.subject = subject
  }
}

/// A created code and its link, for a server that sends it.
public struct OutOfBandLink: Sendable {
  /// The email address it's about.
  public let email: String
  /// The code; only its digest is stored.
  public let code: String
  /// The link that contains the code.
  public let link: String
}

/// A link that the emulator lists for tests.
public struct ListedLink: Sendable {
  /// The action of its code.
  public let kind: OutOfBandCode.Kind
  /// The email address it's about.
  public let email: String
  /// The new email address.
  public let newEmail: String?
  /// The link.
  public let link: String

  /// The code in the link.
  public var code: String {
    guard let start = link.firstRange(of: "oobCode=")?.upperBound else { return "" }
    return String(link[start...].prefix { $0 != "&" })
  }
}
