import Crypto
import Database
import OTP

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
    _ typed: String, tries: Int = tries, of generation: Int64? = nil, at now: Instant,
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
    _ typed: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> CodeVerification {
    guard ticket.issuedAt.lasts(Self.lifetime, at: now) else { return .over(.expired) }
    guard try ticket.record(connection).failures < Self.tries else { return .over(.tries) }
    try ticket.countFailure(connection)
    guard isRight(typed) else { return .wrong }
    try use(connection)
    return .right
  }

  private func isRight(_ typed: String) -> Bool {
    constantTimeEqual(Array(TypedCode.folded(typed).utf8), Array(code.utf8))
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
  case code(sessionInfo: String, code: String)
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
