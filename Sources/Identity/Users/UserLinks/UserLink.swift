package import Crypto
package import Database
import Text

/// What an enrollment link needs of the campaign that sends it.
struct LinkCampaign {
  let id: Int64
  let sentence: String
  let end: Instant
  /// How long its links are valid, in seconds.
  let seconds: Int64
}

/// A stored link in an email to a user that opens a page of this server.
package struct UserLink: Sendable {
  package enum Kind: String, Sendable, SQLConvertible {
    case enrollment
    case reportedChange = "reported-change"

    /// The lifetime of a link, in seconds.
    var lifetime: Int64 {
      switch self {
      case .enrollment: 1_800
      case .reportedChange: 7 * 86_400
      }
    }

    /// The path of the page that the link opens.
    var page: String {
      switch self {
      case .enrollment: "/__/auth/enroll"
      case .reportedChange: "/__/auth/not-me"
      }
    }
  }

  private let kind: Kind
  let pool: Pool
  let account: Int64
  /// The change that the link reports, or the name of the agent who sent an enrollment link;
  /// empty for one that a refused sign-in sent.
  let about: String
  /// The account's generation when the link was created: an enrollment link ends with the sessions.
  let generation: Int64
  let failures: Int
  let createdAt: Instant
  let expiresAt: Instant
  let usedAt: Instant?
  let digest: [UInt8]
  /// The address that it was sent to, in folded form; nil for a link of an earlier version.
  let address: String?
  /// The campaign that an enrollment link is of, which asks for a first factor then; nil if none.
  let campaign: Int64?

  /// The length of a code in bytes; 256 bits can't be guessed.
  private static let length = 32
  /// The number of seconds that a link is kept after it expires.
  private static let remembered: Int64 = 30 * 86_400

  /// - Returns: The code of the link; only its digest is stored.
  package static func insert(
    _ kind: Kind, about: String, of account: Account, to address: String,
    campaign: Int64? = nil, until end: Instant? = nil, random: RandomSource, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> String {
    let code = random.token(bytes: length)
    let expires = end ?? now.advanced(bySeconds: kind.lifetime)
    try connection.run(
      """
      INSERT INTO user_link (link_digest, account_key, kind, about, valid_since_s, generation,
        created_at, expires_at, address, job_id)
      SELECT \(Store.digest(code)), account_key, \(kind), \(about), valid_since_s,
        generation, \(now), \(expires), \(AccountRules.folded(email: address)), \(campaign)
      FROM account WHERE account_key = \(account.key)
      """)
    return code
  }

  /// Finds the link of a code; returns nil if it doesn't exist or its account was deleted.
  static func find(
    _ code: String, _ kind: Kind, _ connection: borrowing Connection
  ) throws -> UserLink? {
    guard code.utf8.count <= 128 else { return nil }
    let digest = Store.digest(code)
    return try connection.first(
      """
      SELECT \(Pool.columns), \(columns)
      FROM user_link l JOIN scope s ON s.scope_key = l.account_key >> 40
        JOIN project p USING (project_id)
      WHERE l.link_digest = \(digest) AND l.kind = \(kind) AND s.deleted_at IS NULL
      """
    ) { row in
      let pool = try Pool(&row)
      return try UserLink(&row, kind, in: pool)
    }
  }

  static func list(
    _ kind: Kind, of account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws -> [UserLink] {
    try connection.all(
      """
      SELECT \(columns) FROM user_link l
      WHERE l.account_key = \(account.key) AND l.kind = \(kind)
      """
    ) { try UserLink(&$0, kind, in: pool) }
  }

  private static let columns: SQL = """
    l.account_key, l.about, l.generation, l.failures, l.created_at, l.expires_at, l.used_at,
      l.link_digest, l.address, l.job_id
    """

  /// Reads a link from `columns`.
  private init(_ row: inout Row, _ kind: Kind, in pool: Pool) throws {
    self.kind = kind
    self.pool = pool
    account = try row.next()
    about = try row.next()
    generation = try row.next()
    failures = try row.next()
    createdAt = try row.next()
    expiresAt = try row.next()
    usedAt = try row.next()
    digest = try row.next()
    address = try row.next()
    campaign = try row.next()
  }

  /// Whether the link has expired; it has if it's from the future, since the clock was set back.
  func isExpired(at now: Instant) -> Bool { now >= expiresAt || createdAt.isInFuture(at: now) }

  /// Whether a single link expires before its kind's lifetime is over, because a backup was restored.
  var isExpiredEarly: Bool {
    campaign == nil && expiresAt < createdAt.advanced(bySeconds: kind.lifetime)
  }

  /// The states of a campaign whose links can be used.
  private static let isCampaignOn: SQL = "state IN ('running', 'done')"

  /// Returns whether the link is of a campaign that ended before its time, or was deleted.
  func isStopped(_ connection: borrowing Connection) throws -> Bool {
    guard let campaign else { return false }
    return try connection.first(
      """
      SELECT 1 FROM bulk_job WHERE scope_key = \(pool.key) AND job_id = \(campaign)
        AND \(Self.isCampaignOn)
      """
    ) { try $0.next() as Int } == nil
  }

  func countFailure(_ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE user_link SET failures = failures + 1
      WHERE account_key = \(account) AND link_digest = \(digest)
      """)
  }

  static func useAll(
    _ kind: Kind, of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE user_link SET used_at = \(now)
      WHERE account_key = \(account) AND kind = \(kind) AND used_at IS NULL
      """)
  }

  /// Returns whether an account has an enrollment link that can be used and was sent within a number
  /// of seconds.
  static func hasEnrollmentLink(
    _ account: Account, sentWithin seconds: Int64, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    try hasEnrollmentLink(
      account,
      where: """
        created_at > \(now.advanced(bySeconds: -seconds)) AND created_at <= \(Instant.latest(at: now))
        """, at: now, connection)
  }

  /// Returns whether an account has a link of a campaign after this one that can be used.
  static func hasLink(
    of account: Account, after campaign: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try hasEnrollmentLink(account, where: "job_id > \(campaign)", at: now, connection)
  }

  private static func hasEnrollmentLink(
    _ account: Account, where condition: SQL, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM user_link
      WHERE account_key = \(account.key) AND kind = \(Kind.enrollment)
        AND used_at IS NULL AND failures < \(EnrollmentLinks.tries)
        AND generation = \(account.generation) AND expires_at > \(now)
        AND (job_id IS NULL OR EXISTS (SELECT 1 FROM bulk_job j
          WHERE j.scope_key = \(Pool.key(ofAccount: account.key))
            AND j.job_id = user_link.job_id AND \(isCampaignOn)))
        AND \(condition)
      """
    ) { try $0.next() as Int } != nil
  }

  /// Deletes links 30 days after they expire.
  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -remembered)
    return try connection.deletePart(
      "FROM user_link WHERE expires_at < \(oldest)", of: "user_link",
      by: "account_key, link_digest")
  }
}

extension ActionLinks {
  func link(_ code: String, to kind: UserLink.Kind) -> String {
    "\(origin)\(kind.page)?code=\(code)"
  }

  func console(_ account: ID<Account>, in pool: Pool) -> String {
    overview(of: pool) + "/users/\(URIComponent.encode(account.text))"
  }

  func overview(of pool: Pool) -> String {
    let path = "\(origin)/projects/\(URIComponent.encode(pool.project.text))"
    return pool.tenant.map { path + "/tenants/\(URIComponent.encode($0.text))" } ?? path
  }

  func signInMethods(of pool: Pool) -> String { overview(of: pool) + "/settings/sign-in-methods" }

  func review(of project: ID<Project>) -> String {
    "\(origin)/projects/\(URIComponent.encode(project.text))/review"
  }
}
