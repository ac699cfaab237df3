import Crypto
public import Database
import OTP

/// How an agent verified a caller; the raw value is the stored name.
public enum CallerProof: String, CaseIterable, Sendable, SQLConvertible {
  /// The caller read back a code that was sent to the user's verified email address.
  case emailCode = "email-code"
}

public struct CallerStatus: Sendable, Equatable {
  public let isRequired: Bool
  /// The address for a code; nil if there's none, so that no code can be sent.
  public let email: String?
  public let sent: Sent?

  public struct Sent: Sendable, Equatable {
    public let at: Instant
    public let expiresAt: Instant
  }
}

extension ConsoleAction {
  /// Whether the action can help someone else into an account, so that a pool can require a
  /// verified caller for it.
  ///
  /// Actions that only protect an account, such as a suspension, must never wait for a caller.
  public var letsCallerIn: Bool {
    switch self {
    case .removeFactor, .removeAllFactors, .restoreFactors, .resumeFactor, .unlockCodes,
      .createTemporaryCode, .sendEnrollmentLink, .exemptUser, .allowChanges, .resynchronizeFactor:
      true
    default: false
    }
  }

  /// Whether a second administrator can decide about the action where a caller can't be verified.
  var canWaitForApproval: Bool { requirements.secondApprover == .lastFactor }
}

extension Account {
  var verifiedEmail: String? { emailVerified ? email : nil }
}

/// A stored code for one agent and one account.
///
/// Eight digits are few, so each code has its own random key, few tries, and ten minutes.
struct CallerCode {
  static let length = 8
  /// How long a code is valid, in seconds.
  static let lifetime: Int64 = 600
  /// The number of wrong codes after which a code is invalid.
  static let tries = 5
  private static let keyLength = 32

  let email: String
  let key: Secret
  let digest: [UInt8]
  let failures: Int
  let sent: CallerStatus.Sent

  func isValid(for account: Account, at now: Instant) -> Bool {
    failures < Self.tries && sent.expiresAt.pending(for: Self.lifetime, at: now) != nil
      && account.verifiedEmail == email
  }

  /// Returns true for the code, without spaces and hyphens.
  func matches(_ code: TypedCode) throws -> Bool {
    constantTimeEqual(try Self.digest(code.text, key), digest)
  }

  private static func digest(_ digits: String, _ key: Secret) throws -> [UInt8] {
    try HMAC.code(.sha256, key: key, message: Array(digits.utf8))
  }

  static func find(
    _ account: Account, by agent: ID<Administrator>, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> CallerCode? {
    let code = try connection.first(
      """
      SELECT email, digest_key, code_digest, failures, sent_at, expires_at FROM caller_code
      WHERE account_key = \(account.key) AND administrator_id = \(agent)
      """
    ) { row in
      CallerCode(
        email: try row.next(), key: Secret(try row.next() as [UInt8]),
        digest: try row.next(), failures: try row.next(),
        sent: CallerStatus.Sent(
          at: try row.next(), expiresAt: try row.next()))
    }
    return code.flatMap { $0.isValid(for: account, at: now) ? $0 : nil }
  }

  /// Stores a new code, replacing the agent's former one for the account.
  static func make(
    for account: Account, at email: String, by agent: ID<Administrator>, random: RandomSource,
    until expires: Instant, at now: Instant, _ connection: borrowing Connection
  ) throws -> String {
    let digits = random.text(length, from: "0123456789")
    let key = Secret(random.bytes(keyLength))
    try connection.run(
      """
      INSERT INTO caller_code (account_key, administrator_id, email, digest_key,
        code_digest, sent_at, expires_at)
      VALUES (\(account.key), \(agent), \(email), \(key.revealedBytes),
        \(try digest(digits, key)), \(now), \(expires))
      ON CONFLICT (account_key, administrator_id) DO UPDATE SET
        email = excluded.email, digest_key = excluded.digest_key,
        code_digest = excluded.code_digest, failures = 0, sent_at = excluded.sent_at,
        expires_at = excluded.expires_at
      """)
    return digits
  }

  static func fail(
    _ account: Account, by agent: ID<Administrator>, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE caller_code SET failures = failures + 1
      WHERE account_key = \(account.key) AND administrator_id = \(agent)
      """)
  }

  static func delete(
    _ account: Account, by agent: ID<Administrator>, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      DELETE FROM caller_code
      WHERE account_key = \(account.key) AND administrator_id = \(agent)
      """)
  }

  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM caller_code WHERE expires_at <= \(now)", of: "caller_code",
      by: "account_key, administrator_id")
  }
}

extension Support {
  /// The number of codes sent to one user in an hour.
  static let callerCodesPerUser = 5
  /// The number of codes that one agent sends in an hour.
  static let callerCodesPerAgent = 30

  /// Sends a code to the account's verified email address, which the user reads back to the agent.
  ///
  /// It replaces the agent's former code for the account.
  ///
  /// - Returns: The email address.
  public func sendCallerCode(
    to id: ID<Account>, in pool: Pool, _ request: ActionRequest
  ) async throws -> ActionOutcome<String> {
    let user = ActionSubject<Account>.user(id, in: pool)
    let addressee = ActionSubject<Account>(target: user.target) { context, connection in
      var found = try user.read(context, connection)
      if found.support?.rules.callerVerification == .off {
        found.denial = .switchedOff
      } else if found.content.verifiedEmail == nil {
        found.denial = .callerUnverifiable
      }
      found.support?.count = 0
      return found
    }
    return try await store.run(.sendCallerCode, by: .console(request), on: addressee) {
      account, context, connection in
      guard let email = account.verifiedEmail else { throw ActionDenial.callerUnverifiable }
      let agent = request.agent.administrator
      let quotas = [
        (CounterName.callerCodes(to: account.key), Self.callerCodesPerUser),
        (CounterName.callerCodes(of: agent.id), Self.callerCodesPerAgent),
      ]
      for (name, limit) in quotas {
        if let until = try HourlyQuota.take(name, limit: limit, at: context.now, connection) {
          throw ActionDenial.tooManyCallerCodes(until: until)
        }
      }
      try send(to: account, at: email, in: pool, by: agent, context, connection)
      return email
    }
  }

  private func send(
    to account: Account, at email: String, in pool: Pool, by agent: Administrator,
    _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    let now = context.now
    let expires = now.advanced(bySeconds: CallerCode.lifetime)
    let code = try CallerCode.make(
      for: account, at: email, by: agent.id, random: store.random, until: expires, at: now,
      connection)
    let mail = CallerCodeMail(
      pool: pool, email: email, code: code, agent: agent.displayName)
    try store.outbox.add(
      OutboxMessage(
        purpose: MessagePurpose.callerCode.rawValue, recipient: email,
        text: store.outbox.written(.callerCode(mail)),
        from: try PoolEmailSettings.read(pool, connection).sender(of: .callerCode),
        expiresAt: expires),
      to: account, in: pool, at: now, connection)
    var entry = AuditEntry(.accountSendCallerCode, of: account, in: pool)
    entry.add(.linkEmail, .text(email))
    entry.add(.expiresAt, .instant(expires))
    try context.record(entry, connection)
  }
}

enum CallerCheck {
  /// No code was read back, and none is required.
  case unverified
  case verified(CallerProof)
  /// The code is missing, wrong, or no longer valid.
  case invalid(ActionInputError)
  /// A verified caller is required, and no code can be sent.
  case impossible
}

extension CallerCheck {
  /// Checks the code that a caller read back, and counts and records a wrong one; text that isn't a
  /// code is only rejected.
  ///
  /// A right code stays valid until the action is done, so that an error in another field doesn't
  /// cost the caller a new email.
  static func check(
    _ action: ConsoleAction, _ account: Account, in pool: Pool, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> Self {
    // The email with a new code goes out without the former one.
    guard let request = context.request, action != .sendCallerCode,
      context.rules.callerVerification != .off
    else {
      return .unverified
    }
    let isRequired = context.rules.callerVerification == .required && action.letsCallerIn
    guard account.verifiedEmail != nil else {
      return isRequired && !action.canWaitForApproval ? .impossible : .unverified
    }
    guard !request.callerCode.isEmpty else {
      return isRequired ? .invalid(.callerCodeRequired) : .unverified
    }
    let (agent, now) = (request.agent.administrator.id, context.now)
    guard let code = try CallerCode.find(account, by: agent, at: now, connection) else {
      return .invalid(.callerCodeExpired)
    }
    // Text that isn't a code can't be a guess, so it isn't counted.
    guard request.callerCode.isDigits(CallerCode.length) else {
      return .invalid(.callerCodeMalformed)
    }
    guard try !code.matches(request.callerCode) else {
      return .verified(.emailCode)
    }
    try CallerCode.fail(account, by: agent, connection)
    let failures = code.failures + 1
    var entry = AuditEntry(.accountRefuseCallerCode, of: account, in: pool)
    entry.add(.wrongCodes, .number(failures))
    try entry.record(by: request.author, at: now, connection)
    let left = CallerCode.tries - failures
    return .invalid(left > 0 ? .callerCodeWrong(left: left) : .callerCodeExpired)
  }
}

extension CallerStatus {
  /// Returns what an agent can do to verify the caller; nil where the pool doesn't offer it.
  static func find(
    _ action: ConsoleAction, _ agent: ID<Administrator>, about account: Account,
    _ settings: SupportRules, at now: Instant, _ connection: borrowing Connection
  ) throws -> Self? {
    guard settings.callerVerification != .off else { return nil }
    return Self(
      isRequired: settings.callerVerification == .required && action.letsCallerIn,
      email: account.verifiedEmail,
      sent: try CallerCode.find(account, by: agent, at: now, connection)?.sent)
  }
}
