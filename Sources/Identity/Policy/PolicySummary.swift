import Database

/// The parts of a pool's policy that a review shows.
public struct PolicySummary: Hashable, Sendable {
  public let key: Int64
  public let tenant: ID<Tenant>?
  public let displayName: String
  public let createdAt: Instant
  public let edit: PolicyEdit
  public let changedAt: Instant?
  public let changedBy: String?
  public let changeReason: String?
  public let users: Int
  /// The number of users with a TOTP factor.
  public let enrolledUsers: Int

  public var inForce: PolicyInForce { PolicyInForce(edit) }

  static let columns: SQL = """
    s.tenant_id, s.display_name, \(PolicyEdit.columns("s")), s.policy_changed_at,
      s.policy_changed_by, \(AccountCounts.current("users")),
      \(AccountCounts.current("enrolled_users")), s.policy_reason, s.scope_key,
      s.created_at
    """

  init(_ row: inout Row) throws {
    tenant = ID(nonEmpty: try row.next())
    displayName = try row.next()
    edit = try PolicyEdit(&row)
    changedAt = try row.next()
    changedBy = try row.next()
    users = try row.next()
    enrolledUsers = try row.next()
    changeReason = try row.next()
    key = try row.next()
    createdAt = try row.next()
  }

  /// Hashes only the tenant, which already distinguishes nearly all summaries.
  public func hash(into hasher: inout Hasher) { hasher.combine(tenant?.text ?? "") }
}

/// Which tenants of a project to review, and in which order.
public struct PolicyReviewQuery: Sendable {
  public enum Selection: String, CaseIterable, Sendable {
    case all
    /// Tenants whose effective policy differs from the project's.
    case differs
    /// Tenants with TOTP disabled.
    case off
    /// Tenants that accept more than five adjacent intervals.
    case wide
    /// Tenants with users, none of whom is enrolled.
    case noneEnrolled = "none-enrolled"
  }

  public enum Order: String, CaseIterable, Sendable {
    /// By ID, which begins with the name that the tenant was created with.
    case name
    /// Widest window first, TOTP disabled last.
    case window
    /// Lowest share of enrolled users first, tenants without users last.
    case enrolled
    /// Highest share of rejected codes first, tenants without codes last.
    case rejected
    /// Latest change first, never changed last.
    case changed
  }

  /// A part of the name or ID; nil for all tenants.
  public var search: String?
  public var selection: Selection
  public var order: Order
  /// The beginning of the period whose codes a share of rejected codes is of; nil for 30 days of 24
  /// hours.
  public var rejectedSince: Instant?

  public init(
    search: String? = nil, selection: Selection = .all, order: Order = .name,
    rejectedSince: Instant? = nil
  ) {
    (self.search, self.selection, self.order) = (search, selection, order)
    self.rejectedSince = rejectedSince
  }
}

/// The policies of a project and its tenants that an administrator can read.
public struct PolicyReview: Sendable {
  /// The project's own policy; nil for administrators who can read some tenants only.
  public let project: PolicySummary?
  public let tenants: Page<PolicySummary>
  /// The total number of tenants, regardless of the query.
  public let count: Int
  public let users: Int
  /// The number of these users with a TOTP factor.
  public let enrolledUsers: Int
  /// The number of tenants that differ from the project; nil if the administrator can't read the
  /// project's policy.
  public let differing: Int?
}
