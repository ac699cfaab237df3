import Crypto
import Database
import OpenIDConnect

extension ConsoleProviders {
  /// Starts a sign-in at the provider, without writing anything.
  ///
  /// - Parameters:
  ///   - purpose: What it's for.
  ///   - redirect: Where the provider sends the answer.
  /// - Returns: Where the browser goes, and the value of its cookie.
  /// - Throws: ``ProviderSignInError``.
  public func begin(
    _ purpose: ProviderPurpose, redirect: String
  ) async throws(ProviderSignInError) -> ProviderStart {
    let now = store.clock.now()
    let provider = try await store.read(ProviderSignInError.self) { connection in
      guard let provider = try ConsoleProvider.find(connection) else {
        throw ProviderSignInError.notConfigured
      }
      if let session = purpose.session {
        let link = try AdministratorProviderLink.find(session.administrator.id, connection)
        switch purpose {
        case .link:
          if try Self.needsReauthentication(session, at: now, connection) {
            throw ProviderSignInError.reauthenticationRequired
          }
        case .reauthentication:
          guard link?.issuer == provider.issuer else { throw ProviderSignInError.notLinked }
        case .signIn: break
        }
      }
      return provider
    }
    let known: ProviderDirectory.Entry
    do { known = try await directory.entry(of: provider.issuer, at: now) } catch {
      throw .provider(error.fault)
    }
    let ticket = ConsoleTicket(
      purpose.session?.administrator.id ?? ID(""),
      secret: Secret(store.random.bytes(AuthorizationRequest.secretLength)), at: now,
      random: store.random)
    do {
      let request = try AuthorizationRequest(ticket.secret)
      let isFresh = purpose.kind == .providerReauthentication
      return ProviderStart(
        address: request.address(
          at: known.discovery.authorizationEndpoint, clientID: provider.clientID,
          redirect: redirect, scopes: provider.scopes, isFresh: isFresh),
        ticket: try ticket.sealed(
          purpose.kind, by: tickets, boundTo: Self.binding(purpose, provider)))
    } catch { throw .unavailable(Failure(error)) }
  }

  /// What a ticket is bound to: a change of the provider ends pending sign-ins.
  static func binding(_ purpose: ProviderPurpose, _ provider: ConsoleProvider) -> String {
    [provider.issuer, provider.clientID, purpose.session?.csrfToken ?? ""].joined(separator: "\n")
  }
}
