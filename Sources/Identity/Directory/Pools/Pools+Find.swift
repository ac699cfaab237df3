import Crypto
import Database

extension Pools {
  /// Finds a pool that's hosted here; others don't exist for applications.
  ///
  /// In the emulator profile, a missing project or tenant is created, as in Google's emulator.
  public func find(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> Pool {
    let pool: Pool
    do {
      pool = try await existing(project: project, tenant: tenant)
    } catch let error as PoolLookupError {
      guard store.profile == .emulator else { throw error }
      switch error {
      case .projectNotFound: try await makeImplicit(project, nil)
      case .tenantNotFound: try await makeImplicit(project, tenant)
      case .projectDeleted, .tenantDeleted: throw error
      }
      return try await find(project: project, tenant: tenant)
    }
    guard pool.kind == .hosted else { throw PoolLookupError.projectNotFound }
    return pool
  }

  /// Finds a pool's settings, as ``find(project:tenant:)`` finds the pool.
  public func settings(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> PoolSettings {
    let found = try await store.read { connection in
      try Pools.settingsIfPresent(project, tenant, connection)
    }
    if let found, found.pool.kind == .hosted { return found }
    // Throws why there's none, or creates it.
    _ = try await find(project: project, tenant: tenant)
    return try await settings(project: project, tenant: tenant)
  }

  /// Finds a pool without creating one, in any profile.
  public func existing(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> Pool {
    try await store.read { connection in
      try Self.find(project: project, tenant: tenant, connection)
    }
  }

  /// Returns a project's ID, given its ID or the number that resource names contain.
  ///
  /// A number that no project has is returned as it is.
  public func id(of project: ID<Project>) async throws -> ID<Project> {
    guard let number = Int64(project.text), String(number) == project.text else { return project }
    return try await store.read { connection in
      try connection.first(
        "SELECT project_id FROM project WHERE number = \(number)"
      ) { try $0.next() } ?? project
    }
  }

  /// Finds a pool by its key; nil if it was deleted.
  static func find(_ key: Int64, _ connection: borrowing Connection) throws -> Pool? {
    try connection.first(
      """
      SELECT \(Pool.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE s.scope_key = \(key) AND s.deleted_at IS NULL
      """
    ) { try Pool(&$0) }
  }

  static func find(
    project: ID<Project>, tenant: ID<Tenant>?, _ connection: borrowing Connection
  ) throws -> Pool {
    // In the database, the empty tenant ID is the project's own pool, not a tenant.
    if let tenant, tenant.text.isEmpty { throw PoolLookupError.tenantNotFound }
    let row = try connection.first(
      """
      SELECT \(Pool.columns), s.deleted_at FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(project) AND s.tenant_id = \(tenant?.text ?? "")
      """
    ) { row in (pool: try Pool(&row), deletedAt: try row.next() as Int64?) }
    guard let row else {
      guard tenant != nil else { throw PoolLookupError.projectNotFound }
      _ = try find(project: project, tenant: nil, connection)
      throw PoolLookupError.tenantNotFound
    }
    guard row.deletedAt == nil else {
      throw tenant == nil ? PoolLookupError.projectDeleted : .tenantDeleted
    }
    return row.pool
  }

  private func makeImplicit(
    _ project: ID<Project>, _ tenant: ID<Tenant>?
  ) async throws {
    do {
      try await makeImplicit(project: project, tenant: tenant)
    } catch let error as PoolError {
      switch error {
      case .projectIDTaken: return  // created by a concurrent request
      default: throw tenant == nil ? PoolLookupError.projectNotFound : .tenantNotFound
      }
    }
  }
}

/// A pool that needs attention, and why.
public struct PoolWarning: Sendable {
  public enum Reason: Equatable, Sendable {
    /// The TOTP state is unset, so TOTP is treated as enabled.
    case stateNotGiven
    /// TOTP is disabled, and this many users have a factor that they aren't asked for.
    case enrolledWhileOff(Int)
    /// SMS is disabled, and this many users have a phone that gets no codes.
    case phonesWhileOff(Int)
    case weakened(WeakenedPolicy)
    /// Sign-in is turned off for all users.
    case signInOff
    /// This many users are locked out after incorrect codes.
    case lockedOut(Int)

    fileprivate static func current(_ row: inout Row) throws -> Reason {
      let totp = try StoredPolicy.totp(&row)
      let (apps, phones): (Int, Int) = (try row.next(), try row.next())
      if totp?.state == .unspecified { return .stateNotGiven }
      let isOff = totp == nil || totp?.state == .disabled
      return isOff && apps > 0 ? .enrolledWhileOff(apps) : .phonesWhileOff(phones)
    }
  }

  public let project: ID<Project>
  public let tenant: ID<Tenant>?
  public let name: String
  public let projectName: String
  public let reason: Reason
  /// When the policy changed; nil if it never did.
  public let changedAt: Instant?
  public let kind: PoolKind

  fileprivate var place: (String, String) { (project.text, tenant?.text ?? "") }

  /// Reads the pool, and the reason from the columns after it; nil without a reason.
  fileprivate init?(_ row: inout Row, _ reason: (inout Row) throws -> Reason?) throws {
    project = try row.next()
    tenant = ID(nonEmpty: try row.next())
    name = try row.next()
    projectName = try row.next()
    changedAt = try row.next()
    kind = try row.next()
    guard let reason = try reason(&row) else { return nil }
    self.reason = reason
  }
}

extension Pools {
  /// Returns the first pools that need attention among those that an administrator can see: at most
  /// `limit` hosted ones whose users can't sign in, then as many recently weakened policies and
  /// others by ID.
  ///
  /// They're in an index, so finding none costs nothing.
  public func warnings(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [PoolWarning] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read { now, connection in
      let weakened = try connection.all(
        """
        SELECT \(Self.warned), \(WeakenedPolicy.columns)
        FROM policy_weakening w \(SQL.orderedJoin) scope s USING (scope_key)
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE w.at > \(WeakenedPolicy.oldest(at: now)) AND s.deleted_at IS NULL
          \(restriction)
        ORDER BY w.at DESC LIMIT \(limit)
        """
      ) { row in
        try PoolWarning(&row) { try WeakenedPolicy(&$0).map { .weakened($0) } }
      }.compactMap { $0 }
      // The index has the stored numbers of users.
      let stored = Self.condition(apps: "s.totp_users", phones: "s.phone_users")
      let others = try Self.warnings(
        """
        WHERE s.project_id > '' AND s.deleted_at IS NULL AND \(stored) AND \(Self.current)
          \(restriction)
        ORDER BY s.project_id, s.tenant_id LIMIT \(limit)
        """, connection)
      let changed = try Self.warnings(
        """
        WHERE s.scope_key IN (SELECT scope_key FROM count_change WHERE scope_key > 0)
          AND s.deleted_at IS NULL AND \(stored) IS NOT TRUE AND \(Self.current)
          \(restriction)
        """, connection)
      let all = changed.isEmpty ? others : (others + changed).sorted { $0.place < $1.place }
      let stopped = try Self.stopped(
        """
        \(index: "scope_stopped") \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.project_id > '' AND \(Self.isStopped) AND s.deleted_at IS NULL
          AND \(Self.isStoppedNow) \(restriction)
        ORDER BY s.project_id, s.tenant_id LIMIT \(limit)
        """, connection)
      let newlyStopped = try Self.stopped(
        """
        JOIN project p USING (project_id)
        WHERE s.scope_key IN (SELECT scope_key FROM count_change WHERE scope_key > 0)
          AND s.deleted_at IS NULL AND \(Self.isStopped) IS NOT TRUE AND \(Self.isStoppedNow)
          \(restriction)
        """, connection)
      return Array((stopped + newlyStopped).prefix(limit)) + (weakened + all).prefix(limit)
    }
  }

  /// The pools whose sign-in is off, and those with locked users.
  private static func stopped(
    _ rest: SQL, _ connection: borrowing Connection
  ) throws -> [PoolWarning] {
    try connection.all(
      """
      SELECT \(warned), s.disabled, \(AccountCounts.current("locked_users")) FROM scope s \(rest)
      """
    ) { row in
      try PoolWarning(&row) { row in
        let (isOff, locked): (Bool, Int) = (try row.next(), try row.next())
        return isOff ? .signInOff : .lockedOut(locked)
      }
    }.compactMap { $0 }
  }

  /// As of the last count, by which the index finds them.
  private static let isStopped: SQL = "(s.disabled = 1 OR s.locked_users > 0)"
  private static let isStoppedNow: SQL = """
    p.kind = \(PoolKind.hosted) AND (s.disabled = 1
      OR \(AccountCounts.current("locked_users")) > 0)
    """

  private static let warned: SQL = """
    s.project_id, s.tenant_id, s.display_name, p.display_name, s.policy_changed_at, p.kind
    """

  /// The condition for pools `s` that need attention, with their numbers of users.
  private static func condition(apps: SQL, phones: SQL) -> SQL {
    """
    (s.totp_state = 0 OR \(SQL.ifNull)(s.totp_state, 1) = 1 AND \(apps) > 0
      OR NOT (s.sms = 1 AND \(SQL.ifNull)(s.mfa_state, 1) >= 2) AND \(phones) > 0)
    """
  }

  private static let current = condition(
    apps: AccountCounts.current("totp_users"), phones: AccountCounts.current("phone_users"))

  private static func warnings(
    _ condition: SQL, _ connection: borrowing Connection
  ) throws -> [PoolWarning] {
    try connection.all(
      """
      SELECT \(warned), s.totp_state, s.totp_intervals,
        \(AccountCounts.current("totp_users")),
        \(AccountCounts.current("phone_users"))
      FROM scope s JOIN project p USING (project_id)
      \(condition)
      """
    ) { try PoolWarning(&$0, PoolWarning.Reason.current) }.compactMap { $0 }
  }
}

extension Administrator {
  /// The SQL condition that restricts a query over pools `s` to the administrator's grants.
  var restriction: SQL { seesEveryProject ? "" : "AND (\(Self.condition(of: grants)))" }

  /// Returns the SQL condition of pools `s` of grants on projects and tenants.
  private static func condition(of grants: [Grant]) -> SQL {
    let parts = grants.compactMap { grant -> SQL? in
      guard let project = grant.project else { return nil }
      guard let tenant = grant.tenant else { return "s.project_id = \(project)" }
      return "(s.project_id = \(project) AND s.tenant_id = \(tenant))"
    }
    return parts.isEmpty ? "FALSE" : parts.joined(separator: " OR ")
  }
}

extension Pool {
  var hashing: PasswordHasher.Pool { PasswordHasher.Pool(key) }
}

extension PasswordHasher.Pool {
  /// The queue of administrators; pools of users have keys above 0.
  static let administrators = PasswordHasher.Pool(0)
}
