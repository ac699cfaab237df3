import Crypto
import Database

/// A link in a mail to a user that leads to a page of ours, as it is kept.
struct UserLink: Sendable {
  /// What a link is for.
  enum Kind: String, Sendable {
    /// To set an authenticator app up.
    case enrollment
    /// To say that a change was none of theirs.
    case reportedChange = "reported-change"

    /// How long a link counts, in seconds.
    var lifetime: Int64 {
      switch self {
      case .enrollment: 1_800
      case .reportedChange: 7 * 86_400
      }
    }

    /// The page that it leads to.
    var page: String {
      switch self {
      case .enrollment: "/__/auth/enroll"
      case .reportedChange: "/__/auth/not-me"
      }
    }
  }

  let scope: Scope
  let account: Int64
  /// What an objection would be to; who has sent a link to enroll.
  let about: String
  /// The account's generation when it was made: a link to enroll ends with the sessions.
  let generation: Int64
  /// How many wrong codes were typed at it.
  let failures: Int
  let createdAt: Instant
  let expiresAt: Instant
  let usedAt: Instant?
  let digest: [UInt8]

  /// Bytes of a code; nobody guesses 256 bits.
  private static let length = 32
  /// How long a link is remembered after its end, in seconds.
  private static let remembered: Int64 = 30 * 86_400

  /// Makes a link.
  ///
  /// - Returns: Its code, which is kept only as a digest.
  static func insert(
    _ kind: Kind, about: String, of account: Account, random: RandomSource, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> String {
    let code = random.token(bytes: length)
    let expires = now.advanced(bySeconds: kind.lifetime)
    try connection.run(
      """
      INSERT INTO user_link (link_digest, account_key, kind, about, valid_since_s, generation,
        created_at, expires_at)
      SELECT \(Store.digest(code)), account_key, \(kind.rawValue), \(about), valid_since_s,
        generation, \(now.microseconds), \(expires.microseconds)
      FROM account WHERE account_key = \(account.key)
      """)
    return code
  }

  /// The link of a code; nil for what was never made, or is gone with its account.
  static func find(
    _ code: String, _ kind: Kind, _ connection: borrowing Connection
  ) throws -> UserLink? {
    guard code.utf8.count <= 128 else { return nil }
    let digest = Store.digest(code)
    return try connection.first(
      """
      SELECT \(Scope.columns), l.account_key, l.about, l.generation, l.failures, l.created_at,
        l.expires_at, l.used_at
      FROM user_link l JOIN scope s ON s.scope_key = l.account_key >> 40
        JOIN project p USING (project_id)
      WHERE l.link_digest = \(digest) AND l.kind = \(kind.rawValue) AND s.deleted_at IS NULL
      """
    ) { row in
      UserLink(
        scope: try Scope(row), account: try row.value(7), about: try row.value(8),
        generation: try row.value(9), failures: try row.value(10),
        createdAt: Instant(microseconds: try row.value(11)),
        expiresAt: Instant(microseconds: try row.value(12)),
        usedAt: (try row.value(13) as Int64?).map(Instant.init(microseconds:)), digest: digest)
    }
  }

  /// Uses the link up.
  func use(at now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      "UPDATE user_link SET used_at = \(now.microseconds) WHERE link_digest = \(digest)")
  }

  /// Counts a wrong code that was typed at the link.
  func countFailure(_ connection: borrowing Connection) throws {
    try connection.run(
      "UPDATE user_link SET failures = failures + 1 WHERE link_digest = \(digest)")
  }

  /// Uses up all links of a kind that an account has.
  static func useAll(
    _ kind: Kind, of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE user_link SET used_at = \(now.microseconds)
      WHERE account_key = \(account) AND kind = \(kind.rawValue) AND used_at IS NULL
      """)
  }

  /// Forgets links some time after their end.
  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws {
    let oldest = now.advanced(bySeconds: -remembered)
    try connection.run("DELETE FROM user_link WHERE expires_at < \(oldest.microseconds)")
  }
}

extension ActionLinks {
  /// The link of a code that leads to a page of ours.
  func link(_ code: String, to kind: UserLink.Kind) -> String {
    "\(origin)\(kind.page)?code=\(code)"
  }

  /// The address of a user in the console.
  func console(_ account: ID<Account>, in scope: Scope) -> String {
    var path = "\(origin)/projects/\(URIComponent.encode(scope.project.text))"
    if let tenant = scope.tenant { path += "/tenants/\(URIComponent.encode(tenant.text))" }
    return path + "/users/\(URIComponent.encode(account.text))"
  }
}
