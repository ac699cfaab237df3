import Database

/// What a review shows of a scope's policy, read without the rest of it.
public struct PolicySummary: Hashable, Sendable {
  /// The tenant; nil for the project's own users.
  public let tenant: ID<Tenant>?
  /// The name of the tenant or of the project.
  public let displayName: String
  /// The configuration and the pattern.
  public let edit: PolicyEdit
  /// When it was last changed; nil when never.
  public let changedAt: Instant?
  /// Who changed it last; nil when nobody did.
  public let changedBy: String?
  /// Why it was last changed; nil when no reason was given.
  public let changeReason: String?
  /// How many users the scope has.
  public let users: Int
  /// How many of them have a TOTP factor.
  public let enrolledUsers: Int

  /// What of it acts.
  public var inForce: PolicyInForce { PolicyInForce(edit) }

  static let columns: SQL = """
    s.tenant_id, s.display_name, s.mfa_state, s.sms, s.totp_state, s.totp_intervals, s.pattern,
      s.mandatory_from, s.policy_changed_at, s.policy_changed_by, s.users, s.enrolled_users,
      s.policy_reason
    """
  /// How many columns `columns` names.
  static let columnCount = 13

  init(_ row: borrowing Row) throws {
    let tenant: String = try row.value(0)
    self.tenant = tenant.isEmpty ? nil : ID(tenant)
    displayName = try row.value(1)
    edit = try PolicyEdit(row, from: 2)
    changedAt = (try row.value(8) as Int64?).map(Instant.init(microseconds:))
    changedBy = try row.value(9)
    users = try row.value(10)
    enrolledUsers = try row.value(11)
    changeReason = try row.value(12)
  }

  /// Hashes the tenant, by which nearly all summaries differ already.
  public func hash(into hasher: inout Hasher) { hasher.combine(tenant?.text ?? "") }
}

/// Which policies of a project to review, and in which order.
public struct PolicyReviewQuery: Sendable {
  /// Which of the tenants.
  public enum Selection: String, CaseIterable, Sendable {
    /// All of them.
    case all
    /// Those whose policy in force is not the project's.
    case differs
    /// Those with TOTP off.
    case off
    /// Those that accept more than five steps on each side.
    case wide
    /// Those with users of whom none is enrolled.
    case noneEnrolled = "none-enrolled"
  }

  /// The orders.
  public enum Order: String, CaseIterable, Sendable {
    /// By id, which begins with the name the tenant was made with.
    case name
    /// The widest window first, TOTP off last.
    case window
    /// The smallest share of enrolled users first, tenants without users last.
    case enrolled
    /// The last change first, never changed last.
    case changed
  }

  /// A part of the name or id; nil for all.
  public var search: String?
  /// Which.
  public var selection: Selection
  /// In which order.
  public var order: Order

  /// Makes a query of all tenants by name.
  public init(search: String? = nil, selection: Selection = .all, order: Order = .name) {
    (self.search, self.selection, self.order) = (search, selection, order)
  }
}

/// A project's policy and that of its tenants, as far as an administrator may read them.
public struct PolicyReview: Sendable {
  /// The project's own; nil for those who may read some tenants only.
  public let project: PolicySummary?
  /// A part of the tenants.
  public let tenants: Page<PolicySummary>
  /// How many tenants there are, whatever was searched for.
  public let count: Int
  /// How many users these tenants have.
  public let users: Int
  /// How many of them have a TOTP factor.
  public let enrolledUsers: Int
  /// How many of the tenants differ from the project; nil where that may not be known.
  public let differing: Int?
}
