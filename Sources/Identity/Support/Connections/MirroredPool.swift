public import Database

/// A pool of a connected project: what's known of it there, and of the walk over its users.
public struct MirroredPool: Sendable {
  /// The raw value is stored.
  public enum State: String, Sendable, SQLConvertible {
    case present
    /// The remote returns no users while the tenant is disabled.
    case disabled
    case gone
  }

  public let pool: Pool
  public let state: State
  /// Since when the tenant is gone there; nil if it isn't.
  public let goneAt: Instant?
  /// The number of the walk that's under way, or else of the last one; 0 before the first one.
  public internal(set) var walk: Int64
  /// When the walk that's under way began; nil if none is.
  public internal(set) var startedAt: Instant?
  /// The number of users that the remote counted last.
  public internal(set) var counted: Int?
  /// The number of users on the pages that the walk has read.
  public internal(set) var read: Int
  /// The UID up to which the walk is done.
  var position: String
  /// What asks for the page that it reads; nil for the first one.
  var token: String?
  /// The last walk whose users that it didn't see are gone; negative if an owner has yet to accept it.
  private let accepted: Int64?
  /// When the first walk was complete; nil if none was.
  public let firstAt: Instant?
  /// When the last complete walk ended, which took that many seconds.
  public let walkedAt: Instant?
  public let seconds: Int?
  /// When the remote was asked for the policy that's stored; nil for that of the connection's check.
  let policyAt: Instant?
  /// When the policy was changed there.
  public let changedAt: Instant?
  let configuration: MFAConfiguration
  /// The number of users who can't be stored.
  public let faults: Int
  let isDeleted: Bool
  /// Whether it's deleted, and not all of its users are.
  let isBusy: Bool

  /// Whether an owner has to decide about those whom the last walk didn't see.
  public var isUndecided: Bool { accepted == -walk && walk > 0 }

  /// Whether the tenant has been gone for as long as its users are shown.
  func isExpired(at now: Instant) -> Bool {
    goneAt.map { $0 <= now.advanced(bySeconds: -GoneUsers.shown) } ?? false
  }

  init(_ row: inout Row) throws {
    pool = try Pool(&row)
    (state, goneAt, walk) = (try row.next(), try row.next(), try row.next())
    (startedAt, counted, read) = (try row.next(), try row.next(), try row.next())
    (position, token, accepted) = (try row.next(), try row.next(), try row.next())
    (firstAt, walkedAt, seconds) = (try row.next(), try row.next(), try row.next())
    (policyAt, changedAt) = (try row.next(), try row.next())
    configuration = try StoredPolicy.configuration(&row)
    (isDeleted, isBusy, faults) = (try row.next(), try row.next(), try row.next())
  }

  /// Reads the pools of a project that meet a condition, its own one last: the history of the whole
  /// project begins after its first walk.
  static func all(
    of project: ID<Project>, _ condition: SQL, _ connection: borrowing Connection
  ) throws -> [MirroredPool] { try all(of: [project], condition, connection) }

  static func all(
    of projects: [ID<Project>], _ condition: SQL, _ connection: borrowing Connection
  ) throws -> [MirroredPool] {
    try connection.all(
      """
      SELECT \(Pool.columns), m.state, m.gone_at, m.walk, m.started_at, m.counted, m.read,
        m.position, m.token, m.accepted, m.first_at, m.walked_at, m.seconds, m.policy_at,
        m.changed_at, s.mfa_state, s.sms, s.totp_state, s.totp_intervals, s.deleted_at IS NOT NULL,
        s.deleted_at IS NOT NULL AND s.purged_at IS NULL,
        (SELECT count(*) FROM mirror_fault f WHERE f.scope_key = s.scope_key)
      FROM scope s \(SQL.orderedJoin) project p USING (project_id)
        \(SQL.orderedJoin) mirror m ON m.scope_key = s.scope_key
      WHERE s.project_id IN (\(list: projects)) AND \(condition) ORDER BY s.tenant_id DESC
      """
    ) { try MirroredPool(&$0) }
  }

  static func insert(
    _ pool: Pool, _ state: State, askedAt asked: Instant? = nil,
    _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try connection.run(
      """
      INSERT INTO mirror (scope_key, state, policy_at) VALUES (\(pool.key), \(state), \(asked))
      """)
  }

  /// Brings back a pool whose users are deleted, and begins anew with what's known of it; the number of
  /// the last walk stays, so that no server goes on with one.
  func revive(_ connection: borrowing Connection) throws(DatabaseError) {
    try connection.run(
      """
      UPDATE mirror SET started_at = NULL, accepted = NULL, first_at = NULL, walked_at = NULL,
        policy_at = NULL, changed_at = NULL
      WHERE scope_key = \(pool.key)
      """)
    try connection.run(
      "UPDATE scope SET deleted_at = NULL, purged_at = NULL WHERE scope_key = \(pool.key)")
    // A trigger only counts down.
    try connection.run(
      """
      UPDATE project SET deleted_at = NULL, tenants = tenants + \(pool.tenant == nil ? 0 : 1)
      WHERE project_id = \(pool.project)
      """)
  }

  /// Whether a statement is still about a project that's read, with the credential of a time if one is
  /// given.
  static func isRead(_ pool: Pool, with credentialAt: Instant? = nil) -> SQL {
    let isSame: SQL = credentialAt.map { "AND c.credential_at = \($0)" } ?? ""
    return """
      EXISTS (SELECT 1 FROM connection c
        WHERE c.project_id = \(pool.project) AND c.state IN ('working', 'failing') \(isSame))
      """
  }
}

/// What's wrong with the UID of a user who can't be stored; the raw value is stored.
public enum MirrorFault: String, Sendable, SQLConvertible {
  case missing = "no-uid"
  /// It has more than ``Account/longestID`` bytes.
  case long = "long-uid"
  case nul = "nul-in-uid"
}
