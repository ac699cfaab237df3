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
  /// When it began.
  public let startedAt: Instant
  /// When it ends whatever happens.
  public let expiresAt: Instant
  /// How the administrator wants to read pages.
  public let preferences: Preferences
  /// How it stands with the administrator's second factor.
  public let secondFactor: SecondFactorState
  /// Under what the session is kept.
  let digest: [UInt8]
}

/// How it stands with an administrator's second factor.
public enum SecondFactorState: Sendable {
  /// There is one.
  case enrolled
  /// There is none, and the roles allow that.
  case optional
  /// There is none, and from the next sign-in on the roles ask for one.
  case dueNext
  /// There is none, and nothing is open before there is.
  case due
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
  /// The code is none of the second factor's, was used before, or is no recovery code.
  case wrongCode
  /// The password was given too long ago, or what it was given for has changed since.
  case ended
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
  let totp: AdministratorTOTP
  let tickets: Sealer
  let deviceSealer: Sealer

  /// A session ends when it is not used for this long, in seconds (NIST SP 800-63B-4, 2.2.3).
  public static let idle: Int64 = 3_600
  /// A session ends after this long, in seconds.
  public static let longest: Int64 = 12 * 3_600
  /// How long one that ran out is remembered, in seconds: so that a form which was open knows its
  /// session again.
  public static let remembered: Int64 = 12 * 3_600
  /// How exactly the last use is kept, in seconds.
  private static let precision: Int64 = 60

  /// Begins a session, which counts as a sign-in.
  static func begin(
    _ id: ID<Administrator>, address: String, userAgent: String, requestID: String,
    proof: String? = nil, at now: Instant, random: RandomSource, _ connection: borrowing Connection
  ) throws -> NewConsoleSession {
    try connection.run(
      """
      UPDATE administrator SET sign_ins = sign_ins + 1, last_sign_in_at = \(now.microseconds)
      WHERE administrator_id = \(id.text)
      """)
    let token = random.token(bytes: 32)
    let digest = Store.digest(token)
    try connection.run(
      """
      INSERT INTO console_session (token_digest, administrator_id, csrf_token, created_at,
        last_seen_at, address, user_agent, proved_at)
      VALUES (\(digest), \(id.text), \(random.token(bytes: 24)), \(now.microseconds),
        \(now.microseconds), \(address), \(RequestOrigin(userAgent: userAgent).userAgent),
        \(proof == nil ? nil : now.microseconds))
      """)
    guard let session = try find(digest, at: now, connection)?.session else {
      throw Failure("session vanished")
    }
    let administrator = session.administrator
    var entry = AuditEntry(
      "administrator.sign-in", "administrator", id.text, name: administrator.displayName)
    entry.to = proof
    try entry.record(
      by: administrator.author(address: address, requestID: requestID), at: now, connection)
    return NewConsoleSession(token: Secret(token), session: session)
  }

  /// Gives a session a new token after a code of its administrator, which counts from now on.
  ///
  /// - Returns: The session under its new token; nil when it is over.
  static func renew(
    _ session: ConsoleSession, at now: Instant, random: RandomSource,
    _ connection: borrowing Connection
  ) throws -> NewConsoleSession? {
    let token = random.token(bytes: 32)
    let digest = Store.digest(token)
    try connection.run(
      """
      UPDATE console_session SET token_digest = \(digest), proved_at = \(now.microseconds)
      WHERE token_digest = \(session.digest)
      """)
    return try find(digest, at: now, connection).map {
      NewConsoleSession(token: Secret(token), session: $0.session)
    }
  }

  /// Records that a session's administrator has just shown who they are.
  static func markReauthenticated(
    _ session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE console_session SET proved_at = \(now.microseconds)
      WHERE token_digest = \(session.digest)
      """)
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

  static func find(
    _ digest: [UInt8], at now: Instant, _ connection: borrowing Connection
  ) throws -> (session: ConsoleSession, lastSeenAt: Instant)? {
    // The grants come in the same query, a row each: every page begins with this.
    var head: SessionHead?
    let grants = try connection.all(
      """
      SELECT a.administrator_id, a.email, a.display_name, s.csrf_token, s.created_at,
        s.last_seen_at, a.sign_ins, a.totp_enrolled_at IS NOT NULL, a.language, a.time_zone,
        a.theme, g.role, g.project_id, g.tenant_id
      FROM console_session s JOIN administrator a USING (administrator_id)
        LEFT JOIN administrator_grant g USING (administrator_id)
      WHERE s.token_digest = \(digest)
      """
    ) { row -> Grant? in
      if head == nil { head = try SessionHead(row) }
      let role: String? = try row.value(SessionHead.columns)
      return role == nil ? nil : try Administrators.grant(row, from: SessionHead.columns)
    }
    guard let head else { return nil }
    let expires = head.createdAt.advanced(bySeconds: longest)
    guard now < expires, now < head.lastSeenAt.advanced(bySeconds: idle) else { return nil }
    let administrator = Administrator(
      id: head.id, email: head.email, displayName: head.name, grants: grants.compactMap { $0 })
    let session = ConsoleSession(
      id: name(of: digest), administrator: administrator, csrfToken: head.csrf,
      startedAt: head.createdAt, expiresAt: expires, preferences: head.preferences,
      secondFactor: head.secondFactor(of: administrator), digest: digest)
    return (session, head.lastSeenAt)
  }

  /// The stable name of the session with a digest.
  static func name(of digest: [UInt8]) -> String { Hex.encode(Array(digest.prefix(12))) }

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
