import Crypto
import Database

extension Administrators {
  /// Sees that somebody who is signed in knows the password of the account.
  ///
  /// Wrong passwords are counted with those of the sign-in, before they are hashed.
  ///
  /// - Returns: The hash that the password was compared with.
  func prove(
    _ password: Secret, of administrator: Administrator, by author: Author
  ) async throws(PasswordChangeError) -> PasswordHash {
    let now = store.clock.now()
    let name = ConsoleSessions.throttle(TypedEmail(administrator.email))
    let taken: Result<(guess: Guess, hash: PasswordHash?), PasswordChangeError> =
      try await store.write(PasswordChangeError.self) { connection in
        switch try Guess.take(name, .passwords, at: now, connection) {
        case .blocked(let until): return .failure(.throttled(until: until))
        case .taken(let guess):
          return .success((guess, try Self.passwordHash(of: administrator.id, connection)))
        }
      }
    let (guess, hash) = try taken.get()
    let matches: Bool
    do { matches = try await hasher.matches(password, hash) } catch {
      // What was not looked at does not count.
      try await store.write(PasswordChangeError.self) { try guess.giveBack($0) }
      if error == .busy { throw .busy }
      throw .unavailable(Failure(error))
    }
    guard matches, let hash else {
      try await store.write(PasswordChangeError.self) { connection in
        try Guess.recordBlocks([guess], of: administrator.id, by: author, at: now, connection)
      }
      throw .wrongPassword
    }
    try await store.write(PasswordChangeError.self) { try Guess.right([guess], $0) }
    return hash
  }

  static func passwordHash(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> PasswordHash? {
    try connection.first(
      "SELECT password_hash FROM administrator WHERE administrator_id = \(id.text)"
    ) { PasswordHash(encoded: try $0.value(0)) }
  }
}
