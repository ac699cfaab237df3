public import Crypto
import Database

/// What came of a right password.
public enum ConsoleSignIn: Sendable {
  /// There is no second factor: the session has begun.
  case signedIn(NewConsoleSession)
  /// A code is due; what is here goes with it, in a cookie, and is no session.
  case codeDue(Secret)
}

extension ConsoleSessions {
  /// Signs in with email and password, as far as that goes.
  ///
  /// Known and unknown addresses get the same answer for the same work, and guesses are counted
  /// before the password is hashed: by network, by name and network, and more slowly by name. A
  /// device that the administrator has signed in with before has a counter of its own instead, so
  /// nobody can lock them out there.
  ///
  /// - Parameters:
  ///   - email: The address as typed.
  ///   - password: The password as typed.
  ///   - address: Where the request comes from.
  ///   - userAgent: What the browser calls itself.
  ///   - devices: What the browser was given by ``deviceToken(for:replacing:)``, whoever for.
  ///   - requestID: The request's name in the log.
  /// - Returns: A session, or the step at which a code is due.
  /// - Throws: ``ConsoleSignInError``.
  public func signIn(
    email: String, password: Secret, address: String, userAgent: String, devices: [String] = [],
    requestID: String = ""
  ) async throws(ConsoleSignInError) -> ConsoleSignIn {
    let now = store.clock.now()
    let email = TypedEmail(email)
    let devices = self.devices(devices, at: now)
    let taken: Result<Attempt, ConsoleSignInError> =
      try await store.write(ConsoleSignInError.self) { connection in
        let row = try connection.first(
          """
          SELECT administrator_id, password_hash FROM administrator
          WHERE email_folded = \(email.folded)
          """
        ) { row in
          (
            id: ID<Administrator>(try row.value(0)), hash: PasswordHash(encoded: try row.value(1))
          )
        }
        let device = devices.first { $0.administrator == row?.id }
        let counters =
          device.map { [$0.counter] }
          ?? [.network("console address", address)]
          + GuessCounter.name(Self.throttle(email), from: address)
        switch try Guess.take(counters, at: now, connection) {
        case .taken(let guesses):
          return .success(Attempt(id: row?.id, hash: row?.hash, guesses: guesses))
        case .blocked(let until): return .failure(.throttled(until: until))
        }
      }
    let attempt = try taken.get()
    let (id, guesses) = (attempt.id, attempt.guesses)
    let matches: Bool
    do { matches = try await hasher.matches(password, attempt.hash, for: .administrators) } catch {
      // What was not looked at does not count.
      try await store.write(ConsoleSignInError.self) { connection in
        for guess in guesses { try guess.giveBack(connection) }
      }
      if error == .busy { throw .busy }
      throw .unavailable(Failure(error))
    }
    let (random, tickets) = (store.random, tickets)
    let author = Author(actor: .nobody, address: address, requestID: requestID)
    let outcome: ConsoleSignIn? = try await store.write(ConsoleSignInError.self) { connection in
      // Reread in the write that starts the session: both may have changed during the hashing.
      guard matches, let id, let hash = attempt.hash,
        let current = try Self.credentials(id, connection),
        current.hash.encoded == hash.encoded
      else {
        // The name that was typed is not kept: it may be a password in the wrong field.
        let entry = AuditEntry(
          "administrator.sign-in-refused", "administrator", id?.text ?? "", name: "")
        try entry.record(by: author, at: now, connection)
        try Guess.recordBlocks(guesses, of: id, by: author, at: now, connection)
        return nil
      }
      try Guess.right(guesses, connection)
      if current.hasSecondFactor {
        let entry = AuditEntry("administrator.code-due", "administrator", id.text, name: "")
        try entry.record(by: author, at: now, connection)
        let ticket = ConsoleTicket(id, secret: Self.mark(hash), at: now, random: random)
        return .codeDue(try ticket.sealed(.signIn, by: tickets))
      }
      return .signedIn(
        try Self.begin(
          id, address: address, userAgent: userAgent, requestID: requestID, at: now,
          random: random, connection))
    }
    guard let outcome else { throw .refused }
    return outcome
  }

  /// Signs in with a code of the second factor, or with a recovery code, after the password.
  ///
  /// A wrong code is counted apart from passwords, before it is looked at.
  ///
  /// - Parameters:
  ///   - pending: What the password's answer gave; it counts for ten minutes and once.
  ///   - code: The code as typed.
  ///   - address: Where the request comes from.
  ///   - userAgent: What the browser calls itself.
  ///   - requestID: The request's name in the log.
  /// - Returns: The session.
  /// - Throws: ``ConsoleSignInError``.
  public func finish(
    _ pending: String, code: String, address: String, userAgent: String, requestID: String = ""
  ) async throws(ConsoleSignInError) -> NewConsoleSession {
    let now = store.clock.now()
    guard let ticket = ConsoleTicket(pending, .signIn, at: now, by: tickets) else { throw .ended }
    let (random, totp, id) = (store.random, totp, ticket.administrator)
    let author = Author(actor: .nobody, address: address, requestID: requestID)
    let outcome: Result<NewConsoleSession, ConsoleSignInError> =
      try await store.write(ConsoleSignInError.self) { connection in
        guard try Self.isPending(ticket, connection) else { return .failure(.ended) }
        let proof: String
        switch try totp.prove(code, of: id, at: now, connection) {
        case .throttled(let until): return .failure(.throttled(until: until))
        case .wrong(let guesses):
          let entry = AuditEntry(
            "administrator.code-refused", "administrator", id.text, name: "")
          try entry.record(by: author, at: now, connection)
          try Guess.recordBlocks(guesses, of: id, by: author, at: now, connection)
          return .failure(.wrongCode)
        case .passed(.code): proof = "with a code"
        case .passed(.recoveryCode(let left)): proof = "with a recovery code, \(left) left"
        }
        guard try ticket.use(connection) else { return .failure(.ended) }
        return .success(
          try Self.begin(
            id, address: address, userAgent: userAgent, requestID: requestID, proof: proof,
            at: now, random: random, connection))
      }
    return try outcome.get()
  }

  /// True when a code may be given for what a password was given for.
  ///
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  public func isPending(_ pending: String) async throws(ConsoleSignInError) -> Bool {
    let now = store.clock.now()
    guard let ticket = ConsoleTicket(pending, .signIn, at: now, by: tickets) else { return false }
    return try await store.read(ConsoleSignInError.self) { connection in
      try Self.isPending(ticket, connection)
    }
  }

  /// False when it was used, or password or factor were changed since.
  private static func isPending(
    _ ticket: ConsoleTicket, _ connection: borrowing Connection
  ) throws -> Bool {
    guard try !ticket.isUsed(connection) else { return false }
    guard let current = try credentials(ticket.administrator, connection), current.hasSecondFactor
    else { return false }
    return ticket.secret == mark(current.hash)
  }

  /// The password and second factor of an administrator as they are in this transaction; nil when
  /// there is no such administrator.
  private static func credentials(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> (hash: PasswordHash, hasSecondFactor: Bool)? {
    try connection.first(
      """
      SELECT password_hash, totp_enrolled_at IS NOT NULL FROM administrator
      WHERE administrator_id = \(id.text)
      """
    ) { (PasswordHash(encoded: try $0.value(0)), try $0.value(1)) }
  }

  /// Changes with the password, and says nothing of it.
  private static func mark(_ hash: PasswordHash) -> Secret {
    Secret(Array(Store.digest(hash.encoded).prefix(16)))
  }

  /// The name under which wrong passwords for an address are counted.
  static func throttle(_ email: TypedEmail) -> String { "administrator \(email.digest)" }

  private struct Attempt: Sendable {
    let id: ID<Administrator>?
    let hash: PasswordHash?
    let guesses: [Guess]
  }
}
