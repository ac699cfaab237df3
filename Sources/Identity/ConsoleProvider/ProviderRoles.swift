import Database
import OpenIDConnect

/// The roles that an administrator gets and loses because of their groups.
public struct ProviderRoleChange: Sendable, Equatable {
  /// The administrator.
  public let administrator: ID<Administrator>
  /// Their display name.
  public let name: String
  /// Roles that they get.
  public let granted: [Grant]
  /// Roles that they lose.
  public let revoked: [Grant]
}

/// Brings the roles that come from groups in line with the groups.
///
/// Roles that an administrator granted by hand are never touched.
enum ProviderRoles {
  private struct Held {
    let grant: Grant
    let isFromProvider: Bool
  }

  private static func held(
    by id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> [Held] {
    try connection.all(
      """
      SELECT role, project_id, tenant_id, is_from_provider FROM administrator_grant
      WHERE administrator_id = \(id.text) ORDER BY role, project_id, tenant_id
      """
    ) { Held(grant: try Administrators.grant($0, from: 0), isFromProvider: try $0.value(3)) }
  }

  /// Returns what would change for an administrator.
  static func change(
    of id: ID<Administrator>, named name: String, to wanted: Set<Grant>,
    _ connection: borrowing Connection
  ) throws -> ProviderRoleChange {
    let held = try held(by: id, connection)
    let grants = Set(held.map(\.grant))
    return ProviderRoleChange(
      administrator: id, name: name, granted: Self.sorted(wanted.subtracting(grants)),
      revoked: Self.sorted(
        Set(held.filter(\.isFromProvider).map(\.grant)).subtracting(wanted)))
  }

  /// Returns the roles whose project and tenant exist.
  static func existing(
    _ wanted: Set<Grant>, _ connection: borrowing Connection
  ) throws -> Set<Grant> {
    var existing: Set<Grant> = []
    for grant in wanted {
      do {
        try Administrators.checkPlace(of: grant, connection)
        existing.insert(grant)
      } catch ManagementError.scopeNotFound {}
    }
    return existing
  }

  /// Grants and revokes roles, each with its audit row.
  ///
  /// The last owner stays: a role without which no one could manage administrators isn't revoked.
  ///
  /// - Returns: What changed.
  @discardableResult
  static func align(
    _ id: ID<Administrator>, to wanted: Set<Grant>, provider: String, _ outbox: Outbox,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws -> ProviderRoleChange {
    try Administrators.endGrants(of: id, outbox, at: now, connection)
    let record = try Administrators.record(id, at: now, connection)
    let wanted = try existing(wanted, connection)
    let change = try change(
      of: id, named: record.administrator.displayName, to: wanted, connection)
    for grant in change.granted {
      try Administrators.insert(grant, of: id, isFromProvider: true, at: now, connection)
    }
    var revoked: [Grant] = []
    for grant in change.revoked {
      try connection.run(
        "DELETE FROM administrator_grant WHERE \(Administrators.row(of: grant, id))")
      if try Administrators.hasRequiredOwners(connection) {
        revoked.append(grant)
      } else {
        try Administrators.insert(grant, of: id, isFromProvider: true, at: now, connection)
      }
    }
    for grant in change.granted {
      var entry = Administrators.entry(.administratorGrant, record)
      entry.add(.grants, .of([grant]))
      entry.add(.signInProvider, .text(provider))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        of: .given, grant, until: nil, of: record.administrator, by: author, at: now, connection)
    }
    for grant in revoked {
      var entry = Administrators.entry(.administratorRevoke, record)
      entry.add(.grants, lost: .of([grant]))
      entry.add(.signInProvider, .text(provider))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        of: .revoked, grant, until: nil, of: record.administrator, by: author, at: now, connection)
    }
    if !revoked.isEmpty {
      _ = try ServiceTokens.revokeExceeding(id, by: author, at: now, connection)
    }
    return ProviderRoleChange(
      administrator: id, name: change.name, granted: change.granted, revoked: revoked)
  }

  /// Returns the grants from widest to narrowest place, in the order of their IDs.
  private static func sorted(_ grants: Set<Grant>) -> [Grant] {
    func key(_ grant: Grant) -> (String, String, Int) {
      let rank = Role.allCases.firstIndex(of: grant.role) ?? 0
      return (grant.project?.text ?? "", grant.tenant?.text ?? "", rank)
    }
    return grants.sorted { key($0) < key($1) }
  }
}
