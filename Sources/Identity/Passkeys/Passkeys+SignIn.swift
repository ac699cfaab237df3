import Crypto
import Database
public import WebAuthn

extension Passkeys {
  /// Starts a sign-in with a passkey alone, without writing anything.
  ///
  /// `browser` is a secret of the browser, without which the challenge can't be used.
  public func beginSignIn(in browser: String) throws -> PasskeyChallenge {
    try challenge(.passkeySignIn, of: ID(""), boundTo: browser, credentials: [])
  }

  /// Starts the passkey step of a sign-in with a password, without writing anything.
  ///
  /// - Returns: Nil if the sign-in expired, or the administrator has no passkey.
  public func beginSecondFactor(
    _ pending: String, in browser: String
  ) async throws -> PasskeyChallenge? {
    let now = store.clock.now()
    guard let first = ConsoleTicket(pending, .signIn, at: now, by: tickets) else { return nil }
    let known = try await store.read { connection in
      try ConsoleSessions.isPending(first, at: now, connection)
        ? PasskeyRecord.all(of: first.administrator, connection).map(\.credential) : []
    }
    guard !known.isEmpty else { return nil }
    return try challenge(
      .passkeySecondFactor, of: first.administrator, boundTo: browser, credentials: known)
  }

  /// Signs in with a passkey alone.
  public func signIn(
    _ response: PasskeyResponse, ticket: String, in browser: String, for party: RelyingParty,
    from origin: SignInOrigin
  ) async throws -> NewConsoleSession {
    let ticket = ConsoleTicket(
      ticket, .passkeySignIn, at: store.clock.now(), by: tickets, boundTo: browser)
    guard let ticket else { throw ConsoleSignInError.ended }
    return try await finish(
      response, ticket, after: nil,
      .network(.consolePasskeys(from: ClientAddress(seen: origin.address))), for: party,
      from: origin)
  }

  /// Completes a sign-in with a password by a passkey.
  public func finish(
    _ pending: String, _ response: PasskeyResponse, ticket text: String, in browser: String,
    for party: RelyingParty, from origin: SignInOrigin
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let first = ConsoleTicket(pending, .signIn, at: now, by: tickets)
    let ticket = ConsoleTicket(
      text, .passkeySecondFactor, at: now, by: tickets, boundTo: browser)
    guard let first, let ticket, ticket.administrator == first.administrator else {
      throw ConsoleSignInError.ended
    }
    return try await finish(
      response, ticket, after: first, Self.counter(first.administrator), for: party, from: origin)
  }

  private func finish(
    _ response: PasskeyResponse, _ ticket: ConsoleTicket, after first: ConsoleTicket?,
    _ counter: ThrottleCounter, for party: RelyingParty, from origin: SignInOrigin
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let (random, sessions) = (store.random, sessions)
    let devices = sessions.devices(origin.devices, at: now)
    let author = Author(
      actor: .visitor, address: origin.address, requestID: origin.requestID)
    let outcome: Result<NewConsoleSession, ConsoleSignInError> =
      try await store.write { connection in
        if let first, try !ConsoleSessions.isPending(first, at: now, connection) {
          return .failure(.ended)
        }
        switch try Self.verify(
          response, ticket, of: first?.administrator, counter, for: party, at: now, connection)
        {
        case .ended: return .failure(.ended)
        case .throttled(let until): return .failure(.throttled(until: until))
        case .refused(let charges, let record, let why):
          try Self.recordRefusal(
            charges, record, why, of: first?.administrator, by: author, at: now, connection)
          return .failure(.passkeyRefused)
        case .passed(let record):
          guard
            try first?.provider != nil || PasswordSignIn.admits(record.administrator, connection)
          else {
            try Self.recordRefusal(
              [], record, .signInOff, of: record.administrator, by: author, at: now, connection)
            return .failure(.passkeyRefused)
          }
          if let first, try !first.use(connection) { return .failure(.ended) }
          let new = try ConsoleSessions.begin(
            record.administrator, address: origin.address, userAgent: origin.userAgent,
            requestID: origin.requestID, proof: .passkey(name: record.passkey.name),
            provider: first?.provider, at: now, random: random, connection)
          try sessions.notify(
            of: new, from: RequestOrigin(address: origin.address, userAgent: origin.userAgent),
            requestID: origin.requestID, devices, connection)
          return .success(new)
        }
      }
    return try outcome.get()
  }
}

public struct SignInOrigin: Sendable {
  public let address: String
  public let userAgent: String
  /// The tokens of the browser's earlier sign-ins, from ``ConsoleSessions/deviceToken(for:replacing:)``.
  public let devices: [String]
  public let requestID: String

  public init(address: String, userAgent: String, devices: [String] = [], requestID: String) {
    (self.address, self.userAgent) = (address, userAgent)
    (self.devices, self.requestID) = (devices, requestID)
  }
}
