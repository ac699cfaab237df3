/// A code that reached somebody outside of the application: in a link that was mailed to them, or
/// that a program was given to hand on.
public struct OutOfBandCode: Sendable {
  /// What a code does.
  public enum Kind: String, CaseIterable, Sendable {
    /// Sets another password.
    case passwordReset = "PASSWORD_RESET"
    /// Shows that the address is the user's.
    case verifyEmail = "VERIFY_EMAIL"
    /// Signs in.
    case signIn = "EMAIL_SIGNIN"
    /// Gives the account another address, once that is known to be the user's.
    case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
    /// Goes back to the address that an account had before.
    case recoverEmail = "RECOVER_EMAIL"
    /// Takes a second factor away that somebody else enrolled.
    case revertFactor = "REVERT_SECOND_FACTOR_ADDITION"

    /// The word that links have for it.
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

    /// How long a code counts, in seconds.
    ///
    /// What lets somebody in is short; what undoes a change must be there after some days away.
    public var lifetime: Int64 {
      switch self {
      case .passwordReset, .signIn: 3_600
      case .verifyEmail, .changeEmail: 3 * 86_400
      case .recoverEmail, .revertFactor: 7 * 86_400
      }
    }
  }

  /// What it does.
  public let kind: Kind
  /// The user pool.
  public let scope: Scope
  /// The address it is about; of a recovery, the one to go back to.
  public let email: String
  /// The address to change to; of a recovery, the one that the account has now.
  public let newEmail: String?
  /// The second factor that it takes away.
  public let factor: Factor?
  /// Where to go on to afterwards, checked when the code was made.
  public let continueURL: String?
  /// Until when it counts.
  public let expiresAt: Instant
  /// When it was used; nil when it was not.
  public let usedAt: Instant?
}

/// What somebody asks a code for.
public struct OutOfBandRequest: Sendable {
  /// Whose code it is.
  public enum Subject: Sendable {
    /// Whoever has an address.
    case email(String)
    /// The user of a session.
    case session(UserSession)
  }

  /// What the code is to do.
  public let kind: OutOfBandCode.Kind
  /// Whose it is.
  public let subject: Subject
  /// The address to change to.
  public var newEmail: String?
  /// Where to go on to afterwards.
  public var continueURL: String?
  /// The domain of the link, one of the project's authorized domains; nil for the usual address.
  public var linkDomain: String?
  /// The API key for the link; the project's first when nil.
  public var apiKey: String?
  /// The language that the reader prefers, such as `de` or `pt-BR`.
  public var locale: String?

  /// Makes a request.
  public init(_ kind: OutOfBandCode.Kind, for subject: Subject) {
    self.kind = kind
    self.subject = subject
  }
}

/// A code that was made, for whoever may hand it on.
public struct OutOfBandLink: Sendable {
  /// The address it is about.
  public let email: String
  /// The code; it is kept only as a digest.
  public let code: String
  /// The link with the code in it.
  public let link: String
}

/// A link that the emulator shows to tests.
public struct ListedLink: Sendable {
  /// What its code does.
  public let kind: OutOfBandCode.Kind
  /// The address it is about.
  public let email: String
  /// The address to change to.
  public let newEmail: String?
  /// The link.
  public let link: String

  /// The code in the link.
  public var code: String {
    guard let start = link.firstRange(of: "oobCode=")?.upperBound else { return "" }
    return String(link[start...].prefix { $0 != "&" })
  }
}
