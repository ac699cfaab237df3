import Crypto
import Database
public import OTP
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
            provider: first?.provider, at: now, random: store.random, connection)
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

extension Passkeys {
  enum Outcome {
    case passed(PasskeyRecord)
    case refused([ThrottleCharge], PasskeyRecord?, PasskeyRefusal)
    case throttled(until: Instant)
    case ended
  }

  /// Verifies a response and records the use; the attempt is counted as failed before it's checked.
  ///
  /// `id` is the administrator whose passkey is expected; nil for any. The caller records the
  /// result.
  static func verify(
    _ response: PasskeyResponse, _ ticket: ConsoleTicket, of id: ID<Administrator>?,
    _ counter: ThrottleCounter, for party: RelyingParty, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Outcome {
    let charges: [ThrottleCharge]
    switch try ThrottleCharge.charge([counter], at: now, connection) {
    case .charged(let taken): charges = taken
    case .blocked(let until): return .throttled(until: until)
    }
    guard try ticket.use(connection) else { return .ended }
    guard response.credential.count <= WebAuthnLimits.credentialID,
      let record = try PasskeyRecord.find(credential: response.credential, connection),
      id == nil || record.administrator == id
    else { return .refused(charges, nil, .unknown) }
    // Without a named administrator, the authenticator must name the passkey's (section 7.2).
    let handle = Array(record.administrator.text.utf8)
    guard response.userHandle == handle || id != nil && response.userHandle.isEmpty else {
      return .refused(charges, record, .invalid)
    }
    let use: PasskeyUse
    do throws(WebAuthnError) {
      use = try response.assertion.verify(
        with: PasskeyKey(cose: record.key), lastCount: record.signCount,
        challenge: ticket.secret.revealedBytes, for: party)
    } catch {
      return .refused(charges, record, error == .countNotHigher ? .copied : .invalid)
    }
    guard try record.record(use, at: now, connection) else {
      return .refused(charges, record, .invalid)
    }
    try ThrottleCharge.recordSuccess(charges, connection)
    return .passed(record)
  }

  static func recordRefusal(
    _ charges: [ThrottleCharge], _ record: PasskeyRecord?, _ why: PasskeyRefusal,
    of id: ID<Administrator>?, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let owner = record?.administrator ?? id
    var entry = AuditEntry(
      .administratorPasskeyRefused, .administrator, owner?.text ?? "", name: "")
    if let record { entry.add(.passkey, .text(record.passkey.name)) }
    entry.add(.passkeyRefusal, .code(why.rawValue))
    try entry.record(by: author, at: now, connection)
    try ThrottleCharge.recordBlocks(charges, of: owner, by: author, at: now, connection)
  }

  /// The counter for an administrator's refused passkeys.
  static func counter(_ id: ID<Administrator>) -> ThrottleCounter {
    ThrottleCounter(.passkeys(of: id), .codes, .account)
  }

  /// Starts a re-authentication with a passkey, without writing anything.
  ///
  /// - Throws: ``CallError/notFound`` without a passkey.
  public func beginReauthentication(
    _ session: ConsoleSession
  ) async throws -> PasskeyChallenge {
    let challenge = try await challenge(.passkeyReauthentication, for: session)
    guard !challenge.credentials.isEmpty else { throw CallError.notFound }
    return challenge
  }

  /// Re-authenticates a session, and returns it under its new token.
  public func reauthenticate(
    _ response: PasskeyResponse, ticket text: String, in session: ConsoleSession,
    for party: RelyingParty, by author: Author
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let administrator = session.administrator
    let ticket = ConsoleTicket(
      text, .passkeyReauthentication, at: now, by: tickets, boundTo: session.csrfToken)
    guard let ticket, ticket.administrator == administrator.id else { throw PasskeyError.ended }
    let outcome: Result<NewConsoleSession, PasskeyError> =
      try await store.write(by: author) { connection in
        // Nothing is used up or recorded for a session that has ended since the request began.
        guard try ConsoleSessions.isOpen(session, at: now, connection) else {
          return .failure(.sessionEnded)
        }
        switch try Self.verify(
          response, ticket, of: administrator.id, Self.counter(administrator.id), for: party,
          at: now, connection)
        {
        case .ended: return .failure(.ended)
        case .throttled(let until): return .failure(.throttled(until: until))
        case .refused(let charges, let record, let why):
          try Self.recordRefusal(
            charges, record, why, of: administrator.id, by: author, at: now, connection)
          return .failure(.refused)
        case .passed(let record):
          let renewed = try ConsoleSessions.reauthenticate(
            session, with: .passkey(name: record.passkey.name), by: author, at: now,
            random: store.random, connection)
          return renewed.map { .success($0) } ?? .failure(.sessionEnded)
        }
      }
    return try outcome.get()
  }

  /// Re-authenticates a session with a code of the authenticator app, or a recovery code, and
  /// returns it under its new token.
  public func reauthenticate(
    code: TypedCode, in session: ConsoleSession, by author: Author
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let administrator = session.administrator
    let outcome: Result<NewConsoleSession, PasskeyError> =
      try await store.write(by: author) { connection in
        guard try ConsoleSessions.isOpen(session, at: now, connection) else {
          return .failure(.sessionEnded)
        }
        let methods = try ReauthenticationMethod.all(of: administrator.id, connection)
        guard methods.contains(.totp) else { throw CallError.notFound }
        switch try totp.check(code, of: administrator, by: author, at: now, connection) {
        case .failure(.throttled(let until)): return .failure(.throttled(until: until))
        case .failure(.usedCurrentCode): return .failure(.usedCode)
        case .failure: return .failure(.refused)
        case .success(let proof):
          let renewed = try ConsoleSessions.reauthenticate(
            session, with: proof, by: author, at: now, random: store.random, connection)
          return renewed.map { .success($0) } ?? .failure(.sessionEnded)
        }
      }
    return try outcome.get()
  }
}
