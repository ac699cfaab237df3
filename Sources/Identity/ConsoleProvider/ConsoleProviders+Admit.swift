import Crypto
import Database
import OpenIDConnect
import Text

extension ConsoleProviders {
  /// Does what the sign-in was for, in one transaction.
  ///
  /// A refusal is returned within the transaction rather than thrown, because the roles that it took
  /// away have to stay away.
  func admit(
    _ verified: (token: IDToken, groups: ProviderGroups), _ attempt: Attempt,
    from origin: SignInOrigin
  ) async throws(ProviderSignInError) -> ProviderSignIn {
    let now = store.clock.now()
    let provider = attempt.provider
    let devices = sessions.devices(origin.devices, at: now)
    let outcome: Result<ProviderSignIn, ProviderSignInError> = try await store.write(
      ProviderSignInError.self
    ) { connection in
      // The provider may have changed while it was asked.
      guard let current = try ConsoleProvider.find(connection), current.issuer == provider.issuer,
        current.clientID == provider.clientID
      else { return .failure(.ended) }
      // The provider may have ended the session while it was asked for the person.
      if let session = verified.token.sessionID,
        try ProviderSignOut.any(
          of: [ProviderSignOut(session: session, at: current.issuer)],
          since: attempt.ticket.issuedAt, connection)
      {
        return .failure(.ended)
      }
      // Or all of the person's sessions. One before the answer may be why they signed in again.
      if let link = try AdministratorProviderLink.find(
        issuer: current.issuer, subject: verified.token.subject, connection),
        try ProviderSignOut.any(
          of: [ProviderSignOut(link.administrator, at: current.issuer)],
          since: attempt.arrivedAt, connection)
      {
        return .failure(.ended)
      }
      let arrival = Arrival(
        token: verified.token, groups: verified.groups, provider: current, origin: origin,
        devices: devices, now: now)
      let result: Result<ProviderSignIn, ProviderSignInError> =
        switch attempt.purpose {
        case .signIn: try signIn(arrival, connection)
        case .link(let session): try link(session, arrival, connection)
        case .reauthentication(let session): try reauthenticate(session, arrival, connection)
        }
      if case .success = result { try ThrottleCharge.recordSuccess(attempt.charges, connection) }
      return result
    }
    return try outcome.get()
  }

  /// A person who signed in at the provider.
  private struct Arrival: Sendable {
    let token: IDToken
    let groups: ProviderGroups
    let provider: ConsoleProvider
    let origin: SignInOrigin
    let devices: [ConsoleTicket]
    let now: Instant

    var isSecondFactor: Bool { token.names(oneOf: provider.mfaValues) }

    var session: ProviderSession {
      ProviderSession(id: token.sessionID ?? "", isSecondFactor: isSecondFactor)
    }

    var identity: ProviderIdentity {
      ProviderIdentity(subject: token.subject, person: token.person, groups: groups)
    }

    func author(_ actor: Actor) -> Author {
      Author(actor: actor, address: origin.address, requestID: origin.requestID)
    }
  }

  private func signIn(
    _ arrival: Arrival, _ connection: borrowing Connection
  ) throws -> Result<ProviderSignIn, ProviderSignInError> {
    let (provider, now) = (arrival.provider, arrival.now)
    let link = try AdministratorProviderLink.find(
      issuer: provider.issuer, subject: arrival.token.subject, connection)
    let id: ID<Administrator>
    if let link {
      id = link.administrator
      try link.recordSignIn(arrival.groups, at: now, connection)
      try ProviderRoles.align(
        id, to: provider.grants(of: arrival.groups), provider: provider.name, store.outbox,
        by: arrival.author(.server), at: now, connection)
      guard try !Administrators.grants(id, at: now, connection).isEmpty else {
        try ConsoleSessions.endAll(of: id, but: nil, at: now, connection)
        return .failure(.noRole(arrival.identity))
      }
    } else {
      switch try provision(arrival, connection) {
      case .failure(let error): return .failure(error)
      case .success(let new): id = new
      }
    }
    let methods = try ConsoleSessions.secondSteps(of: id, at: now, connection)
    if !arrival.isSecondFactor, !methods.isEmpty {
      let entry = AuditEntry(.administratorCodeDue, .administrator, id.text, name: "")
      try entry.record(by: arrival.author(.visitor), at: now, connection)
      let ticket = ConsoleTicket(
        id,
        secret: try ConsoleSessions.ticketSecret(
          of: id, provider: arrival.session, connection),
        at: now, random: store.random)
      return .success(.secondFactorDue(try ticket.sealed(.signIn, by: tickets), methods))
    }
    let new = try ConsoleSessions.begin(
      id, address: arrival.origin.address, userAgent: arrival.origin.userAgent,
      requestID: arrival.origin.requestID, provider: arrival.session, at: now,
      random: store.random, connection)
    try sessions.notify(
      of: new,
      from: RequestOrigin(address: arrival.origin.address, userAgent: arrival.origin.userAgent),
      requestID: arrival.origin.requestID, arrival.devices, connection)
    return .success(.signedIn(new))
  }

  /// Creates the administrator at the first sign-in, if one of their groups has a role.
  private func provision(
    _ arrival: Arrival, _ connection: borrowing Connection
  ) throws -> Result<ID<Administrator>, ProviderSignInError> {
    let (provider, now, person) = (arrival.provider, arrival.now, arrival.token.person)
    let wanted = try ProviderRoles.existing(provider.grants(of: arrival.groups), connection)
    guard !wanted.isEmpty else { return .failure(.noRole(arrival.identity)) }
    guard let email = person.email, (try? AccountRules.checkEmail(email)) != nil else {
      return .failure(.emailRequired(arrival.identity))
    }
    let folded = AccountRules.folded(email: email)
    let taken = try connection.first(
      "SELECT administrator_id FROM administrator WHERE email_folded = \(folded)"
    ) { ID<Administrator>(try $0.value(0)) }
    // An address at the provider proves nothing: someone who can set it there would take over the account.
    if let taken {
      let canSignIn = try Administrators.record(taken, at: now, connection).canSignIn
      return .failure(
        canSignIn ? .emailTaken(arrival.identity) : .emailOfUnusable(arrival.identity))
    }
    let name = person.name.flatMap { UserPoolRules.isDisplayName($0) ? $0 : nil } ?? email
    let id = ID<Administrator>(store.random.uuid())
    let author = arrival.author(.server)
    try connection.run(
      """
      INSERT INTO administrator (administrator_id, email, email_folded, display_name,
        password_hash, created_at)
      VALUES (\(id.text), \(email), \(folded), \(name), '', \(now.microseconds))
      """)
    var entry = AuditEntry(.administratorCreate, .administrator, id.text, name: name)
    entry.add(.email, .text(email))
    entry.add(.signInProvider, .text(provider.name))
    entry.add(.subject, .text(arrival.token.subject))
    try entry.record(by: author, at: now, connection)
    try Invitations.revoke(for: email, by: author, at: now, connection)
    try AdministratorProviderLink.write(
      id, issuer: provider.issuer, subject: arrival.token.subject, groups: arrival.groups, at: now,
      isSignIn: true, connection)
    try ProviderRoles.align(
      id, to: wanted, provider: provider.name, store.outbox, by: author, at: now, connection)
    return .success(id)
  }

  private func link(
    _ session: ConsoleSession, _ arrival: Arrival, _ connection: borrowing Connection
  ) throws -> Result<ProviderSignIn, ProviderSignInError> {
    let (provider, now) = (arrival.provider, arrival.now)
    let administrator = session.administrator
    guard try ConsoleSessions.isOpen(session, at: now, connection) else {
      return .failure(.ended)
    }
    let other = try AdministratorProviderLink.find(
      issuer: provider.issuer, subject: arrival.token.subject, connection)
    guard other == nil || other?.administrator == administrator.id else {
      return .failure(.linkedElsewhere)
    }
    let old = try AdministratorProviderLink.find(administrator.id, connection)
    try AdministratorProviderLink.write(
      administrator.id, issuer: provider.issuer, subject: arrival.token.subject,
      groups: arrival.groups, at: now, isSignIn: false, connection)
    var entry = AuditEntry(.administratorLinkProvider, of: administrator)
    entry.add(.signInProvider, .text(provider.name))
    entry.add(.subject, from: .optional(old?.subject), to: .text(arrival.token.subject))
    if let old, old.issuer != provider.issuer || !old.subject.isSameBytes(as: arrival.token.subject)
    {
      entry.addEnded(try Self.endOthers(than: session, at: now, connection))
    }
    try entry.record(
      by: arrival.author(.administrator(administrator.id, name: administrator.displayName)),
      at: now, connection)
    try store.outbox.notify(
      administrator, .providerLinked(name: provider.name), at: now, connection)
    try ProviderRoles.align(
      administrator.id, to: provider.grants(of: arrival.groups), provider: provider.name,
      store.outbox, by: arrival.author(.server), at: now, connection)
    let renewed = try ConsoleSessions.renewToken(
      session, at: now, random: store.random, connection)
    return renewed.map { .success(.linked($0)) } ?? .failure(.ended)
  }

  private func reauthenticate(
    _ session: ConsoleSession, _ arrival: Arrival, _ connection: borrowing Connection
  ) throws -> Result<ProviderSignIn, ProviderSignInError> {
    let administrator = session.administrator
    let link = try AdministratorProviderLink.find(administrator.id, connection)
    guard let link, link.issuer == arrival.provider.issuer,
      link.subject.isSameBytes(as: arrival.token.subject)
    else { return .failure(.otherPerson) }
    let renewed = try ConsoleSessions.renew(
      session, with: arrival.session, at: arrival.now, random: store.random, connection)
    guard let renewed else { return .failure(.ended) }
    var entry = AuditEntry(.administratorStepUp, of: administrator)
    entry.add(.verification, .code(arrival.session.verification))
    entry.add(.signInProvider, .text(arrival.provider.name))
    try entry.record(
      by: arrival.author(.administrator(administrator.id, name: administrator.displayName)),
      at: arrival.now, connection)
    return .success(.reauthenticated(renewed, hasSecondFactor: arrival.isSecondFactor))
  }
}
