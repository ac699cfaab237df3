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

extension ConsoleProviders {
  /// What a ticket and an answer lead to, before the provider is asked.
  struct Attempt: Sendable {
    /// The session whose administrator confirms their identity; nil for a sign-in.
    let session: ConsoleSession?
    let ticket: ConsoleTicket
    let provider: ConsoleProvider
    let request: AuthorizationRequest
    let charges: [ThrottleCharge]
  }

  /// Completes a sign-in at the provider.
  ///
  /// Failed attempts are counted by network, before the provider is asked. The ticket is valid once
  /// and for ten minutes.
  public func finish(
    _ answer: ProviderAnswer, ticket: String, session: ConsoleSession?, redirect: String,
    from origin: SignInOrigin
  ) async throws -> ProviderSignIn {
    let attempt = try await attempt(answer, ticket, session, origin)
    do {
      if let error = answer.error { throw ProviderSignInError.refused(error) }
      let token = try await token(answer, attempt, redirect: redirect)
      return try await admit(token, attempt, from: origin)
    } catch let error as ProviderSignInError {
      try await record(error, attempt, origin)
      throw error
    } catch {
      try await store.write { try attempt.ticket.release($0) }
      throw error
    }
  }

  private func attempt(
    _ answer: ProviderAnswer, _ text: String, _ session: ConsoleSession?, _ origin: SignInOrigin
  ) async throws -> Attempt {
    let found: Result<Attempt, ProviderSignInError> = try await store.write { now, connection in
      guard let provider = try ConsoleProvider.find(connection) else {
        return .failure(.notConfigured)
      }
      for session in [session, nil] {
        let ticket = ConsoleTicket(
          text, Self.kind(session), at: now, by: tickets,
          boundTo: Self.binding(session, provider))
        guard let ticket, ticket.administrator == session?.administrator.id ?? ID("") else {
          continue
        }
        let request = try AuthorizationRequest(ticket.secret)
        guard constantTimeEqual(Array(request.state.utf8), Array(answer.state.utf8)),
          answer.issuer.map({ $0.utf8.elementsEqual(provider.issuer.utf8) }) ?? true
        else { return .failure(.ended) }
        let counter = ThrottleCounter.network(
          .consoleProvider(from: ClientAddress(seen: origin.address)))
        switch try ThrottleCharge.charge([counter], at: now, connection) {
        case .blocked(let until): return .failure(.throttled(until: until))
        case .charged(let charges):
          // Before the provider is asked: an answer that arrives twice would have it refuse the code,
          // and might end what it gave for it the first time.
          guard try ticket.use(connection) else { return .failure(.ended) }
          return .success(
            Attempt(
              session: session, ticket: ticket, provider: provider, request: request,
              charges: charges))
        }
      }
      return .failure(.ended)
    }
    return try found.get()
  }

  /// Exchanges the code, and verifies the ID token.
  private func token(
    _ answer: ProviderAnswer, _ attempt: Attempt, redirect: String
  ) async throws -> (token: IDToken, groups: ProviderGroups) {
    let provider = attempt.provider
    guard let code = answer.code, (1...ProviderAnswer.longestCode).contains(code.utf8.count) else {
      throw ProviderSignInError.ended
    }
    let known: ProviderDirectory.Entry
    do { known = try await directory.entry(of: provider.issuer, at: store.clock.now()) } catch {
      throw ProviderSignInError.provider(error.fault)
    }
    guard answer.issuer != nil || !known.discovery.namesIssuer else {
      throw ProviderSignInError.ended
    }
    let response = try await exchange(code, attempt, known.discovery, redirect: redirect)
    var token = try await verified(response, attempt, known)
    let groups = token.groups(in: provider.groupsClaim)
    if let groups, token.person.name != nil, token.person.email != nil { return (token, groups) }
    // With the code flow, the name and the address can be there only (Core 1.0, section 5.4).
    let info: UserInfo?
    do { info = try await userInfo(token, response, known.discovery) } catch {
      guard let groups else { throw error }
      return (token, groups)
    }
    if let info { token.add(info) }
    if let found = groups ?? info?.groups(in: provider.groupsClaim) { return (token, found) }
    // Without this, someone in too many groups would lose the roles of all of them.
    guard !token.refersElsewhere(for: provider.groupsClaim) else {
      throw ProviderSignInError.groupsNotListed
    }
    return (token, ProviderGroups([]))
  }

  private func exchange(
    _ code: String, _ attempt: Attempt, _ discovery: Discovery, redirect: String
  ) async throws -> TokenResponse {
    let provider = attempt.provider
    let secret = try provider.sealedSecret.map { box in
      try StoredSecret.consoleProvider.opening { try sealer.open(box, with: Self.place) }
    }
    let request = TokenRequest(
      code: code, redirect: redirect, verifier: attempt.request.verifier,
      clientID: provider.clientID, secret: secret, usesBasic: discovery.acceptsBasic)
    var fields = [("Content-Type", "application/x-www-form-urlencoded")]
    if let authorization = request.authorization {
      fields.append(("Authorization", authorization.revealedText))
    }
    let response = try await send(
      ProviderRequest(
        discovery.tokenEndpoint, fields: fields, body: request.body.revealedBytes))
    guard response.status == 200, let tokens = TokenResponse(response.body) else {
      throw ProviderSignInError.tokenRefused(
        ProviderErrorCode(response: response.body) ?? ProviderErrorCode(""))
    }
    return tokens
  }

  /// Verifies the ID token, and again with new keys if none of the known ones signed it.
  private func verified(
    _ response: TokenResponse, _ attempt: Attempt, _ known: ProviderDirectory.Entry
  ) async throws -> IDToken {
    let (provider, now) = (attempt.provider, store.clock.now())
    let expected = IDToken.Expectation(
      nonce: attempt.request.nonce, accessToken: response.accessToken?.revealedText,
      authenticatedSince: attempt.session.map { _ in attempt.ticket.issuedAt.seconds })
    func verify(_ keys: KeySet) throws(TokenFault) -> IDToken {
      let check = TokenCheck(
        issuer: provider.issuer, clientID: provider.clientID, keys: keys, now: now.seconds)
      return try IDToken(response.idToken, check, expected)
    }
    do { return try verify(known.keys) } catch {
      guard error == .wrongSignature else { throw ProviderSignInError.invalidToken(error) }
    }
    let renewed: ProviderDirectory.Entry
    do { renewed = try await directory.renewed(provider.issuer, at: now) } catch {
      throw ProviderSignInError.provider(error.fault)
    }
    do { return try verify(renewed.keys) } catch { throw ProviderSignInError.invalidToken(error) }
  }

  private func userInfo(
    _ token: IDToken, _ tokens: TokenResponse, _ discovery: Discovery
  ) async throws -> UserInfo? {
    guard let endpoint = discovery.userInfoEndpoint, let access = tokens.accessToken else {
      return nil
    }
    let response = try await send(
      ProviderRequest(endpoint, fields: [("Authorization", "Bearer \(access.revealedText)")]))
    guard response.status == 200, let info = UserInfo(response.body, subject: token.subject) else {
      throw ProviderSignInError.userInfoRefused(status: response.status)
    }
    return info
  }

  private func send(
    _ request: ProviderRequest
  ) async throws -> ProviderResponse {
    let response: ProviderResponse
    do { response = try await directory.transport.send(request) } catch {
      throw ProviderSignInError.provider(.unreachable(error.diagnosis))
    }
    // A provider that's overloaded says nothing about the person.
    guard response.status < 500, response.status != 429 else {
      throw ProviderSignInError.provider(.unreachable("HTTP \(response.status)"))
    }
    return response
  }

  /// Records a refused sign-in.
  ///
  /// One that the provider couldn't answer says nothing about the person: it isn't counted, and can be
  /// tried again a few times. It's an event of the server's log, not an entry of the audit log, which
  /// anyone could fill during an outage.
  private func record(
    _ error: ProviderSignInError, _ attempt: Attempt, _ origin: SignInOrigin
  ) async throws {
    let author = Author(actor: .visitor, address: origin.address, requestID: origin.requestID)
    let id = attempt.session?.administrator.id
    try await store.write { now, connection in
      if case .provider = error {
        try attempt.ticket.release(connection)
        for charge in attempt.charges { try charge.refund(connection) }
        return
      }
      var entry = AuditEntry(
        .administratorProviderRefused, .administrator, id?.text ?? "", name: "")
      entry.add(.signInProvider, .text(attempt.provider.name))
      entry.add(.providerRefusal, .code(error.code))
      if let subject = error.subject { entry.add(.subject, .text(subject)) }
      try entry.record(by: author, at: now, connection)
      try ThrottleCharge.recordBlocks(attempt.charges, of: id, by: author, at: now, connection)
    }
  }
}
