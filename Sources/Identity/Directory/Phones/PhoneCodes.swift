import Crypto
import Database
public import OTP

public struct PhoneRequest: Sendable {
  /// The number, in E.164 format.
  public var phoneNumber: String
  /// The language of the message, such as `de` or `pt-BR`.
  public var language: String
  public var address: ClientAddress

  public init(phoneNumber: String, language: String, address: ClientAddress) {
    self.phoneNumber = phoneNumber
    self.language = language
    self.address = address
  }
}

struct PhoneCodes {
  let store: Store
  let tickets: Sealer

  struct Use {
    let kind: Ticket.Kind
    let purpose: MessagePurpose
    /// The account whose first factor or session was checked; nil if anyone can request the message.
    var account: Account?
    var provider = SignInProvider.phone
    var factor: ID<Factor>?
    var pending: [UInt8] = []
    /// Whether the message isn't sent, because the code would be of no use; the response is the
    /// same.
    var isWithheld = false
  }

  enum Sent {
    /// The code was sent; the client sends this session back with it.
    case session(String)
    case refusedRegion
    case blocked(until: Instant)
  }

  /// Generates a code for a number and writes its message.
  ///
  /// Messages cost money, so they are limited by number, account, and network, and by pool and
  /// region, too, whether or not this server sends them. Test numbers have a fixed code and get no
  /// message, and the emulator profile sends none at all; neither counts toward the limits. The
  /// allowed regions apply to all of them.
  func send(
    _ request: PhoneRequest, for use: Use, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Sent {
    let settings = try SMSSettings.find(pool, connection)
    let number = request.phoneNumber
    let testCode = settings.testCode(of: number)
    guard settings.allows(number) else { return .refusedRegion }
    if testCode == nil, store.profile == .standalone,
      let until = try count(request, use, in: pool, at: now, connection)
    {
      return .blocked(until: until)
    }
    let code = testCode ?? store.random.text(PhoneCode.digits, from: "0123456789")
    let ticket = Ticket(
      pool: pool, account: use.account, provider: use.provider,
      secret: PhoneCode.payload(
        code: code, phoneNumber: number, pending: use.pending, factor: use.factor),
      at: now, random: store.random)
    let sessionInfo = try ticket.sealed(use.kind, by: tickets)
    if testCode == nil {
      let text = store.outbox.written(
        .verificationCode(code: code, project: pool.projectName), for: request.language)
      let message = try store.outbox.add(
        OutboxMessage(
          channel: .sms, purpose: use.purpose.rawValue, recipient: number,
          language: request.language,
          subject: "", body: text.body,
          expiresAt: now.advanced(bySeconds: PhoneCode.lifetime)),
        to: use.account, in: pool, at: now, connection)
      if use.isWithheld {
        // The same row was written as for a message that is sent, so the timing reveals nothing.
        try connection.run(
          "DELETE FROM outbox WHERE scope_key = \(pool.key) AND message_id = \(message)")
      }
    }
    if store.profile == .emulator, !use.isWithheld {
      try connection.run(
        """
        INSERT INTO verification_code (session_id, scope_key, session_info)
        VALUES (\(ticket.id), \(pool.key), \(sessionInfo))
        """)
    }
    return .session(sessionInfo)
  }

  /// Counts a message; returns when the next one may be sent if there were too many.
  private func count(
    _ request: PhoneRequest, _ use: Use, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    let counters = Self.counters(of: request, use, in: pool)
    // Nothing is counted where nothing is sent.
    if case .blocked(let until) = try ThrottleCharge.charge(counters, at: now, connection) {
      return until
    }
    let until = try store.outbox.smsLimits.charge(
      request, isOpen: use.account == nil, in: pool, at: now, connection)
    if until != nil { store.outbox.smsRejections.add() }
    return until
  }

  /// Each proof that a message needs has its own counter: requests of anyone can't use up the
  /// messages that enroll a number in a session, and neither can use up those of a second factor,
  /// which need the first one.
  private static func counters(
    of request: PhoneRequest, _ use: Use, in pool: Pool
  ) -> [ThrottleCounter] {
    let (number, client) = (request.phoneNumber, request.address)
    guard let account = use.account else {
      return [
        ThrottleCounter(.requestedMessages(to: number, in: pool.key), .smsOfNumber, .name),
        ThrottleCounter(.requestedMessages(from: client, in: pool.key), .smsOfNetwork, .network),
      ]
    }
    let ofAccount = ThrottleCounter(.messages(of: account.key), .smsOfAccount, .account)
    guard use.factor == nil else {
      return [
        ThrottleCounter(
          .secondFactorMessages(to: number, of: account.key), .smsOfNumber, .account),
        ofAccount,
      ]
    }
    return [
      ThrottleCounter(.enrollmentMessages(to: number, in: pool.key), .smsOfNumber, .name),
      ThrottleCounter(.enrollmentMessages(from: client, in: pool.key), .smsOfNetwork, .network),
      ofAccount,
    ]
  }

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
  public let phoneNumber: String
  /// The session that the client sends back with the code.
  public let sessionInfo: String
  public let code: String
}

/// A code sent to a phone, identified by the session that the client sends back with it.
///
/// The session is sealed and contains the code, so that only the message is stored. Attempts and
/// use are recorded in the ticket's row.
struct PhoneCode {
  let ticket: Ticket
  let phoneNumber: String
  /// The factor that the sign-in is completed with; nil for other purposes.
  let factor: ID<Factor>?
  /// The ID of that sign-in's pending credential; empty for other purposes.
  let pending: [UInt8]
  let code: String

  /// How long a code is valid, in seconds.
  static let lifetime: Int64 = 600
  /// The number of wrong codes that a session allows.
  static let tries = 5
  static let digits = 6

  /// Opens a session; nil if it wasn't sealed here for this purpose.
  init?(_ sessionInfo: String, _ kind: Ticket.Kind, by sealer: Sealer) {
    guard let ticket = Ticket(sessionInfo, kind, by: sealer) else { return nil }
    let parts = ticket.secret.revealedText.split(separator: "\n", omittingEmptySubsequences: false)
    guard parts.count == 4, let pending = Base64URL.decode(parts[2]) else { return nil }
    self.ticket = ticket
    self.pending = pending
    code = String(parts[0])
    phoneNumber = String(parts[1])
    factor = parts[3].isEmpty ? nil : ID(String(parts[3]))
  }

  /// The session's payload, in addition to what every ticket contains.
  static func payload(
    code: String, phoneNumber: String, pending: [UInt8], factor: ID<Factor>?
  ) -> Secret {
    Secret(
      [code, phoneNumber, Base64URL.encode(pending), factor?.text ?? ""].joined(separator: "\n"))
  }

  enum CodeVerification {
    case right
    case wrong
    /// The code expired, was used, or was tried too often; a new one has to be sent.
    case over(Reason)
  }

  enum Reason {
    case expired
    case used
    case tries
  }

  /// Verifies a code as typed and records a wrong attempt.
  ///
  /// `tries` is the number of wrong codes that are allowed, and `generation` the account's, with
  /// which the code expires; nil if it doesn't.
  func check(
    _ typed: TypedCode, tries: Int = tries, of generation: Int64? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> CodeVerification {
    guard ticket.issuedAt.lasts(Self.lifetime, at: now) else { return .over(.expired) }
    let record = try ticket.record(connection)
    guard record.uses == 0 else { return .over(.used) }
    guard record.failures < tries else { return .over(.tries) }
    // Sessions were ended after the code was sent.
    if let generation, generation != ticket.generation { return .over(.expired) }
    if isRight(typed) { return .right }
    try ticket.countFailure(connection)
    return .wrong
  }

  /// Verifies a code for a suspended factor.
  ///
  /// A correct code is used up, so that it isn't valid when the suspension ends. Every code
  /// consumes one of the session's attempts, and used sessions are processed the same way, so that
  /// the caller can't tell correct codes from wrong ones.
  func checkSuspended(
    _ typed: TypedCode, at now: Instant, _ connection: borrowing Connection
  ) throws -> CodeVerification {
    guard ticket.issuedAt.lasts(Self.lifetime, at: now) else { return .over(.expired) }
    guard try ticket.record(connection).failures < Self.tries else { return .over(.tries) }
    try ticket.countFailure(connection)
    guard isRight(typed) else { return .wrong }
    try use(connection)
    return .right
  }

  private func isRight(_ typed: TypedCode) -> Bool {
    constantTimeEqual(Array(typed.text.utf8), Array(code.utf8))
  }

  /// Marks the code as used and deletes its stored copy.
  func use(_ connection: borrowing Connection) throws {
    try ticket.countUse(connection)
    try connection.run(
      """
      DELETE FROM verification_code
      WHERE scope_key = \(ticket.pool) AND session_id = \(ticket.id)
      """)
  }
}

public enum PhoneProof: Sendable {
  case code(sessionInfo: String, code: TypedCode)
  /// A temporary proof, returned for a number that was already verified with a correct code.
  case temporary(String, phoneNumber: String)

  /// How long a temporary proof is valid, in seconds.
  public static let temporaryLifetime = Int(TemporaryProof.lifetime)
}

/// Proof that a correct code was already entered for a number that belongs to another account; it
/// lets the number be used once more without a second message.
enum TemporaryProof {
  /// How long the proof is valid, in seconds.
  static let lifetime: Int64 = 3_600

  static func make(
    _ phoneNumber: String, in pool: Pool, by sealer: Sealer, at now: Instant, random: RandomSource
  ) throws -> String {
    let ticket = Ticket(
      pool: pool, account: nil, provider: .phone, secret: Secret(phoneNumber), at: now,
      random: random)
    return try ticket.sealed(.temporaryProof, by: sealer)
  }

  /// Opens a proof that is valid for a number in a pool; nil for any other.
  static func open(
    _ text: String, phoneNumber: String, in pool: Pool, by sealer: Sealer, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Ticket? {
    guard let ticket = Ticket(text, .temporaryProof, by: sealer), ticket.pool == pool.key,
      ticket.issuedAt.lasts(lifetime, at: now),
      constantTimeEqual(ticket.secret.revealedBytes, Array(phoneNumber.utf8)),
      try ticket.record(connection).uses == 0
    else { return nil }
    return ticket
  }
}
