import Crypto
import Database

/// Who asks for a code, and in which language.
public struct PhoneRequest: Sendable {
  /// The number, in E.164 form.
  public var phoneNumber: String
  /// The language of the message, as in `de` or `pt-BR`.
  public var language: String
  /// The address that the request came from.
  public var address: String

  /// Makes a request.
  public init(phoneNumber: String, language: String, address: String) {
    self.phoneNumber = phoneNumber
    self.language = language
    self.address = address
  }
}

/// Makes codes and sends them.
struct PhoneCodes {
  let store: Store
  let tickets: Sealer

  /// What a code is for.
  struct Use {
    let kind: Ticket.Kind
    let purpose: String
    var account: Account?
    var provider = SignInProvider.phone
    var factor: ID<Factor>?
    var pending: [UInt8] = []
  }

  /// What became of sending.
  enum Sent {
    /// The session that the code comes back with.
    case session(String)
    /// Messages do not go to the number's region.
    case refusedRegion
    /// Too many were sent; from then on one may try again.
    case blocked(until: Instant)
  }

  /// Makes a code for a number and writes its message.
  ///
  /// Messages cost money, so they are counted by number, account and network. A number for tests
  /// has a fixed code and gets none, and the emulator profile sends none at all; both are free.
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
        let until = try count(request, use.account, at: now, connection)
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
      try store.outbox.add(
        OutboxMessage(
          channel: .sms, purpose: use.purpose, recipient: number, language: request.language,
          subject: "", body: "\(code) is your verification code for \(scope.projectName).",
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

  /// Counts a message; until when none is sent, when there were too many.
  private func count(
    _ request: PhoneRequest, _ account: Account?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    var counters = [
      GuessCounter("sms number \(request.phoneNumber)", .smsOfNumber, .name),
      GuessCounter(
        "sms network \(Network.name(of: request.address))", .smsOfNetwork, .network),
    ]
    if let account {
      counters.append(GuessCounter("sms account \(account.key)", .smsOfAccount, .account))
    }
    // Where nothing is sent, nothing counts.
    if case .blocked(let until) = try Guess.take(counters, at: now, connection) { return until }
    return nil
  }

  /// Forgets the codes that nobody can use any more.
  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws {
    let oldest = now.advanced(bySeconds: -PhoneCode.lifetime)
    try connection.run(
      "DELETE FROM verification_code WHERE session_id < \(TimeOrderedID.first(at: oldest))")
  }
}

extension Throttle {
  /// Text messages to one number: four at once, then one after a minute, after two, and so on up to
  /// an hour; one is forgotten every quarter of an hour.
  static let smsOfNumber = Throttle(free: 4, first: 60, longest: 3_600, leak: 900)
  /// Text messages for one account, whatever numbers it names.
  static let smsOfAccount = Throttle(free: 9, first: 60, longest: 3_600, leak: 900)
  /// Text messages that one network asked for; many people may share it.
  static let smsOfNetwork = Throttle(free: 49, first: 60, longest: 3_600, leak: 60)
}

/// A code that was made in the emulator profile, which sends none.
public struct VerificationCode: Sendable {
  /// The number that it would have been sent to.
  public let phoneNumber: String
  /// The session that it comes back with.
  public let sessionInfo: String
  /// The code.
  public let code: String
}
