import Database

/// A role of an administrator, or an administrator without one, as an access review lists it.
public struct AccessGrant: Sendable {
  /// The administrator.
  public let record: AdministratorRecord
  /// The role and where it applies; nil if the administrator has none.
  public let grant: Grant?
  /// When it ends automatically; nil without an end date.
  public let endsAt: Instant?
  /// When it was granted; nil if the audit log doesn't know.
  public let since: Instant?
  /// The name of the administrator who granted it, or invited them with it, or of the sign-in provider
  /// if it comes from a group.
  public let grantor: String?
  /// When the administrator last used the console; nil if never.
  public let lastUsedAt: Instant?

  /// The number of days without use after which an administrator is dormant.
  public static let dormantDays = 90

  /// Whether the role comes from a group at the sign-in provider.
  public var isFromProvider: Bool { grant.map(record.groupGrants.contains) ?? false }

  /// What can be said of the access.
  public enum State: Sendable {
    /// The administrator can't sign in.
    case unusable
    /// The administrator has no role.
    case withoutRole
    /// The administrator hasn't used the console for ``AccessGrant/dormantDays`` days.
    case dormant
    /// The administrator uses it.
    case active
  }

  /// Returns what can be said of the access; nothing else counts those of a state.
  ///
  /// - Parameter now: The current time.
  /// - Returns: The state.
  public func state(at now: Instant) -> State {
    guard record.canSignIn else { return .unusable }
    guard grant != nil else { return .withoutRole }
    let start = now.advanced(bySeconds: -Int64(Self.dormantDays) * 86_400)
    return (lastUsedAt ?? record.createdAt) < start ? .dormant : .active
  }
}

extension [AccessGrant] {
  /// The number of different administrators.
  public var administrators: Int { Set(map(\.record.administrator.id)).count }
}

extension Reports {
  /// Lists every role of every administrator, and administrators without one, by email address.
  ///
  /// The beginning of a role and who granted it are read from the audit log.
  ///
  /// - Throws: ``ManagementError/unavailable(_:)``.
  public func access() async throws(ManagementError) -> [AccessGrant] {
    let now = store.clock.now()
    return try await store.read(ManagementError.self) { try Self.access(at: now, $0) }
  }

  static func access(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> [AccessGrant] {
    var found: [AccessGrant] = []
    for record in try Administrators.records(at: now, connection) {
      let origins = try origins(of: record.administrator.id, connection)
      let lastSeen = try lastSeen(record.administrator.id, connection)
      let lastUsed = [record.lastSignInAt, lastSeen].compactMap(\.self).max()
      let grants: [Grant?] = record.administrator.grants
      for grant in grants.isEmpty ? [nil] : grants {
        let origin = grant.flatMap { origins[$0] }
        found.append(
          AccessGrant(
            record: record, grant: grant, endsAt: grant.flatMap { record.grantEnds[$0] },
            since: origin?.at,
            grantor: origin?.grantor, lastUsedAt: lastUsed))
      }
    }
    return found
  }

  /// Returns when each role was last granted, and by whom.
  private static func origins(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> [Grant: (at: Instant, grantor: String)] {
    let rows = try connection.all(
      """
      SELECT audit_id FROM audit
      WHERE project_id = '' AND tenant_id = ''
        AND object_kind = \(AuditResource.administrator.rawValue) AND object_id = \(id.text)
        AND action IN (\(AuditAction.administratorCreate.rawValue),
          \(AuditAction.administratorGrant.rawValue))
      ORDER BY audit_id
      """
    ) { try $0.value(0) as Int64 }
    var origins: [Grant: (at: Instant, grantor: String)] = [:]
    for row in try rows.compactMap({ try Audit.find($0, connection) }) {
      var grantor = row.actorName
      if case .text(let inviter)? = row.changes.first(where: { $0.field == .inviter })?.new {
        grantor = inviter
      }
      if case .text(let provider)? = row.changes.first(where: { $0.field == .signInProvider })?.new
      {
        grantor = provider
      }
      guard case .list(let grants)? = row.changes.first(where: { $0.field == .grants })?.new
      else { continue }
      for grant in grants.compactMap(Grant.init(audited:)) { origins[grant] = (row.at, grantor) }
    }
    return origins
  }

  static func lastSeen(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Instant? {
    let times = try connection.all(
      "SELECT last_seen_at FROM console_session WHERE administrator_id = \(id.text)"
    ) { Instant(microseconds: try $0.value(0)) }
    return times.max()
  }
}

extension Grant {
  /// Parses a role as ``AuditValue/of(_:)`` writes it; nil if it's unknown.
  fileprivate init?(audited text: String) {
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard let first = parts.first, let role = Role(rawValue: first) else { return nil }
    let place = parts.dropFirst().first.map {
      $0.split(separator: "/", maxSplits: 1).map(String.init)
    }
    self.init(
      role: role, project: place?.first.map { ID($0) },
      tenant: place?.dropFirst().first.map { ID($0) })
  }
}
