import Crypto
import Database

/// A code that was sent to a phone, as the session says that the client brings back with it.
///
/// The session is sealed and carries the code, so that nothing is kept of it but the message. Its
/// tries, and that it was used, are counted in the row of its ticket.
struct PhoneCode {
  let ticket: Ticket
  let phoneNumber: String
  /// The factor that a sign-in is completed with; nil for other uses.
  let factor: ID<Factor>?
  /// The id of the pending credential of that sign-in; empty for other uses.
  let pending: [UInt8]
  let code: String

  /// How long a code counts, in seconds.
  static let lifetime: Int64 = 600
  /// How many wrong codes a session bears.
  static let tries = 5
  static let digits = 6

  /// Opens a session; nil for anything that was not sealed here for this use.
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

  /// What a session carries besides what every ticket does.
  static func payload(
    code: String, phoneNumber: String, pending: [UInt8], factor: ID<Factor>?
  ) -> Secret {
    Secret(
      [code, phoneNumber, Base64URL.encode(pending), factor?.text ?? ""].joined(separator: "\n"))
  }

  enum CodeVerification {
    case right
    case wrong
    /// Too old, used, or tried too often: another code has to be sent.
    case over(Reason)
  }

  enum Reason {
    case expired
    case used
    case tries
  }

  /// Looks at a code as typed; a wrong one is counted.
  func check(
    _ typed: String, tries: Int = tries, at now: Instant, _ connection: borrowing Connection
  ) throws -> CodeVerification {
    guard now <= ticket.issuedAt.advanced(bySeconds: Self.lifetime) else { return .over(.expired) }
    let record = try ticket.record(connection)
    guard record.uses == 0 else { return .over(.used) }
    guard record.failures < tries else { return .over(.tries) }
    if constantTimeEqual(Array(typed.utf8), Array(code.utf8)) { return .right }
    try ticket.countFailure(connection)
    return .wrong
  }

  /// Looks at a code for a factor that is suspended.
  ///
  /// A right one is used up, so that it does not count when the suspension ends. Right or wrong, each
  /// takes one of the session's tries, and what is used is looked at again: nobody sees which it was.
  func checkSuspended(
    _ typed: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> CodeVerification {
    guard now <= ticket.issuedAt.advanced(bySeconds: Self.lifetime) else { return .over(.expired) }
    guard try ticket.record(connection).failures < Self.tries else { return .over(.tries) }
    try ticket.countFailure(connection)
    guard constantTimeEqual(Array(typed.utf8), Array(code.utf8)) else { return .wrong }
    try use(connection)
    return .right
  }

  /// Counts the code as used; nobody reads it any more.
  func use(_ connection: borrowing Connection) throws {
    try ticket.countUse(connection)
    try connection.run("DELETE FROM verification_code WHERE session_id = \(ticket.id)")
  }
}

/// How somebody shows that a phone is theirs.
public enum PhoneProof: Sendable {
  /// The code that was sent, with the session of the sending.
  case code(sessionInfo: String, code: String)
  /// What an answer gave for a number that had shown a right code already.
  case temporary(String, phoneNumber: String)

  /// How long a temporary proof counts, in seconds.
  public static let temporaryLifetime = Int(TemporaryProof.lifetime)
}

/// A right code for a number of which another account had to be told; it lets the number be used
/// once more without a second message.
enum TemporaryProof {
  /// How long it counts, in seconds.
  static let lifetime: Int64 = 3_600

  static func make(
    _ phoneNumber: String, in scope: Scope, by sealer: Sealer, at now: Instant, random: RandomSource
  ) throws -> String {
    let ticket = Ticket(
      scope: scope, account: nil, provider: .phone, secret: Secret(phoneNumber), at: now,
      random: random)
    return try ticket.sealed(.temporaryProof, by: sealer)
  }

  /// The ticket of a proof that counts for a number in a scope; nil for any other.
  static func open(
    _ text: String, phoneNumber: String, in scope: Scope, by sealer: Sealer, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Ticket? {
    guard let ticket = Ticket(text, .temporaryProof, by: sealer), ticket.scope == scope.key,
      now <= ticket.issuedAt.advanced(bySeconds: lifetime),
      constantTimeEqual(ticket.secret.revealedBytes, Array(phoneNumber.utf8)),
      try ticket.record(connection).uses == 0
    else { return nil }
    return ticket
  }
}
