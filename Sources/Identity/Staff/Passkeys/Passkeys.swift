public import Crypto
import Database
import Text
public import WebAuthn

/// Creates and changes administrators' passkeys, and signs in with them.
///
/// A passkey with user verification is two factors: the device, and a PIN or fingerprint.
public struct Passkeys: Sendable {
  let store: Store
  let tickets: Sealer
  let totp: AdministratorTOTP
  let administrators: Administrators
  let sessions: ConsoleSessions

  /// The time for which a re-authentication allows changes to one's own factors, in seconds.
  static let freshness = AdministratorFactors.freshness

  /// Lists an administrator's passkeys, oldest first.
  public func list(of id: ID<Administrator>) async throws -> [Passkey] {
    try await store.read { connection in
      try PasskeyRecord.all(of: id, connection).map(\.passkey)
    }
  }

  /// Returns whether the session must re-authenticate before its administrator's own factors
  /// change; without a second factor, the password is asked for instead.
  public func needsReauthentication(
    _ session: ConsoleSession
  ) async throws -> Bool {
    try await store.read { now, connection in
      try Self.needsReauthentication(session, at: now, connection)
    }
  }

  static func needsReauthentication(
    _ session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    func isRecent(_ time: Instant?) -> Bool {
      time?.isRecent(within: freshness, at: now) ?? false
    }
    let times = try connection.first(
      "SELECT proved_at, passkey_at FROM console_session WHERE \(ConsoleSessions.isSame(session))"
    ) { (proved: try $0.next() as Instant?, passkey: try $0.next() as Instant?) }
    // The session may have ended since the request began, such as while a password was hashed.
    guard let times, try ConsoleSessions.isOpen(session, at: now, connection) else { return true }
    let methods = try ReauthenticationMethod.all(of: session.administrator.id, connection)
    guard !methods.isEmpty else { return false }
    guard isRecent(times.proved) else { return true }
    // Otherwise a phished code would add a passkey where only a passkey is accepted, to a session that
    // began with one, too.
    return try methods.contains(.passkey) && !isRecent(times.passkey)
      && PasskeyRequirement.applies(to: session.administrator, connection)
  }

  /// Starts creating a passkey, without writing anything.
  public func begin(for session: ConsoleSession) async throws -> PasskeyChallenge {
    try await challenge(.passkeyCreation, for: session)
  }

  func challenge(
    _ kind: ConsoleTicket.Kind, for session: ConsoleSession
  ) async throws -> PasskeyChallenge {
    let id = session.administrator.id
    let known = try await store.read { connection in
      try PasskeyRecord.all(of: id, connection).map(\.credential)
    }
    return try challenge(kind, of: id, boundTo: session.csrfToken, credentials: known)
  }

  func challenge(
    _ kind: ConsoleTicket.Kind, of id: ID<Administrator>, boundTo binding: String,
    credentials: [[UInt8]]
  ) throws -> PasskeyChallenge {
    let bytes = store.random.bytes(32)
    let ticket = ConsoleTicket(
      id, secret: Secret(bytes), at: store.clock.now(), random: store.random)
    return PasskeyChallenge(
      bytes: bytes, ticket: try ticket.sealed(kind, by: tickets, boundTo: binding),
      credentials: credentials)
  }

  /// Stores a new passkey, and notifies its administrator.
  ///
  /// Unknown `transports` are ignored. `password` is the account's password, if there is no second
  /// factor and the session isn't recent.
  ///
  /// - Returns: The passkey, and recovery codes if there's no authenticator app, there were none,
  ///   and they would be accepted.
  public func create(
    _ response: RegistrationResponse, ticket: String, name: String,
    transports: [String] = [], password: Secret? = nil, in session: ConsoleSession,
    for party: RelyingParty, by author: Author
  ) async throws -> NewPasskey {
    let now = store.clock.now()
    let name = try Self.checked(name)
    let id = session.administrator.id
    let ticket = ConsoleTicket(
      ticket, .passkeyCreation, at: now, by: tickets, boundTo: session.csrfToken)
    guard let ticket, ticket.administrator == id else { throw PasskeyError.ended }
    let new: RegisteredPasskey
    do {
      new = try response.verify(challenge: ticket.secret.revealedBytes, for: party)
    } catch { throw PasskeyError.refused }
    let isAsked = AdministratorFactors.asksForPassword(in: session, at: now)
    let verified =
      isAsked
      ? try await administrators.verifyPassword(
        password, in: session, by: author, PasskeyError.self) : nil
    let passkey = Passkey(
      id: ID(store.random.uuid()), name: name, createdAt: now, lastUsedAt: nil,
      isBackedUp: new.isBackedUp)
    return try await store.write(by: author) { connection in
      if try Self.needsReauthentication(session, at: now, connection) {
        throw PasskeyError.reauthenticationRequired
      }
      let known = try PasskeyRecord.all(of: id, connection)
      guard known.count < Passkey.most else { throw PasskeyError.tooMany }
      guard try PasskeyRecord.find(credential: new.id, connection) == nil else {
        throw PasskeyError.exists
      }
      let methods = try ReauthenticationMethod.all(of: id, connection)
      let isFirst = methods.isEmpty
      if isFirst, isAsked {
        // Read again: the password may have changed while this one was hashed.
        let hash = try Administrators.passwordHash(of: id, connection)
        guard let verified, hash?.encoded == verified.encoded else {
          throw PasskeyError.wrongPassword
        }
      }
      guard try ticket.use(connection) else { throw PasskeyError.ended }
      try PasskeyRecord.insert(
        new, passkey.id, name: name,
        transports: transports.filter(Self.transports.contains), of: id, at: now, connection)
      var entry = AuditEntry(.administratorPasskeyCreate, of: session.administrator)
      entry.add(.passkey, .text(name))
      if isFirst {
        entry.addEnded(
          try ConsoleSessions.endAll(of: id, but: session.id, at: now, connection))
      }
      // An administrator who loses their only device doesn't depend on another one, unless only
      // passkeys are accepted.
      let needsCodes =
        try !methods.contains(.totp) && RecoveryCodes.left(of: id, connection) == 0
        && !PasskeyRequirement.applies(to: session.administrator, connection)
      let codes =
        needsCodes ? try RecoveryCodes.make(for: id, random: store.random, connection) : []
      if needsCodes { entry.add(.codes, from: .number(0), to: .number(codes.count)) }
      try entry.record(by: author, at: now, connection)
      try store.outbox.notify(
        session.administrator, .passkeyAdded(name: name), at: now, connection)
      return NewPasskey(passkey: passkey, recoveryCodes: codes)
    }
  }

  /// The kinds of connections in the standard (Web Authentication Level 3, section 5.8.4).
  private static let transports = ["ble", "hybrid", "internal", "nfc", "smart-card", "usb"]

  /// Returns a name without surrounding white space.
  static func checked(_ name: String) throws(PasskeyError) -> String {
    let name = name.trimmed
    guard !name.isEmpty else { throw .nameRequired }
    guard name.count <= Passkey.longestName else { throw .nameTooLong }
    return name
  }

  public func rename(
    _ id: ID<Passkey>, _ name: String, in session: ConsoleSession, by author: Author
  ) async throws {
    let name = try Self.checked(name)
    try await change(id, in: session) { passkey, now, connection in
      guard !passkey.name.isSameBytes(as: name) else { return }
      try connection.run(
        "UPDATE passkey SET name = \(name) WHERE passkey_id = \(id)")
      var entry = AuditEntry(.administratorPasskeyRename, of: session.administrator)
      entry.add(.passkey, from: .text(passkey.name), to: .text(name))
      try entry.record(by: author, at: now, connection)
    }
  }

  /// Removes one of the administrator's passkeys, ends their other sessions, and notifies them.
  ///
  /// - Throws: ``PasskeyError/mandatory(_:)`` for one that must stay.
  public func remove(
    _ id: ID<Passkey>, in session: ConsoleSession, by author: Author
  ) async throws {
    let administrator = session.administrator
    try await change(id, in: session) { passkey, now, connection in
      try connection.run("DELETE FROM passkey WHERE passkey_id = \(id)")
      // Checked after the change, with the grants of now.
      let methods = try ReauthenticationMethod.all(of: administrator.id, connection)
      let record = try Administrators.record(administrator.id, at: now, connection)
      let current = record.administrator
      // First, because where a passkey is required, an authenticator app isn't enough.
      if !methods.contains(.passkey), try PasskeyRequirement.applies(to: current, connection) {
        throw PasskeyError.mandatory(.lastPasskey)
      }
      if methods.isEmpty,
        try current.mustHaveSecondFactor || SessionLimits.find(connection).requiresSecondFactor
      {
        throw PasskeyError.mandatory(.lastSecondFactor)
      }
      do {
        try Administrators.requireOwners(after: record, losing: current.grants, connection)
      } catch ManagementError.lastOwner {
        throw PasskeyError.mandatory(.lastOwner)
      } catch ManagementError.breakGlassAccount {
        throw PasskeyError.mandatory(.breakGlass)
      }
      let codes = try methods.isEmpty ? RecoveryCodes.left(of: administrator.id, connection) : 0
      if methods.isEmpty { try RecoveryCodes.clear(administrator.id, connection) }
      let ended = try ConsoleSessions.endAll(
        of: administrator.id, but: session.id, at: now, connection)
      var entry = AuditEntry(.administratorPasskeyRemove, of: administrator)
      entry.add(.passkey, lost: .text(passkey.name))
      if codes > 0 { entry.add(.codes, lost: .number(codes)) }
      entry.addEnded(ended)
      try entry.record(by: author, at: now, connection)
      try store.outbox.notify(
        administrator, .passkeyRemoved(name: passkey.name), at: now, connection)
    }
  }

  private func change(
    _ id: ID<Passkey>, in session: ConsoleSession,
    _ body: @escaping @Sendable (Passkey, Instant, borrowing Connection) throws -> Void
  ) async throws {
    try await store.write { now, connection in
      let own = try PasskeyRecord.all(of: session.administrator.id, connection)
      guard let record = own.first(where: { $0.passkey.id == id }) else {
        throw CallError.notFound
      }
      if try Self.needsReauthentication(session, at: now, connection) {
        throw PasskeyError.reauthenticationRequired
      }
      try body(record.passkey, now, connection)
    }
  }
}
