import Database

/// Brings the roles that come from groups in line with the groups.
///
/// Roles that an administrator granted by hand are never touched.
enum ProviderRoles {
  /// Returns the roles that an administrator has because of the groups of their last sign-in: none if
  /// they're linked with another issuer, or with none.
  static func wanted(
    of id: ID<Administrator>, by provider: ConsoleProvider?, _ connection: borrowing Connection
  ) throws -> Set<Grant> {
    guard let provider, let link = try AdministratorProviderLink.find(id, connection),
      link.issuer == provider.issuer
    else { return [] }
    return provider.grants(of: link.groups)
  }

  static func existing(
    _ wanted: Set<Grant>, _ connection: borrowing Connection
  ) throws -> Set<Grant> {
    try wanted.filter { grant in
      do { try Administrators.checkPlace(of: grant, connection) } catch ManagementError
        .poolNotFound
      { return false }
      return true
    }
  }

  /// Grants and revokes roles, each with its audit row.
  ///
  /// The last owner stays: a role without which no one could manage administrators isn't revoked.
  static func align(
    _ id: ID<Administrator>, to wanted: Set<Grant>, provider: String, _ outbox: Outbox,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try Administrators.endGrants(of: id, outbox, at: now, connection)
    let record = try Administrators.record(id, at: now, connection)
    let wanted = try existing(wanted, connection)
    for grant in wanted.subtracting(record.administrator.grants).inOrder {
      try Administrators.insert(grant, of: id, isFromProvider: true, at: now, connection)
      var entry = Administrators.entry(.administratorGrant, record)
      entry.add(.grants, .of([grant]))
      entry.add(.signInProvider, .text(provider))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        of: .given, grant, until: nil, of: record.administrator, by: author, at: now, connection)
    }
    var isRevoked = false
    for grant in record.groupGrants.subtracting(wanted).inOrder
    where try !isLastOwner(id, with: grant, connection) {
      try connection.run(
        "DELETE FROM administrator_grant WHERE \(Administrators.row(of: grant, id))")
      var entry = Administrators.entry(.administratorRevoke, record)
      entry.add(.grants, lost: .of([grant]))
      entry.add(.signInProvider, .text(provider))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        of: .revoked, grant, until: nil, of: record.administrator, by: author, at: now, connection)
      isRevoked = true
    }
    if isRevoked { _ = try ServiceTokens.revokeExceeding(id, by: author, at: now, connection) }
  }

  /// Returns whether no one who can sign in would manage administrators without this role.
  private static func isLastOwner(
    _ id: ID<Administrator>, with grant: Grant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard grant.managesAdministrators else { return false }
    return try !Administrators.lastingOwners(connection).contains { owner in
      try (owner.id != id || owner.role != grant.role.rawValue)
        && Administrators.canSignIn(owner.id, connection)
    }
  }
}
