import Crypto
import Database
import OpenIDConnect

extension ConsoleProviders {
  struct Arrival: Sendable {
    let token: IDToken
    let groups: ProviderGroups
    let provider: ConsoleProvider
    let origin: SignInOrigin
    let devices: [ConsoleTicket]
    let now: Instant

    var proof: ProviderProof {
      provider.hasSecondFactor(token) ? .secondFactor : .identity
    }

    func author(_ actor: Actor) -> Author {
      Author(actor: actor, address: origin.address, requestID: origin.requestID)
    }
  }

  /// Does what the sign-in was for, in one transaction.
  ///
  /// A refusal is returned within the transaction rather than thrown, because the roles that it took
  /// away have to stay away.
  func admit(
    _ verified: (token: IDToken, groups: ProviderGroups), _ attempt: Attempt,
    from origin: SignInOrigin
  ) async throws -> ProviderSignIn {
    let now = store.clock.now()
    let devices = sessions.devices(origin.devices, at: now)
    let outcome: Result<ProviderSignIn, ProviderSignInError> = try await store.write { connection in
      // The provider may have changed while it was asked.
      guard let current = try ConsoleProvider.find(connection),
        current.issuer == attempt.provider.issuer, current.clientID == attempt.provider.clientID
      else { return .failure(.ended) }
      let arrival = Arrival(
        token: verified.token, groups: verified.groups, provider: current, origin: origin,
        devices: devices, now: now)
      let result = try admit(arrival, in: attempt.session, connection)
      if case .success = result { try ThrottleCharge.recordSuccess(attempt.charges, connection) }
      return result
    }
    return try outcome.get()
  }

  /// Finds, links, or creates the administrator, and brings their roles in line with the groups before
  /// anything else.
  private func admit(
    _ arrival: Arrival, in session: ConsoleSession?, _ connection: borrowing Connection
  ) throws -> Result<ProviderSignIn, ProviderSignInError> {
    let (provider, subject, now) = (arrival.provider, arrival.token.subject, arrival.now)
    let link = try AdministratorProviderLink.find(
      issuer: provider.issuer, subject: subject, connection)
    let id: ID<Administrator>
    if let session {
      if let refusal = try refusal(of: link, in: session, arrival, connection) {
        return .failure(refusal)
      }
      id = session.administrator.id
      if link == nil { try self.link(session.administrator, arrival, connection) }
    } else if let link {
      id = link.administrator
    } else {
      switch try provision(arrival, connection) {
      case .failure(let error): return .failure(error)
      case .success(let new): id = new
      }
    }
    try AdministratorProviderLink.write(
      id, issuer: provider.issuer, subject: subject, groups: arrival.groups, connection)
    try ProviderRoles.align(
      id, to: provider.grants(of: arrival.groups), provider: provider.name, store.outbox,
      by: arrival.author(.server), at: now, connection)
    guard try !Administrators.grants(id, at: now, connection).isEmpty else {
      try ConsoleSessions.endAll(of: id, but: nil, at: now, connection)
      return .failure(.noRole(subject: subject))
    }
    guard let session else { return .success(try begin(id, arrival, connection)) }
    return try confirm(session, isLinked: link == nil, arrival, connection)
  }

  /// Returns why someone else's session isn't the person's; nil if it is, or can be linked with them.
  private func refusal(
    of link: AdministratorProviderLink?, in session: ConsoleSession, _ arrival: Arrival,
    _ connection: borrowing Connection
  ) throws -> ProviderSignInError? {
    guard try ConsoleSessions.isOpen(session, at: arrival.now, connection) else { return .ended }
    let id = session.administrator.id
    if let link {
      return link.administrator == id ? nil : .otherPerson(subject: arrival.token.subject)
    }
    let own = try AdministratorProviderLink.find(id, connection)
    guard own?.issuer != arrival.provider.issuer else {
      return .otherPerson(subject: arrival.token.subject)
    }
    return try Self.needsReauthentication(session, at: arrival.now, connection)
      ? .reauthenticationRequired : nil
  }

  /// Links an administrator, in place of a link with another issuer.
  private func link(
    _ administrator: Administrator, _ arrival: Arrival, _ connection: borrowing Connection
  ) throws {
    let old = try AdministratorProviderLink.find(administrator.id, connection)
    try AdministratorProviderLink.delete(administrator.id, connection)
    var entry = AuditEntry(.administratorLinkProvider, of: administrator)
    entry.add(.signInProvider, .text(arrival.provider.name))
    entry.add(.subject, from: .optional(old?.subject), to: .text(arrival.token.subject))
    try entry.record(
      by: arrival.author(.administrator(administrator.id, name: administrator.displayName)),
      at: arrival.now, connection)
    try store.outbox.notify(
      administrator, .providerLinked(name: arrival.provider.name), at: arrival.now, connection)
  }

  /// Creates the administrator at the first sign-in, if one of their groups has a role.
  private func provision(
    _ arrival: Arrival, _ connection: borrowing Connection
  ) throws -> Result<ID<Administrator>, ProviderSignInError> {
    let (provider, now, person) = (arrival.provider, arrival.now, arrival.token.person)
    let subject = arrival.token.subject
    let wanted = try ProviderRoles.existing(provider.grants(of: arrival.groups), connection)
    guard !wanted.isEmpty else { return .failure(.noRole(subject: subject)) }
    guard let email = person.email, (try? AccountRules.checkEmail(email)) != nil else {
      return .failure(.emailRequired(subject: subject))
    }
    let folded = AccountRules.folded(email: email)
    let isTaken = try connection.first(
      "SELECT 1 FROM administrator WHERE email_folded = \(folded)"
    ) { _ in true }
    // An address at the provider proves nothing: someone who can set it there would take over the account.
    guard isTaken == nil else { return .failure(.emailTaken(subject: subject)) }
    let name = person.name.flatMap { PoolRules.isDisplayName($0) ? $0 : nil } ?? email
    let id = ID<Administrator>(store.random.uuid())
    let author = arrival.author(.server)
    try connection.run(
      """
      INSERT INTO administrator (administrator_id, email, email_folded, display_name,
        password_hash, created_at)
      VALUES (\(id), \(email), \(folded), \(name), '', \(now))
      """)
    var entry = AuditEntry(.administratorCreate, .administrator, id.text, name: name)
    entry.add(.email, .text(email))
    entry.add(.signInProvider, .text(provider.name))
    entry.add(.subject, .text(subject))
    try entry.record(by: author, at: now, connection)
    try Invitations.revoke(for: email, by: author, at: now, connection)
    return .success(id)
  }

  /// Begins a session, or the second step if the provider doesn't say that there was a second factor.
  private func begin(
    _ id: ID<Administrator>, _ arrival: Arrival, _ connection: borrowing Connection
  ) throws -> ProviderSignIn {
    let (origin, now) = (arrival.origin, arrival.now)
    let methods = try ConsoleSessions.secondSteps(of: id, at: now, connection)
    if arrival.proof != .secondFactor, !methods.isEmpty {
      let entry = AuditEntry(.administratorCodeDue, .administrator, id.text, name: "")
      try entry.record(by: arrival.author(.visitor), at: now, connection)
      let ticket = ConsoleTicket(
        id, secret: try ConsoleSessions.ticketSecret(of: id, isFromProvider: true, connection),
        at: now, random: store.random)
      return .secondFactorDue(try ticket.sealed(.signIn, by: tickets), methods)
    }
    let new = try ConsoleSessions.begin(
      id, address: origin.address, userAgent: origin.userAgent, requestID: origin.requestID,
      provider: arrival.proof, at: now, random: store.random, connection)
    try sessions.notify(
      of: new, from: RequestOrigin(address: origin.address, userAgent: origin.userAgent),
      requestID: origin.requestID, arrival.devices, connection)
    return .signedIn(new)
  }

  private func confirm(
    _ session: ConsoleSession, isLinked: Bool, _ arrival: Arrival,
    _ connection: borrowing Connection
  ) throws -> Result<ProviderSignIn, ProviderSignInError> {
    let (administrator, proof) = (session.administrator, arrival.proof)
    let renewed = try ConsoleSessions.renew(
      session, with: proof, at: arrival.now, random: store.random, connection)
    guard let renewed else { return .failure(.ended) }
    var entry = AuditEntry(.administratorStepUp, of: administrator)
    entry.add(.verification, .code(proof.rawValue))
    entry.add(.signInProvider, .text(arrival.provider.name))
    try entry.record(
      by: arrival.author(.administrator(administrator.id, name: administrator.displayName)),
      at: arrival.now, connection)
    return .success(
      .confirmed(renewed, isLinked: isLinked, hasSecondFactor: proof == .secondFactor))
  }
}

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
