import Crypto
import Database
public import WebAuthn

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
  /// - Throws: ``PasskeyError/notFound`` without a passkey.
  public func beginReauthentication(
    _ session: ConsoleSession
  ) async throws -> PasskeyChallenge {
    let challenge = try await challenge(.passkeyReauthentication, for: session)
    guard !challenge.credentials.isEmpty else { throw PasskeyError.notFound }
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
    let random = store.random
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
            random: random, connection)
          return renewed.map { .success($0) } ?? .failure(.sessionEnded)
        }
      }
    return try outcome.get()
  }

  /// Re-authenticates a session with a code of the authenticator app, or a recovery code, and
  /// returns it under its new token.
  public func reauthenticate(
    code: String, in session: ConsoleSession, by author: Author
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let administrator = session.administrator
    let (totp, random) = (totp, store.random)
    let outcome: Result<NewConsoleSession, PasskeyError> =
      try await store.write(by: author) { connection in
        guard try ConsoleSessions.isOpen(session, at: now, connection) else {
          return .failure(.sessionEnded)
        }
        let methods = try ReauthenticationMethod.all(of: administrator.id, connection)
        guard methods.contains(.totp) else { return .failure(.notFound) }
        switch try totp.check(code, of: administrator, by: author, at: now, connection) {
        case .failure(.throttled(let until)): return .failure(.throttled(until: until))
        case .failure(.usedCurrentCode): return .failure(.usedCode)
        case .failure: return .failure(.refused)
        case .success(let proof):
          let renewed = try ConsoleSessions.reauthenticate(
            session, with: proof, by: author, at: now, random: random, connection)
          return renewed.map { .success($0) } ?? .failure(.sessionEnded)
        }
      }
    return try outcome.get()
  }
}
