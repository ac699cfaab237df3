import Database

public struct ProjectSummary: Hashable, Sendable {
  /// The key of the pool of its own users.
  public let key: Int64
  public let id: ID<Project>
  public let displayName: String
  /// Whether sign-in is disabled for the project's own users.
  public let isDisabled: Bool
  /// The TOTP configuration of the project's own users; nil if there is none, which means disabled.
  public let totp: TOTPConfiguration?
  public private(set) var tenants: Int
  /// The number of users, including those of tenants.
  public private(set) var users: Int
  /// The number of users with a second factor.
  public private(set) var enrolledUsers: Int
  /// The number of users outside tenants.
  public let ownUsers: Int
  /// The number of users outside tenants with a second factor.
  public let ownEnrolledUsers: Int
  /// Whether the counts are those of all tenants; false if they're restricted to some.
  public private(set) var isWhole = true
  /// A stamp that increases with every change that affects which tenants differ from the project.
  let policyStamp: Int64

  static let columns: SQL = """
    p.project_id, p.display_name, s.disabled, s.totp_state, s.totp_intervals, p.tenants,
      \(AccountCounts.current(ofProject: "users")),
      \(AccountCounts.current(ofProject: "enrolled_users")), \(AccountCounts.current("users")),
      \(AccountCounts.current("enrolled_users")), s.policy_stamp,
      s.scope_key
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    displayName = try row.next()
    isDisabled = try row.next()
    totp = try StoredPolicy.totp(&row)
    tenants = try row.next()
    users = try row.next()
    enrolledUsers = try row.next()
    ownUsers = try row.next()
    ownEnrolledUsers = try row.next()
    policyStamp = try row.next()
    key = try row.next()
  }

  /// Restricts the counts to some tenants, because an administrator of one tenant must not learn
  /// anything about the others.
  mutating func restrict(
    to tenants: [ID<Tenant>], _ connection: borrowing Connection
  ) throws {
    let counts = try connection.first(
      """
      SELECT count(*), coalesce(sum(\(AccountCounts.current("users"))), 0),
        coalesce(sum(\(AccountCounts.current("enrolled_users"))), 0)
      FROM scope s
      WHERE s.project_id = \(id) AND s.tenant_id IN (\(list: tenants))
        AND s.deleted_at IS NULL
      """
    ) { row in try (0...2).map { _ in try row.next() as Int } }
    isWhole = false
    self.tenants = counts?[0] ?? 0
    users = counts?[1] ?? 0
    enrolledUsers = counts?[2] ?? 0
  }

  /// Hashes only the key, which already distinguishes nearly all summaries.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
