import Crypto
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

extension [ProviderRoleChange] {
  /// A digest of the changes, with which a form confirms these and no others.
  public var digest: String {
    let text = map { change in
      let roles = [change.granted, change.revoked].map { grants in
        grants.map { grant in
          "\(grant.role.rawValue) \(grant.project?.text ?? "") \(grant.tenant?.text ?? "")"
        }.joined(separator: ",")
      }
      return "\(change.administrator.text) \(roles.joined(separator: ";"))"
    }.joined(separator: "\n")
    return Hex.encode([UInt8](HashFunction.sha256.digest([UInt8](text.utf8)).prefix(16)))
  }
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

  /// Returns the changes, made one after another, without revoking a role without which no one who
  /// can sign in would manage administrators.
  static func keepingLastOwner(
    _ changes: [ProviderRoleChange], _ connection: borrowing Connection
  ) throws -> [ProviderRoleChange] {
    guard changes.contains(where: { $0.revoked.contains(where: \.managesAdministrators) }) else {
      return changes
    }
    var owners: Set<Owner> = []
    for (id, role) in try Administrators.lastingOwners(connection)
    where try Administrators.canSignIn(id, connection) {
      owners.insert(Owner(id: id, role: role))
    }
    return changes.map { change in
      let id = change.administrator
      // Someone whom a group gives a role can sign in with the provider.
      owners.formUnion(change.granted.compactMap { Owner(id, $0) })
      let revoked = change.revoked.filter { grant in
        guard let owner = Owner(id, grant) else { return true }
        guard !owners.subtracting([owner]).isEmpty else { return false }
        owners.remove(owner)
        return true
      }
      return ProviderRoleChange(
        administrator: id, name: change.name, granted: change.granted, revoked: revoked)
    }
  }

  /// A role with which someone manages administrators.
  private struct Owner: Hashable {
    let id: ID<Administrator>
    let role: String

    init(id: ID<Administrator>, role: String) { (self.id, self.role) = (id, role) }

    /// Creates the role; nil if it's another one.
    init?(_ id: ID<Administrator>, _ grant: Grant) {
      guard grant.managesAdministrators else { return nil }
      self.init(id: id, role: grant.role.rawValue)
    }
  }

  /// Returns the groups of an administrator's last sign-in with the provider that give them each role.
  static func groups(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> [Grant: [String]] {
    guard let link = try AdministratorProviderLink.find(id, connection),
      let provider = try ConsoleProvider.find(connection), link.issuer == provider.issuer
    else { return [:] }
    var groups: [Grant: [String]] = [:]
    for role in provider.roles where link.groups.has(role.group) {
      groups[role.grant, default: []].append(role.group)
    }
    return groups
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
    let whole = try change(
      of: id, named: record.administrator.displayName, to: wanted, connection)
    let change = try keepingLastOwner([whole], connection).first ?? whole
    for grant in change.granted {
      try Administrators.insert(grant, of: id, isFromProvider: true, at: now, connection)
    }
    for grant in change.revoked {
      try connection.run(
        "DELETE FROM administrator_grant WHERE \(Administrators.row(of: grant, id))")
    }
    for grant in change.granted {
      var entry = Administrators.entry(.administratorGrant, record)
      entry.add(.grants, .of([grant]))
      entry.add(.signInProvider, .text(provider))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        of: .given, grant, until: nil, of: record.administrator, by: author, at: now, connection)
    }
    for grant in change.revoked {
      var entry = Administrators.entry(.administratorRevoke, record)
      entry.add(.grants, lost: .of([grant]))
      entry.add(.signInProvider, .text(provider))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        of: .revoked, grant, until: nil, of: record.administrator, by: author, at: now, connection)
    }
    if !change.revoked.isEmpty {
      _ = try ServiceTokens.revokeExceeding(id, by: author, at: now, connection)
    }
    return change
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
