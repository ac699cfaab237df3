import Crypto
import Database
import OpenIDConnect

extension ConsoleProviders {
  /// Starts a sign-in at the provider, without writing anything.
  ///
  /// In a session, its administrator confirms their identity, and is linked if they aren't yet.
  public func begin(
    in session: ConsoleSession? = nil, redirect: String
  ) async throws -> ProviderStart {
    let now = store.clock.now()
    let provider = try await store.read { connection in
      guard let provider = try ConsoleProvider.find(connection) else {
        throw ProviderSignInError.notConfigured
      }
      if let session, session.provider.name == nil,
        try Self.needsReauthentication(session, at: now, connection)
      {
        throw ProviderSignInError.reauthenticationRequired
      }
      return provider
    }
    let known: ProviderDirectory.Entry
    do { known = try await directory.entry(of: provider.issuer, at: now) } catch {
      throw ProviderSignInError.provider(error.fault)
    }
    let ticket = ConsoleTicket(
      session?.administrator.id ?? ID(""),
      secret: Secret(store.random.bytes(AuthorizationRequest.secretLength)), at: now,
      random: store.random)
    let request = try AuthorizationRequest(ticket.secret)
    return ProviderStart(
      address: request.address(
        at: known.discovery.authorizationEndpoint, clientID: provider.clientID,
        redirect: redirect, scopes: provider.scopes, isFresh: session != nil),
      ticket: try ticket.sealed(
        Self.kind(session), by: tickets, boundTo: Self.binding(session, provider)))
  }

  static func kind(_ session: ConsoleSession?) -> ConsoleTicket.Kind {
    session == nil ? .providerSignIn : .providerConfirmation
  }

  /// What a ticket is bound to: a change of the provider ends pending sign-ins.
  static func binding(_ session: ConsoleSession?, _ provider: ConsoleProvider) -> String {
    [provider.issuer, provider.clientID, session?.csrfToken ?? ""].joined(separator: "\n")
  }

  /// Returns whether a session must re-authenticate before its administrator is linked: without a second
  /// factor, a recent sign-in is enough, as for the first second factor.
  static func needsReauthentication(
    _ session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try Passkeys.needsReauthentication(session, at: now, connection)
      || AdministratorFactors.asksForPassword(in: session, at: now)
  }
}
