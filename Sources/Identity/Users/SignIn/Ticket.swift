import Crypto
import Database

/// A sealed token of the MFA flow: a pending credential, an enrollment session, or the session of a
/// code sent to a phone.
///
/// It contains everything it needs, so that starting a flow writes nothing. A ticket that is
/// single-use or counts attempts gets a row in `ticket` when it's first presented.
struct Ticket {
  enum Kind: String {
    case pendingCredential
    case enrollmentSession
    case linkedEnrollment
    case phoneSignIn
    case phoneEnrollment
    case phoneSecondFactor
    case temporaryProof
  }

  let id: [UInt8]
  let pool: Int64
  /// The account's key; 0 if no account is known yet.
  let account: Int64
  let issuedAt: Instant
  /// The account's generation when the ticket was issued, so that ending sessions also invalidates
  /// pending credentials and enrollment sessions.
  let generation: Int64
  let provider: SignInProvider
  /// The shared secret of an enrollment session, the code sent to a phone, or the claims of a
  /// pending credential.
  let secret: Secret

  /// The length that a ticket is below, in bytes: four of three, for claims of at most
  /// ``SignInAttributes/longest``.
  private static let longest = 8_192

  init(
    pool: Pool, account: Account?, provider: SignInProvider, secret: Secret = Secret([]),
    at now: Instant, random: RandomSource
  ) {
    id = TimeOrderedID.make(at: now, random: random)
    self.pool = pool.key
    self.account = account?.key ?? 0
    issuedAt = now
    generation = account?.generation ?? 0
    self.provider = provider
    self.secret = secret
  }

  func sealed(_ kind: Kind, by sealer: Sealer) throws(CryptoError) -> String {
    var bytes = id
    for number in [pool, account, issuedAt.microseconds, generation] {
      for shift in stride(from: Int64(56), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    let provider = Array(provider.rawValue.utf8)
    bytes.append(UInt8(provider.count))
    bytes += provider
    bytes += secret.revealedBytes
    return Base64URL.encode(try sealer.seal(bytes, with: Array(kind.rawValue.utf8)))
  }

  /// Opens a token; nil if it wasn't sealed here as this kind.
  init?(_ text: String, _ kind: Kind, by sealer: Sealer) {
    guard
      text.utf8.count < Self.longest, let box = Base64URL.decode(text),
      let secret = try? sealer.open(box, with: Array(kind.rawValue.utf8))
    else { return nil }
    let bytes = secret.revealedBytes
    guard bytes.count >= 49 else { return nil }
    func number(at index: Int) -> Int64 {
      bytes[index..<(index + 8)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
    let end = 49 + Int(bytes[48])
    guard
      bytes.count >= end,
      let provider = SignInProvider(rawValue: String(decoding: bytes[49..<end], as: UTF8.self))
    else { return nil }
    id = Array(bytes[0..<TimeOrderedID.length])
    pool = number(at: 16)
    account = number(at: 24)
    issuedAt = Instant(microseconds: number(at: 32))
    generation = number(at: 40)
    self.provider = provider
    self.secret = Secret(Array(bytes[end...]))
  }

  /// The claims that the session of a pending credential's sign-in has, as JSON text; nil if there
  /// are none.
  var claims: String? {
    let text = secret.revealedText
    return text.isEmpty ? nil : text
  }

  /// How long a pending credential is valid, in seconds.
  static let pendingLifetime: Int64 = 300
  /// How long a pending credential is valid for codes sent by SMS, in seconds.
  static let phonePendingLifetime: Int64 = 600
  /// How long an enrollment session is valid, in seconds.
  static let enrollmentLifetime: Int64 = 900
  /// The number of wrong codes that an enrollment session allows.
  static let enrollmentTries = 3

  /// Returns the recorded uses and failures; a ticket issued before a restore is treated as used.
  ///
  /// If other servers use the database as well, it writes the row: PostgreSQL would count a lookup
  /// as one of its whole page of the index, which has the tickets that were issued at the same time,
  /// and would refuse all but one of the sign-ins that then write to it.
  func record(_ connection: borrowing Connection) throws -> (uses: Int, failures: Int) {
    if try RestoreMark.ends(issuedAt, connection) { return (1, 0) }
    let find: SQL =
      connection.dialect.sharesDatabase
      ? """
      INSERT INTO ticket (scope_key, ticket_id, uses, failures)
      VALUES (\(pool), \(id), 0, 0)
      ON CONFLICT (ticket_id) DO UPDATE SET uses = ticket.uses
      RETURNING uses, failures
      """
      : """
      SELECT uses, failures FROM ticket WHERE scope_key IN (\(pool), 0) AND ticket_id = \(id)
      """
    return try connection.first(find) { row in
      (uses: try row.next() as Int, failures: try row.next() as Int)
    } ?? (0, 0)
  }

  func countUse(_ connection: borrowing Connection) throws {
    try count(uses: 1, failures: 0, connection)
  }

  func countFailure(_ connection: borrowing Connection) throws {
    try count(uses: 0, failures: 1, connection)
  }

  /// The time after which the record of any ticket can be deleted, in seconds.
  static let recordLifetime =
    max(phonePendingLifetime, enrollmentLifetime, TemporaryProof.lifetime) + ClockGuard.precision

  /// Deletes the records of expired tickets; only for a clock that hasn't jumped for as long.
  ///
  /// If it jumped ahead, tickets of the last minutes would lose their records, and be valid again once
  /// it's set back.
  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -recordLifetime)
    return try connection.deletePart(
      "FROM ticket WHERE ticket_id < \(TimeOrderedID.first(at: oldest))", of: "ticket",
      by: "ticket_id")
  }

  private func count(uses: Int, failures: Int, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      INSERT INTO ticket (scope_key, ticket_id, uses, failures)
      VALUES (\(pool), \(id), \(uses), \(failures))
      ON CONFLICT (ticket_id) DO UPDATE SET uses = ticket.uses + excluded.uses,
        failures = ticket.failures + excluded.failures
      """)
  }
}
