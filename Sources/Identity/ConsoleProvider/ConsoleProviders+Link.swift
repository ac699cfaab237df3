import Database

extension ConsoleProviders {
  /// Returns who an administrator is at the provider; nil if they aren't linked.
  ///
  /// - Throws: ``ProviderSignInError/unavailable(_:)``.
  public func link(
    of id: ID<Administrator>
  ) async throws(ProviderSignInError) -> AdministratorProviderLink? {
    try await store.read(ProviderSignInError.self) { connection in
      let issuer = try ConsoleProvider.find(connection)?.issuer
      let link = try AdministratorProviderLink.find(id, connection)
      return link?.issuer == issuer ? link : nil
    }
  }

  /// Returns the groups of an administrator's last sign-in that give them each role, and will again at
  /// the next one.
  ///
  /// - Throws: ``ProviderSignInError/unavailable(_:)``.
  public func groups(
    of id: ID<Administrator>
  ) async throws(ProviderSignInError) -> [Grant: [String]] {
    try await store.read(ProviderSignInError.self) { try ProviderRoles.groups(of: id, $0) }
  }

  /// Returns whether the session must re-authenticate before its administrator is linked or
  /// unlinked.
  ///
  /// - Throws: ``ProviderSignInError/unavailable(_:)``.
  public func needsReauthentication(
    _ session: ConsoleSession
  ) async throws(ProviderSignInError) -> Bool {
    let now = store.clock.now()
    return try await store.read(ProviderSignInError.self) {
      try Self.needsReauthentication(session, at: now, $0)
    }
  }

  /// Without a second factor, a recent sign-in is enough, as for the first second factor.
  static func needsReauthentication(
    _ session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try Passkeys.needsReauthentication(session, at: now, connection)
      || AdministratorFactors.asksForPassword(in: session, at: now)
  }

  /// Returns why an administrator couldn't sign in without their link; nil if they could.
  ///
  /// - Throws: ``ProviderSignInError/unavailable(_:)``.
  public func linkNecessity(
    for id: ID<Administrator>
  ) async throws(ProviderSignInError) -> LinkNecessity? {
    try await store.read(ProviderSignInError.self) { try Self.linkNecessity(for: id, $0) }
  }

  private static func linkNecessity(
    for id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> LinkNecessity? {
    guard try PasswordSignIn.admits(id, connection) else { return .passwordSignInOff }
    return try Administrators.hasOwnSignIn(id, connection) ? nil : .noOwnSignIn
  }

  /// Removes the administrator's own link: roles that come from groups are revoked, and sessions
  /// that began with the provider end.
  ///
  /// - Throws: ``ProviderSignInError``.
  public func unlink(
    _ session: ConsoleSession, by author: Author
  ) async throws(ProviderSignInError) {
    let now = store.clock.now()
    let (administrator, outbox) = (session.administrator, store.outbox)
    try await store.write(ProviderSignInError.self) { connection in
      guard let link = try AdministratorProviderLink.find(administrator.id, connection) else {
        throw ProviderSignInError.notLinked
      }
      if try Self.needsReauthentication(session, at: now, connection) {
        throw ProviderSignInError.reauthenticationRequired
      }
      if let necessity = try Self.linkNecessity(for: administrator.id, connection) {
        throw ProviderSignInError.linkRequired(necessity)
      }
      let name = try ConsoleProvider.name(connection) ?? link.issuer
      try AdministratorProviderLink.delete(administrator.id, connection)
      var entry = AuditEntry(.administratorUnlinkProvider, of: administrator)
      entry.add(.signInProvider, .text(name))
      entry.add(.subject, lost: .text(link.subject))
      try entry.record(by: author, at: now, connection)
      try outbox.notify(administrator, .providerUnlinked(name: name), at: now, connection)
      try ProviderRoles.align(
        administrator.id, to: [], provider: name, outbox, by: author, at: now, connection)
      try Self.endOthers(than: session, at: now, connection)
    }
  }

  /// Ends the administrator's other sessions that began with a provider, which its logout tokens no
  /// longer end, and returns how many were open.
  @discardableResult
  static func endOthers(
    than session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int {
    try ConsoleSessions.end(of: session.administrator.id, at: now, connection) {
      $0.isFromProvider && $0.name != session.id
    }
  }
}
