import Database

/// Something that an administrator set, and that an upgrade drops because later versions don't have it.
public struct DroppedSetting: Sendable, Equatable {
  /// The raw value is the stored name.
  public enum Kind: String, CaseIterable, Sendable {
    case scheduledChange = "scheduled_changes"
    /// The waiting approval of a scheduled change.
    case approval = "approvals"
    case policyTemplate = "policy_templates"
    case eventStream = "event_streams"
    case reportSubscription = "report_subscriptions"
    case groupedRemoval = "grouped_removals"
    case bouncedAddress = "bounced_addresses"
    case note = "notes"

    /// The field with the number in the audit entry of the upgrade.
    var field: AuditFieldName {
      switch self {
      case .scheduledChange: .scheduledChangesDropped
      case .approval: .requestsClosed
      case .policyTemplate: .policyTemplatesDropped
      case .eventStream: .eventStreamsDropped
      case .reportSubscription: .reportSubscriptionsDropped
      case .groupedRemoval: .groupedRemovalsDropped
      case .bouncedAddress: .bouncedAddressesDropped
      case .note: .notesDropped
      }
    }
  }

  public let kind: Kind
  /// The project; empty for what belongs to none.
  public let project: String
  /// The tenant; empty for a project's own.
  public let tenant: String
  /// The name of a template or stream, the report of a subscription, or a user's UID.
  public let name: String
  /// Where a stream leads, without credentials, or how often a report was sent; otherwise empty.
  public let detail: String
  /// The administrator who set it; empty if that isn't stored.
  public let author: String
  /// When it was to take effect, or when it was made; nil if that isn't stored.
  public let at: Instant?
  /// The policy of a change or a template.
  public let policy: PolicyEdit?

  private init(_ kind: Kind, _ row: inout Row) throws {
    self.kind = kind
    project = try row.next()
    tenant = try row.next()
    name = try row.next()
    let detail: String = try row.next()
    self.detail = kind == .eventStream ? Self.withoutCredentials(detail) : detail
    author = try row.next()
    at = try row.next()
    policy =
      switch kind {
      case .scheduledChange, .approval, .policyTemplate: try PolicyEdit(&row)
      default: nil
      }
  }

  /// Returns a URL without what can be secret: only its scheme, host, and port; or a file, or a host.
  static func withoutCredentials(_ target: String) -> String {
    guard let scheme = target.firstRange(of: "://") else { return target }
    let rest = target[scheme.upperBound...].prefix { !"/?#".contains($0) }
    return String(target[..<scheme.upperBound] + (rest.split(separator: "@").last ?? ""))
  }

  /// Returns what pending migrations will drop; throws `DatabaseError`.
  static func all(
    droppedBy pending: [String], _ connection: borrowing Connection
  ) throws -> [DroppedSetting] {
    guard pending.contains(Identity.migrations(for: connection.dialect).upgrade.name) else {
      return []
    }
    var all: [DroppedSetting] = []
    for kind in Kind.allCases {
      all += try connection.all(rows(of: kind)) { try DroppedSetting(kind, &$0) }
    }
    return all
  }

  private static func rows(of kind: Kind) -> SQL {
    switch kind {
    case .scheduledChange:
      """
      SELECT s.project_id, s.tenant_id, '', '', w.author_name, w.apply_at, \(PolicyEdit.columns("w"))
      FROM scheduled_change w \(SQL.orderedJoin) scope s ON s.scope_key = w.scope_key
      WHERE w.scope_key > 0 AND w.state = 'waiting' ORDER BY w.scope_key, w.change_id
      """
    case .approval:
      """
      SELECT s.project_id, s.tenant_id, '', '', v.requester_name, w.apply_at,
        \(PolicyEdit.columns("w"))
      FROM approval_policy w \(SQL.orderedJoin) approval v
          ON v.scope_key = w.scope_key AND v.approval_id = w.approval_id
        \(SQL.orderedJoin) scope s ON s.scope_key = w.scope_key
      WHERE w.scope_key > 0 AND w.apply_at IS NOT NULL AND v.state = 'waiting'
      ORDER BY w.scope_key, w.approval_id
      """
    case .policyTemplate:
      """
      SELECT w.project_id, '', w.name, '', '', CAST(NULL AS BIGINT), \(PolicyEdit.columns("w"))
      FROM policy_template w WHERE w.template_id > 0 ORDER BY w.template_id
      """
    case .eventStream:
      """
      SELECT '', '', name, target, created_by, created_at FROM event_stream
      WHERE stream_id > '' ORDER BY stream_id
      """
    case .reportSubscription:
      """
      SELECT coalesce(s.project_id, ''), coalesce(s.tenant_id, ''), r.report, r.rhythm,
        a.display_name, CAST(NULL AS BIGINT)
      FROM report_subscription r JOIN administrator a ON a.administrator_id = r.administrator_id
        LEFT JOIN scope s ON s.scope_key = r.scope_key
      WHERE r.subscription_id > 0 ORDER BY r.subscription_id
      """
    case .groupedRemoval:
      """
      SELECT '', '', '', '', administrator_name, created_at FROM bulk_group
      WHERE group_id > 0 ORDER BY group_id
      """
    case .bouncedAddress:
      """
      SELECT s.project_id, s.tenant_id, a.uid, '', b.marked_by, b.marked_at
      FROM bounced_address b \(SQL.orderedJoin) account a ON a.account_key = b.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE b.account_key > 0 ORDER BY b.account_key, b.address
      """
    case .note:
      """
      SELECT s.project_id, s.tenant_id, a.uid, '', n.author_name, n.written_at
      FROM user_note n \(SQL.orderedJoin) account a ON a.account_key = n.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE n.account_key > 0 ORDER BY n.account_key, n.note_id
      """
    }
  }
}

/// What an upgrade did to the database.
public struct UpgradeReport: Sendable, Equatable {
  public let at: Instant
  public let migrations: Int
  /// How many settings of each kind were dropped.
  public let dropped: [DroppedSetting.Kind: Int]

  /// How long owners are told about dropped settings, in seconds.
  static let shown: Int64 = 30 * 86_400
}

/// The latest upgrade, of which the state is kept: what a migration drops can't be counted after it.
enum Upgrade {
  private static let state = InstanceValue("upgrade")
  private static let begun = "begun"
  private static let done = "done"

  /// Counts and returns what the pending migrations will drop, before the first of them.
  ///
  /// Another server may do the same, or has done so already.
  static func begin(_ pending: [String], _ store: Store) async throws -> [DroppedSetting] {
    try await store.write { connection in
      try connection.waitForOtherMigrations()
      let applied = try connection.all(
        "SELECT name FROM schema_migration WHERE name > 'm0069' ORDER BY name"
      ) { try $0.next() as String }
      let left = pending.filter { !applied.contains($0) }
      let dropped = try DroppedSetting.all(droppedBy: left, connection)
      let known = try state.read(connection).flatMap { StoredCode($0) }
      // What was counted before an interruption is gone.
      guard !left.isEmpty, !dropped.isEmpty || known?.code != begun else { return dropped }
      let counts = Dictionary(grouping: dropped, by: \.kind).mapValues(\.count)
      try state.store(text(begun, [String(left.count)], counts), connection)
      return dropped
    }
  }

  /// Records the upgrade that was begun in the audit log; nil if there was none.
  static func finish(_ store: Store) async throws -> UpgradeReport? {
    guard try await store.read({ try state.read($0) })?.contains(begun) == true else { return nil }
    return try await store.write { now, connection in
      guard let known = try state.read(connection).flatMap({ StoredCode($0) }), known.code == begun
      else { return nil }
      let report = Self.report(known.values, at: now)
      var entry = AuditEntry(.instanceUpgrade, .instance, "", name: "")
      entry.add(.migrations, .number(report.migrations))
      for kind in DroppedSetting.Kind.allCases {
        if let count = report.dropped[kind] { entry.add(kind.field, .number(count)) }
      }
      try entry.record(by: Author(actor: .server), at: now, connection)
      try state.store(
        text(done, [String(report.migrations), String(now.microseconds)], report.dropped),
        connection)
      return report
    }
  }

  static func latest(_ connection: borrowing Connection) throws -> UpgradeReport? {
    guard let known = try state.read(connection).flatMap({ StoredCode($0) }), known.code == done,
      known.values.count > 1, let at = Int64(known.values[1])
    else { return nil }
    return report(known.values, at: Instant(microseconds: at))
  }

  private static func text(
    _ code: String, _ facts: [String], _ counts: [DroppedSetting.Kind: Int]
  ) -> String {
    StoredCode(code, facts + counts.map { "\($0.key.rawValue)=\($0.value)" }.sorted()).text
  }

  private static func report(_ values: [String], at time: Instant) -> UpgradeReport {
    var dropped: [DroppedSetting.Kind: Int] = [:]
    for parts in values.map({ $0.split(separator: "=").map(String.init) }) where parts.count == 2 {
      if let kind = DroppedSetting.Kind(rawValue: parts[0]) { dropped[kind] = Int(parts[1]) }
    }
    return UpgradeReport(
      at: time, migrations: values.first.flatMap { Int($0) } ?? 0, dropped: dropped)
  }
}

extension Identity {
  /// Returns what the latest upgrade dropped, for owners of the instance, for 30 days; nil if it
  /// dropped nothing.
  public func droppedByUpgrade(
    visibleTo administrator: Administrator
  ) async throws -> UpgradeReport? {
    guard administrator.may(.manageTrust, project: nil, tenant: nil) else { return nil }
    guard let latest = try await store.read({ try Upgrade.latest($0) }), !latest.dropped.isEmpty,
      clock.now().seconds - latest.at.seconds < UpgradeReport.shown
    else { return nil }
    return latest
  }
}
