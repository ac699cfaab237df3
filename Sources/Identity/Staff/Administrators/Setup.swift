public import Crypto
import Database
public import OTP

/// Why someone can't become an administrator with a setup code or an invitation.
public enum JoiningError: Error, Sendable {
  /// The instance already has an owner.
  case closed
  case wrongCode
  case throttled(until: Instant)
  /// The invitation doesn't exist, or was accepted, revoked, replaced, or has expired.
  case ended
  /// Password sign-in is off, so the password would be of no use.
  case passwordSignInOff
}

/// Creates the first owner, for someone who can read the server's output.
public struct Setup: Sendable {
  let store: Store
  let administrators: Administrators

  /// The digests of the valid codes, the newest last.
  private static let stored = InstanceValue("setup_code")
  /// The maximum number of servers that start at the same time, each with its own code.
  private static let mostCodes = 8

  /// Returns true if the instance has no owner.
  public func isOpen() async throws -> Bool {
    try await store.read { connection in
      try !Administrators.hasOwner(connection)
    }
  }

  /// Generates a new code; nil if there is an owner.
  ///
  /// It replaces any previous one, unless other servers use the database as well, whose codes stay
  /// valid.
  public func issueCode() async throws -> Secret? {
    let letters = store.random.text(16, from: CodeText.alphabet)
    let digest = Hex.encode(Store.digest(letters))
    let issued = try await store.write { connection in
      guard try !Administrators.hasOwner(connection) else { return false }
      let others =
        connection.dialect.sharesDatabase
        ? try Self.digests(connection).suffix(Self.mostCodes - 1) : []
      try Self.stored.store((others + [digest]).joined(separator: " "), connection)
      return true
    }
    guard issued else { return nil }
    return Secret(CodeText.grouped(letters))
  }

  /// Creates the first owner and signs them in.
  public func complete(
    code: TypedCode, email: String, displayName: String, password: Secret, address: String,
    userAgent: String, requestID: String = ""
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let digest = Hex.encode(Store.digest(CodeText.letters(of: code) ?? ""))
    try await checkCode(digest, address: address, at: now)
    let hash = try await administrators.check(
      email: email, displayName: displayName, password: password)
    let id = ID<Administrator>(store.random.uuid())
    return try await store.write { connection in
      guard try !Administrators.hasOwner(connection) else { throw JoiningError.closed }
      // A new code may have been issued while the password was hashed.
      guard try Self.isCode(digest, connection) else { throw JoiningError.wrongCode }
      let author = Author(
        actor: .administrator(id, name: displayName), address: address, requestID: requestID)
      _ = try Administrators.insert(
        id, email: email, displayName: displayName, hash: hash, grant: Grant(role: .owner),
        by: author, at: now, connection)
      try Self.stored.store(nil, connection)
      return try ConsoleSessions.begin(
        id, address: address, userAgent: userAgent, requestID: requestID, at: now,
        random: store.random, connection)
    }
  }

  private static func isCode(
    _ digest: String, _ connection: borrowing Connection
  ) throws -> Bool {
    var isAny = false
    for kept in try digests(connection)
    where constantTimeEqual(
      Array(kept.utf8), Array(digest.utf8))
    {
      isAny = true
    }
    return isAny
  }

  private static func digests(_ connection: borrowing Connection) throws -> [String] {
    try stored.read(connection)?.split(separator: " ").map(String.init) ?? []
  }

  private func checkCode(
    _ digest: String, address: String, at now: Instant
  ) async throws {
    let outcome: JoiningError? = try await store.write { connection in
      guard try !Administrators.hasOwner(connection) else { return .closed }
      let counter = ThrottleCounter(
        .setupCodes(from: ClientAddress(seen: address)), .passwords, .network)
      let charges: [ThrottleCharge]
      switch try ThrottleCharge.charge([counter], at: now, connection) {
      case .charged(let taken): charges = taken
      case .blocked(let until): return .throttled(until: until)
      }
      guard try Self.isCode(digest, connection) else { return .wrongCode }
      try ThrottleCharge.recordSuccess(charges, connection)
      return nil
    }
    if let outcome { throw outcome }
  }
}
