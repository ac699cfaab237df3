import Database

/// A user's exemption from MFA: for a while, they aren't expected to have a second factor.
public struct Exemption: Sendable {
  public let id: Int64
  public let project: ID<Project>
  public let tenant: ID<Tenant>?
  /// The display name of the tenant or project.
  public let poolName: String
  public let account: ID<Account>
  let accountKey: Int64
  /// The user's email address, name, phone number, or ID.
  public let label: String
  /// Whether the user has a second factor of any kind.
  public let hasFactor: Bool
  /// Whether the user has a second factor of a kind that the pool's policy enables, so that the
  /// exemption is no longer needed.
  public let isEnrolled: Bool
  public let reason: SupportReason
  public let note: String
  public let ticket: String
  public let grantedAt: Instant
  public let grantor: ID<Administrator>
  /// The administrator's name at the time.
  public let grantorName: String
  public let endsAt: Instant
}

/// Grants exemptions from MFA, which end on their own.
public struct Exemptions: Sendable {
  let store: Store

  /// The longest exemption, in days, and how long after its end another one is a renewal.
  public static let longest = 30

  public func find(_ account: Account) async throws -> Exemption? {
    let now = store.clock.now()
    return try await store.read { try Self.find(account, at: now, $0) }
  }

  static func find(
    _ account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Exemption? {
    try latest(account.key, connection)?.inForce(at: now)
  }

  static func isExempt(
    _ account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try latest(account, connection)?.inForce(at: now) != nil
  }

  /// Returns why an administrator can't exempt a user, whatever the input; nil if they can.
  ///
  /// The administrator who granted the last exemption can't renew it, nor grant another one within
  /// ``longest`` days of its end, even if the user was deleted and created again meanwhile.
  public func obstacle(
    for agent: Administrator, to account: Account, in pool: Pool
  ) async throws -> ActionDenial? {
    try await store.read { now, connection in
      let last = try Self.latest(account.key, connection)
      return try Self.isRenewal(of: last, account, in: pool, by: agent.id, at: now, connection)
        ? .ownExemption : nil
    }
  }

  /// Exempts a user until a given time; replaces the end of a current exemption.
  ///
  /// The time is at most ``longest`` days from now; nil is invalid input.
  public func grant(
    _ pool: Pool, _ account: ID<Account>, until: Instant?, _ request: ActionRequest
  ) async throws -> ActionOutcome<Exemption> {
    try await store.run(
      .exemptUser, by: .console(request),
      on: .user(
        account, in: pool,
        inputErrors: { _, now in
          until?.isWithin(days: Self.longest, after: now) == true ? [] : [.untilOutOfRange]
        })
    ) { account, context, connection in
      let now = context.now
      guard let until, let reason = request.reason else {
        throw ActionDenial.answers([.untilOutOfRange])
      }
      let last = try Self.latest(account.key, connection)
      let grantor = request.agent.administrator
      guard
        try !Self.isRenewal(of: last, account, in: pool, by: grantor.id, at: now, connection)
      else { throw ActionDenial.ownExemption }
      let current = last?.inForce(at: now)
      if let current { try Self.end(current, at: now, connection) }
      try connection.run(
        """
        INSERT INTO exemption (exemption_id, account_key, reason, note, ticket, granted_at,
          grantor_id, grantor_name, ends_at)
        VALUES (\(SQL.nextNumber("exemption_id", of: "exemption")), \(account.key),
          \(reason), \(request.note), \(request.ticket),
          \(now), \(grantor.id), \(grantor.displayName), \(until))
        """)
      guard let exemption = try Self.latest(account.key, connection) else {
        throw Failure("an exemption vanished")
      }
      var entry = AuditEntry(.accountExempt, of: account, in: pool)
      entry.add(.exemptUntil, from: .optional(current?.endsAt), to: .instant(until))
      try context.record(entry, connection)
      return exemption
    }
  }

  /// - Returns: The exemption before the change.
  public func end(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Exemption> {
    try await store.run(.endExemption, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      guard let last = try Self.find(account, at: now, connection) else {
        throw ActionDenial.nothingToDo
      }
      try Self.end(last, at: now, connection)
      var entry = AuditEntry(.accountEndExemption, of: account, in: pool)
      entry.add(.exemptUntil, from: .instant(last.endsAt), to: .absent)
      entry.add(.exemptionGrantor, .text(last.grantorName))
      try context.record(entry, connection)
      return last
    }
  }

  /// Lists the current exemptions of users with whom an administrator can do something, first to
  /// end first.
  public func list(
    in project: ID<Project>? = nil, visibleTo administrator: Administrator,
    for permission: Permission = .findUsers
  ) async throws -> [Exemption] {
    try await store.read { now, connection in
      try Self.list(in: project, at: now, connection).filter {
        administrator.may(permission, project: $0.project, tenant: $0.tenant)
      }
    }
  }

  /// Lists the exemptions that haven't ended before a time, which can be in the past, first to end
  /// first.
  public func list(
    in pool: Pool, isWhole: Bool, endingAfter start: Instant
  ) async throws -> [Exemption] {
    try await store.read { connection in
      try Self.list(in: pool, isWhole: isWhole, at: start, connection)
    }
  }

  /// Counts the current exemptions in the pools of a project, by tenant; those of the project's
  /// own users are under nil.
  public func counts(
    in project: ID<Project>
  ) async throws -> [ID<Tenant>?: Int] {
    try await store.read { now, connection in
      let counts = try connection.all(
        """
        SELECT s.tenant_id, count(*) FROM scope s
          \(SQL.orderedJoin) exemption e ON e.account_key >= s.scope_key << 40
            AND e.account_key < (s.scope_key + 1) << 40
        WHERE s.project_id = \(project) AND s.deleted_at IS NULL
          AND e.ends_at > \(now)
        GROUP BY s.tenant_id
        """
      ) { row in (ID<Tenant>(nonEmpty: try row.next()), try row.next() as Int) }
      return Dictionary(uniqueKeysWithValues: counts)
    }
  }

  /// Counts the current exemptions by project and tenant; those of a project's own users are under
  /// nil.
  ///
  /// - Returns: The numbers of the pools whose policy they can read.
  public func counts(
    visibleTo administrator: Administrator
  ) async throws -> [ID<Project>: [ID<Tenant>?: Int]] {
    try await store.read { now, connection in
      try Self.list(in: nil, at: now, connection)
        .filter { administrator.may(.readPolicy, project: $0.project, tenant: $0.tenant) }
        .reduce(into: [:]) { $0[$1.project, default: [:]][$1.tenant, default: 0] += 1 }
    }
  }

  static func accounts(
    in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Set<Int64> {
    Set(
      try connection.all(
        "SELECT e.account_key FROM exemption e WHERE \(current(in: pool, at: now))"
      ) { try $0.next() as Int64 })
  }

  /// The condition for the exemptions `e` of a pool's users that haven't ended.
  ///
  /// The plus sign makes the database read the pool's range of keys instead of all exemptions by
  /// their end.
  static func current(in pool: Pool, at now: Instant) -> SQL {
    let keys = pool.accountKeys
    return """
      e.account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
        AND +e.ends_at > \(now)
      """
  }

  /// Reads the pool's ranges of keys instead of all exemptions by their end.
  private static func list(
    in pool: Pool, isWhole: Bool, at now: Instant, _ connection: borrowing Connection
  ) throws -> [Exemption] {
    let scopes: SQL =
      isWhole ? "s.project_id = \(pool.project)" : "s.scope_key = \(pool.key)"
    return try connection.all(
      """
      SELECT \(columns) FROM scope s
        \(SQL.orderedJoin) exemption e ON e.account_key >= s.scope_key << 40
          AND e.account_key < (s.scope_key + 1) << 40
        \(SQL.orderedJoin) account a ON a.account_key = e.account_key
      WHERE \(scopes) AND s.deleted_at IS NULL AND +e.ends_at > \(now)
      """
    ) { try Exemption(&$0) }
    .sorted { ($0.endsAt, $0.accountKey) < ($1.endsAt, $1.accountKey) }
  }

  static func list(
    in project: ID<Project>?, at now: Instant, _ connection: borrowing Connection
  ) throws -> [Exemption] {
    let all = try connection.all(
      """
      SELECT \(columns) FROM exemption e \(index: "exemption_by_end")
        \(SQL.orderedJoin) account a ON a.account_key = e.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE e.ends_at > \(now) AND s.deleted_at IS NULL
      ORDER BY e.ends_at, e.account_key
      """
    ) { try Exemption(&$0) }
    guard let project else { return all }
    return all.filter { $0.project == project }
  }

  /// Returns the last exemption of a user, which may have ended.
  private static func latest(
    _ account: Int64, _ connection: borrowing Connection
  ) throws -> Exemption? {
    try connection.first(
      """
      SELECT \(columns) FROM exemption e
        \(SQL.orderedJoin) account a ON a.account_key = e.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE e.account_key = \(account) ORDER BY e.exemption_id DESC LIMIT 1
      """
    ) { try Exemption(&$0) }
  }

  private static func end(
    _ exemption: Exemption, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE exemption SET ends_at = \(now)
      WHERE account_key = \(exemption.accountKey) AND exemption_id = \(exemption.id)
      """)
  }

  /// Returns whether another exemption of a user, who had `last`, would be a renewal by its grantor.
  private static func isRenewal(
    of last: Exemption?, _ account: Account, in pool: Pool, by agent: ID<Administrator>,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    var before = last.map { (grantor: $0.grantor, endsAt: $0.endsAt) }
    // Exemptions are deleted with their user, whose ID may be used again.
    if before == nil { before = try recorded(account.id, in: pool, connection) }
    guard let before else { return false }
    return before.grantor == agent
      && before.endsAt > now.advanced(bySeconds: -Int64(longest) * 86_400)
  }

  /// Returns who granted the last exemption of a user ID, and until when, as the audit log says.
  private static func recorded(
    _ account: ID<Account>, in pool: Pool, _ connection: borrowing Connection
  ) throws -> (grantor: ID<Administrator>, endsAt: Instant)? {
    try connection.first(
      """
      SELECT a.actor_id, c.new_kind, c.new_value FROM audit a
        \(SQL.orderedJoin) audit_change c ON c.audit_id = a.audit_id
      WHERE a.project_id = \(pool.project) AND a.tenant_id = \(pool.tenant?.text ?? "")
        AND a.object_kind = \(AuditResource.account) AND a.object_id = \(account)
        AND a.action || '' = \(AuditAction.accountExempt)
        AND c.field || '' = \(AuditFieldName.exemptUntil)
      ORDER BY a.audit_id DESC LIMIT 1
      """
    ) { row in
      let grantor: ID<Administrator> = try row.next()
      guard case .instant(let end) = AuditValue(kind: try row.next(), text: try row.next())
      else { return nil }
      return (grantor, end)
    } ?? nil
  }

  private static let columns: SQL = """
    e.exemption_id, s.project_id, s.tenant_id, s.display_name, a.has_totp, e.reason, e.note,
      e.ticket, e.granted_at, e.grantor_id, e.grantor_name, e.ends_at, e.account_key,
      \(Account.labelColumns), a.has_phone, s.mfa_state, s.sms, s.totp_state, s.totp_intervals
    """
}

extension Exemption {
  fileprivate func inForce(at now: Instant) -> Exemption? { endsAt > now ? self : nil }

  fileprivate init(_ row: inout Row) throws {
    id = try row.next()
    project = try row.next()
    tenant = ID(nonEmpty: try row.next())
    poolName = try row.next()
    let hasTOTP: Bool = try row.next()
    reason = try row.next()
    note = try row.next()
    ticket = try row.next()
    grantedAt = try row.next()
    grantor = try row.next()
    grantorName = try row.next()
    endsAt = try row.next()
    accountKey = try row.next()
    (account, label) = try Account.labeled(&row)
    let factors: [Factor.Kind: Bool] = [.totp: hasTOTP, .phone: try row.next()]
    let enabled = try StoredPolicy.configuration(&row).kinds
    hasFactor = factors.values.contains(true)
    isEnrolled = factors.contains { $0.value && enabled.contains($0.key) }
  }
}
