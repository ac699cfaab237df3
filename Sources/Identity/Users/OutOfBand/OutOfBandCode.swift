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

/// How a link that an app asks for opens the app, where it's installed.
public enum AppLink: Sendable {
  /// The app uses the code.
  case code
  /// The app opens the continue URL, once the page of this server has used the code.
  case continuation
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
  /// How the link opens an app; nil for a link without an app.
  public var app: AppLink?
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
    // The link of an app's link is encoded; a code has nothing to encode.
    let start = ["oobCode=", "oobCode%3D"].compactMap { link.firstRange(of: $0)?.upperBound }.first
    return start.map { String(link[$0...].prefix { $0 != "&" && $0 != "%" }) } ?? ""
  }
}

public enum OutOfBandError: Error, Sendable {
  /// The code doesn't exist, belongs to another pool, has another action, or no longer applies to
  /// the account.
  case invalidCode
  case expiredCode
  case usedCode
  case emailNotFound
  case userNotFound
  case userDisabled
  case missingEmail
  case invalidEmail
  case invalidNewEmail
  case emailExists
  /// The code was sent to a different email address.
  case emailMismatch
  /// The continue URL isn't an absolute http or https URL with a host.
  case invalidContinueURL
  /// The continue URL isn't on an authorized domain.
  case unauthorizedDomain
  case unknownLinkDomain
  /// The sign-in method is disabled in the pool.
  case operationNotAllowed
  case passwordLoginDisabled
  /// The hourly email limit of the address or network is reached.
  case tooManyMails(OutOfBandCode.Kind, until: Instant)
  /// The user reported a change, so the account is locked until an owner has decided.
  case changesLocked
  /// The factor is suspended; it remains required at sign-in and can't be removed with a link until
  /// the suspension ends.
  case factorSuspended
  /// The change to the account is invalid, such as a weak password.
  case account(AccountError)
}

extension OutOfBandError {
  init(_ error: AccountError) {
    switch error {
    case .emailExists: self = .emailExists
    default: self = .account(error)
    }
  }

  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as AccountError {
      throw OutOfBandError(error)
    }
  }
}

/// What ends an unused code before it expires.
enum CodeEnd: CaseIterable {
  /// A newer code of its kind, for the same account or address.
  case newerCode
  /// The account gets another password, or has none anymore.
  case password
  /// The account gets another email address, or has none anymore.
  case email
  /// The account is disabled, enabled, or deleted.
  case state
  case sessions
}

extension OutOfBandCode.Kind {
  /// What ends unused codes of this kind.
  ///
  /// Codes that give access end with everything that they were requested for. A code that verifies an
  /// address proves access to it, whatever the password, and codes that undo a change have to outlast
  /// what the person who made the change does next.
  var ends: Set<CodeEnd> {
    switch self {
    case .passwordReset, .signIn: [.newerCode, .password, .email, .state]
    case .changeEmail: [.newerCode, .password, .email, .state, .sessions]
    case .verifyEmail: [.email, .state]
    case .recoverEmail, .revertFactor: []
    }
  }
}

extension OutOfBandRecord {
  /// Ends the unused codes of an account, and those that sign in with its email address.
  ///
  /// `account` is the account as it was before.
  static func end(
    by ends: Set<CodeEnd>, of account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws(DatabaseError) {
    let kinds = OutOfBandCode.Kind.allCases.filter { !$0.ends.isDisjoint(with: ends) }
    guard !kinds.isEmpty else { return }
    try void(kinds, of: account.key, at: now, connection)
    if kinds.contains(.signIn), let email = account.email {
      try voidSignIns(with: AccountRules.folded(email: email), in: pool, at: now, connection)
    }
  }

  /// Ends the unused codes of an account that end with its sessions: one of these may have requested
  /// them.
  static func endWithSessions(
    of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    let kinds = OutOfBandCode.Kind.allCases.filter { $0.ends.contains(.sessions) }
    try void(kinds, of: account, at: now, connection)
  }

  static func endEarlier(
    than new: New, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    guard new.kind.ends.contains(.newerCode) else { return }
    if let account = new.account {
      try void([new.kind], of: account.key, at: now, connection)
    } else {
      try voidSignIns(with: new.email, in: new.pool, at: now, connection)
    }
  }

  /// A void code expired before it was created, so it's invalid instead of late.
  private static func void(
    _ kinds: [OutOfBandCode.Kind], of account: Int64, at now: Instant,
    _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try connection.run(
      """
      UPDATE oob_code SET expires_at = created_at - 1, link = NULL
      WHERE account_key = \(account) AND kind IN (\(SQL.list(kinds)))
        AND used_at IS NULL AND expires_at > \(now)
      """)
  }

  /// Voids the unused codes that sign in with an address, which are of no account.
  private static func voidSignIns(
    with email: String, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try connection.run(
      """
      UPDATE oob_code \(index: "oob_code_by_email") SET expires_at = created_at - 1, link = NULL
      WHERE scope_key = \(pool.key) AND email = \(email) AND account_key IS NULL
        AND used_at IS NULL AND expires_at > \(now)
      """)
  }
}
