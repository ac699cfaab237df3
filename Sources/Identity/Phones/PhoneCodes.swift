import Crypto
import Database

/// The request for a code.
public struct PhoneRequest: Sendable {
  /// The number, in E.164 format.
  public var phoneNumber: String
  /// The language of the message, such as `de` or `pt-BR`.
  public var language: String
  /// The IP address of the request.
  public var address: String

  /// Creates a request.
  public init(phoneNumber: String, language: String, address: String) {
    self.phoneNumber = phoneNumber
    self.language = language
    self.address = address
  }
}

/// Generates and sends codes.
struct PhoneCodes {
  let store: Store
  let tickets: Sealer

  /// The purpose of a code.
  struct Use {
    let kind: Ticket.Kind
    let purpose: String
    var account: Account?
    var provider = SignInProvider.phone
    var factor: ID<Factor>?
    var pending: [UInt8] = []
  }

  /// The result of sending a code.
  enum Sent {
    /// The code was sent; the client sends this session back with it.
    case session(String)
    /// Messages to the number's region aren't allowed.
    case refusedRegion
    /// Too many messages were sent; retry after this time.
    case blocked(until: Instant)
  }

  /// Generates a code for a number and writes its message.
  ///
  /// Messages cost money, so they are limited by number, account, and network, and those that this
  /// server sends by pool and region, too. Test numbers have a
  /// fixed code and get no message, and the emulator profile sends none at all; neither counts
  /// toward the limits.
  func send(
    _ request: PhoneRequest, for use: Use, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Sent {
    let settings = try SMSSettings.find(scope, connection)
    let number = request.phoneNumber
    let testCode = settings.testCode(of: number)
    if testCode == nil {
      guard settings.allows(number) else { return .refusedRegion }
      if store.profile == .standalone,
        let until = try count(request, use.account, in: scope, at: now, connection)
      {
        return .blocked(until: until)
      }
    }
    let code = testCode ?? store.random.text(PhoneCode.digits, from: "0123456789")
    let ticket = Ticket(
      scope: scope, account: use.account, provider: use.provider,
      secret: PhoneCode.payload(
        code: code, phoneNumber: number, pending: use.pending, factor: use.factor),
      at: now, random: store.random)
    let sessionInfo = try ticket.sealed(use.kind, by: tickets)
    if testCode == nil {
      let text = store.outbox.written(
        .verificationCode(code: code, project: scope.projectName), for: request.language)
      try store.outbox.add(
        OutboxMessage(
          channel: .sms, purpose: use.purpose, recipient: number, language: request.language,
          subject: "", body: text.body,
          expiresAt: now.advanced(bySeconds: PhoneCode.lifetime)),
        to: use.account, in: scope, at: now, connection)
    }
    if store.profile == .emulator {
      try connection.run(
        """
        INSERT INTO verification_code (session_id, scope_key, session_info)
        VALUES (\(ticket.id), \(scope.key), \(sessionInfo))
        """)
    }
    return .session(sessionInfo)
  }

  /// Counts a message; returns when the next one may be sent if there were too many.
  private func count(
    _ request: PhoneRequest, _ account: Account?, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    var counters = [
      ThrottleCounter("sms number \(request.phoneNumber)", .smsOfNumber, .name),
      ThrottleCounter(
        "sms network \(Network.name(of: request.address))", .smsOfNetwork, .network),
    ]
    if let account {
      counters.append(ThrottleCounter("sms account \(account.key)", .smsOfAccount, .account))
    }
    // Nothing is counted where nothing is sent.
    if case .blocked(let until) = try ThrottleCharge.charge(counters, at: now, connection) {
      return until
    }
    let until = try store.outbox.smsLimits?.charge(
      request.phoneNumber, forSignIn: account == nil, in: scope, at: now, connection)
    if until != nil { store.outbox.smsRejections.add() }
    return until
  }

  /// Deletes expired codes.
  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -PhoneCode.lifetime)
    return try connection.deletePart(
      "FROM verification_code WHERE session_id < \(TimeOrderedID.first(at: oldest))",
      of: "verification_code", by: "session_id")
  }
}

extension Throttle {
  /// Text messages to one number: four immediately, then one after 1 minute, 2 minutes, and so on
  /// up to an hour.
  ///
  /// One is forgotten every 15 minutes.
  static let smsOfNumber = Throttle(free: 4, first: 60, longest: 3_600, leak: 900)
  /// Text messages for one account, to any number.
  static let smsOfAccount = Throttle(free: 9, first: 60, longest: 3_600, leak: 900)
  /// Text messages requested from one network, which many people may share.
  static let smsOfNetwork = Throttle(free: 49, first: 60, longest: 3_600, leak: 60)
}

/// A code generated in the emulator profile, which sends no messages.
public struct VerificationCode: Sendable {
  /// The number that the code is for.
  public let phoneNumber: String
  /// The session that the client sends back with the code.
  public let sessionInfo: String
  /// The code.
  public let code: String
}
