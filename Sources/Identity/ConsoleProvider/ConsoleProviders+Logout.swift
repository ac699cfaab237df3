import Crypto
import Database
public import OpenIDConnect

/// Why a logout token isn't accepted.
public enum ProviderLogoutError: Error, Sendable {
  /// There's no provider.
  case notConfigured
  /// The token isn't valid.
  case invalid(TokenFault)
  /// The token was used before.
  case replayed
  /// The provider's keys can't be fetched.
  case provider(ConsoleProviderFault)
  /// Too many invalid tokens; a retry is possible at the given time.
  case throttled(until: Instant)
  /// The database is unavailable.
  case unavailable(Failure)
}

extension ProviderLogoutError: UseCaseError {}

extension ConsoleProviders {
  /// Ends sessions because the provider says so (OpenID Connect Back-Channel Logout 1.0).
  ///
  /// Invalid tokens are counted by network, before they're checked; those that couldn't be checked
  /// aren't.
  ///
  /// - Parameters:
  ///   - text: The logout token.
  ///   - address: The provider's IP address.
  ///   - requestID: The request's ID in the log.
  /// - Returns: The number of sessions that ended.
  /// - Throws: ``ProviderLogoutError``.
  @discardableResult
  public func logOut(
    _ text: String, address: String, requestID: String = ""
  ) async throws(ProviderLogoutError) -> Int {
    let now = store.clock.now()
    let counter = ThrottleCounter.network("console logout", address)
    let (provider, charges) = try await begin(counter, at: now)
    let token: LogoutToken
    do { token = try await verified(text, provider, at: now) } catch {
      if case .provider = error {
        try await store.write(ProviderLogoutError.self) { connection in
          for charge in charges { try charge.refund(connection) }
        }
      }
      throw error
    }
    let author = Author(actor: .server, address: address, requestID: requestID)
    let ended: Int? = try await store.write(ProviderLogoutError.self) { connection in
      guard try Self.use(token, of: provider.issuer, connection) else { return nil }
      try ThrottleCharge.recordSuccess(charges, connection)
      return try Self.end(token, of: provider, by: author, at: now, connection)
    }
    guard let ended else { throw .replayed }
    return ended
  }

  private func verified(
    _ text: String, _ provider: ConsoleProvider, at now: Instant
  ) async throws(ProviderLogoutError) -> LogoutToken {
    do {
      let known = try await directory.entry(of: provider.issuer, at: now)
      return try await withKeys(of: provider, known) { check throws(TokenFault) in
        try LogoutToken(text, check)
      }
    } catch let error as ProviderSignInError {
      switch error {
      case .invalidToken(let fault): throw .invalid(fault)
      case .provider(let fault): throw .provider(fault)
      default: throw .unavailable(Failure(error))
      }
    } catch let error as DirectoryFault {
      throw .provider(error.fault)
    } catch { throw .unavailable(Failure(error)) }
  }

  private func begin(
    _ counter: ThrottleCounter, at now: Instant
  ) async throws(ProviderLogoutError) -> (ConsoleProvider, [ThrottleCharge]) {
    let found: Result<(ConsoleProvider, [ThrottleCharge]), ProviderLogoutError> =
      try await store.write(ProviderLogoutError.self) { connection in
        guard let provider = try ConsoleProvider.find(connection) else {
          return .failure(.notConfigured)
        }
        switch try ThrottleCharge.charge([counter], at: now, connection) {
        case .blocked(let until): return .failure(.throttled(until: until))
        case .charged(let charges): return .success((provider, charges))
        }
      }
    return try found.get()
  }

  /// Marks a token as used; returns false if it was used before.
  private static func use(
    _ token: LogoutToken, of issuer: String, _ connection: borrowing Connection
  ) throws -> Bool {
    let digest = Store.digest("\(issuer)\n\(token.id)")
    let issued = Instant(microseconds: token.issuedAt * 1_000_000)
    return try ConsoleTicket.use(TimeOrderedID.make(at: issued, ending: digest), connection)
  }

  private static func end(
    _ token: LogoutToken, of provider: ConsoleProvider, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    var ids: Set<ID<Administrator>> = []
    if let subject = token.subject {
      let link = try AdministratorProviderLink.find(
        issuer: provider.issuer, subject: subject, connection)
      if let link { ids.insert(link.administrator) }
    } else if let session = token.sessionID {
      ids = Set(
        try connection.all(
          """
          SELECT administrator_id FROM console_session
          WHERE provider_session = \(session) AND provider_issuer = \(provider.issuer)
          """
        ) { ID<Administrator>(try $0.value(0)) })
    }
    if let session = token.sessionID {
      try ProviderSignOut(session: session, at: provider.issuer).record(at: now, connection)
    }
    var ended = 0
    for id in ids {
      if token.sessionID == nil {
        try ProviderSignOut(id, at: provider.issuer).record(at: now, connection)
      }
      let count: Int
      if let session = token.sessionID {
        count = try connection.run(
          """
          DELETE FROM console_session WHERE administrator_id = \(id.text)
            AND provider_issuer = \(provider.issuer) AND provider_session = \(session)
          """)
      } else {
        count = try connection.run(
          """
          DELETE FROM console_session
          WHERE administrator_id = \(id.text) AND provider_issuer = \(provider.issuer)
          """)
      }
      guard count > 0, let administrator = try Administrators.present(id, at: now, connection)
      else { continue }
      var entry = AuditEntry(.administratorProviderSignOut, of: administrator)
      entry.add(.signInProvider, .text(provider.name))
      entry.addEnded(count)
      try entry.record(by: author, at: now, connection)
      ended += count
    }
    return ended
  }
}
