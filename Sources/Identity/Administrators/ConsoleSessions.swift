public import Crypto
import Database

/// An administrator's session in the console.
public struct ConsoleSession: Sendable {
  /// A stable name of the session that is not its token.
  public let id: String
  /// Who is signed in, with the grants of this moment.
  public let administrator: Administrator
  /// What every form of the session carries.
  public let csrfToken: String
  /// When it ends whatever happens.
  public let expiresAt: Instant
}

/// A session that has just begun.
public struct NewConsoleSession: Sendable {
  /// What the cookie holds; kept only as a digest.
  public let token: Secret
  /// The session.
  public let session: ConsoleSession
}

/// Why an administrator is not signed in.
public enum ConsoleSignInError: Error, Sendable {
  /// The address or the password is wrong; which of them is not told.
  case refused
  /// Too many wrong guesses; from then on one may try again.
  case throttled(until: Instant)
  /// Too many passwords are being hashed; try again after a second.
  case busy
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ConsoleSignInError: UseCaseError {}

/// Signs administrators in to the console and out of it.
public struct ConsoleSessions: Sendable {
  let store: Store
  let hasher: PasswordHasher

  /// A session ends when it is not used for this long, in seconds (NIST SP 800-63B-4, 2.2.3).
  public static let idle: Int64 = 3_600
  /// A session ends after this long, in seconds.
  public static let longest: Int64 = 12 * 3_600
  /// How exactly the last use is kept, in seconds.
  private static let precision: Int64 = 60

  /// Signs in with e-mail and password.
  ///
  /// Known and unknown addresses get the same answer for the same work, and guesses are counted
  /// before the password is hashed.
  ///
  /// - Throws: ``ConsoleSignInError``.
  public func signIn(
    email: String, password: Secret, address: String, userAgent: String, requestID: String = ""
  ) async throws(ConsoleSignInError) -> NewConsoleSession {
    let now = store.clock.now()
    let folded = AccountRules.folded(email: String(email.prefix(320)))
    // The address comes first: one that is blocked cannot count against a name.
    let names = [
      ("console address \(Network.name(of: address))", Throttle.addresses),
      ("administrator \(folded)", Throttle.passwords),
    ]
    let taken: Result<Attempt, ConsoleSignInError> =
      try await store.write(ConsoleSignInError.self) { connection in
        var guesses: [Guess] = []
        for (name, rule) in names {
          switch try Guess.take(name, rule, at: now, connection) {
          case .taken(let guess): guesses.append(guess)
          case .blocked(let until): return .failure(.throttled(until: until))
          }
        }
        let row = try connection.first(
          """
          SELECT administrator_id, password_hash FROM administrator
          WHERE email_folded = \(folded)
          """
        ) { row in
          (ID<Administrator>(try row.value(0)), PasswordHash(encoded: try row.value(1)))
        }
        return .success(Attempt(id: row?.0, hash: row?.1, guesses: guesses))
      }
    let attempt = try taken.get()
    let (id, guesses) = (attempt.id, attempt.guesses)
    let matches: Bool
    do { matches = try await hasher.matches(password, attempt.hash) } catch {
      // What was not looked at does not count.
      try await store.write(ConsoleSignInError.self) { connection in
        for guess in guesses { try guess.giveBack(connection) }
      }
      if error == .busy { throw .busy }
      throw .unavailable(Failure(error))
    }
    let random = store.random
    let author = Author(actor: .nobody, address: address, requestID: requestID)
    let outcome: NewConsoleSession? = try await store.write(ConsoleSignInError.self) { connection in
      guard matches, let id else {
        // The name that was typed is not kept: it may be a password in the wrong field.
        let entry = AuditEntry(
          "administrator.sign-in-refused", "administrator", id?.text ?? "", name: "")
        try entry.record(by: author, at: now, connection)
        return nil
      }
      try Guess.right(guesses, connection)
      return try Self.begin(
        id, address: address, userAgent: userAgent, requestID: requestID, at: now, random: random,
        connection)
    }
    guard let outcome else { throw .refused }
    return outcome
  }

  private struct Attempt: Sendable {
    let id: ID<Administrator>?
    let hash: PasswordHash?
    let guesses: [Guess]
  }

  static func begin(
    _ id: ID<Administrator>, address: String, userAgent: String, requestID: String,
    at now: Instant, random: RandomSource, _ connection: borrowing Connection
  ) throws -> NewConsoleSession {
    let token = random.token(bytes: 32)
    let digest = Store.digest(token)
    try connection.run(
      """
      INSERT INTO console_session (token_digest, administrator_id, csrf_token, created_at,
        last_seen_at, address, user_agent)
      VALUES (\(digest), \(id.text), \(random.token(bytes: 24)), \(now.microseconds),
        \(now.microseconds), \(address), \(String(userAgent.prefix(300))))
      """)
    guard let session = try find(digest, at: now, connection)?.session else {
      throw Failure("session vanished")
    }
    let administrator = session.administrator
    let entry = AuditEntry(
      "administrator.sign-in", "administrator", id.text, name: administrator.displayName)
    try entry.record(
      by: administrator.author(address: address, requestID: requestID), at: now, connection)
    return NewConsoleSession(token: Secret(token), session: session)
  }

  /// The session of a cookie's token; nil for none, or one that is over.
  ///
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  public func find(token: String) async throws(ConsoleSignInError) -> ConsoleSession? {
    guard (20...100).contains(token.utf8.count) else { return nil }
    let now = store.clock.now()
    let digest = Store.digest(token)
    let found = try await store.read(ConsoleSignInError.self) { connection in
      try Self.find(digest, at: now, connection)
    }
    guard let found else { return nil }
    if now.seconds - found.lastSeenAt.seconds >= Self.precision {
      // A full disk must not end the pages that only read.
      _ = try? await store.database.write { connection in
        try connection.run(
          """
          UPDATE console_session SET last_seen_at = \(now.microseconds)
          WHERE token_digest = \(digest)
          """)
      }
    }
    return found.session
  }

  private static func find(
    _ digest: [UInt8], at now: Instant, _ connection: borrowing Connection
  ) throws -> (session: ConsoleSession, lastSeenAt: Instant)? {
    let row = try connection.first(
      """
      SELECT a.administrator_id, a.email, a.display_name, s.csrf_token, s.created_at,
        s.last_seen_at
      FROM console_session s JOIN administrator a USING (administrator_id)
      WHERE s.token_digest = \(digest)
      """
    ) { row in
      (
        id: ID<Administrator>(try row.value(0)), email: try row.value(1) as String,
        name: try row.value(2) as String, csrf: try row.value(3) as String,
        createdAt: Instant(microseconds: try row.value(4)),
        lastSeenAt: Instant(microseconds: try row.value(5))
      )
    }
    guard let row else { return nil }
    let expires = row.createdAt.advanced(bySeconds: longest)
    guard now < expires, now < row.lastSeenAt.advanced(bySeconds: idle) else { return nil }
    let administrator = Administrator(
      id: row.id, email: row.email, displayName: row.name,
      grants: try Administrators.grants(row.id, connection))
    let session = ConsoleSession(
      id: Hex.encode(Array(digest.prefix(12))), administrator: administrator, csrfToken: row.csrf,
      expiresAt: expires)
    return (session, row.lastSeenAt)
  }

  /// Ends the session of a cookie's token and writes the audit row; nothing where there is none.
  ///
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  public func end(
    token: String, address: String = "", requestID: String = ""
  ) async throws(ConsoleSignInError) {
    let digest = Store.digest(token)
    let now = store.clock.now()
    try await store.write(ConsoleSignInError.self) { connection in
      let found = try Self.find(digest, at: now, connection)
      try connection.run("DELETE FROM console_session WHERE token_digest = \(digest)")
      guard let administrator = found?.session.administrator else { return }
      let entry = AuditEntry(
        "administrator.sign-out", "administrator", administrator.id.text,
        name: administrator.displayName)
      try entry.record(
        by: administrator.author(address: address, requestID: requestID), at: now, connection)
    }
  }
}
