import Crypto
import Database

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
  func matches(_ digits: String) throws -> Bool {
    constantTimeEqual(try Self.digest(digits, key), digest)
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
