import Crypto
import Database

/// An error of a use case that asks a signed-in administrator for the password again.
protocol PasswordCheckError: Error {
  static var wrongPassword: Self { get }
  static var busy: Self { get }
  static func throttled(until: Instant) -> Self
}

extension AdministratorFactorError: PasswordCheckError {}
extension PasskeyError: PasswordCheckError {}

extension Administrators {
  /// Verifies the password that an administrator entered again in a session; without a password or
  /// a session, it's incorrect.
  ///
  /// - Returns: The hash that the password matched.
  func verifyPassword<E: PasswordCheckError>(
    _ password: Secret?, in session: ConsoleSession?, by author: Author, _ errors: E.Type
  ) async throws -> PasswordHash {
    guard let session, let password else { throw E.wrongPassword }
    do {
      return try await verifyPassword(password, of: session.administrator, by: author)
    } catch let error as PasswordChangeError {
      switch error {
      case .throttled(let until): throw E.throttled(until: until)
      case .busy: throw E.busy
      case .wrongPassword, .weakPassword, .notFound, .sessionEnded: throw E.wrongPassword
      }
    }
  }

  /// Verifies the password of a signed-in administrator.
  ///
  /// Failed attempts are counted before hashing and separately from sign-in, so someone who isn't
  /// signed in can't block an administrator's changes.
  ///
  /// - Returns: The hash that the password matched.
  func verifyPassword(
    _ password: Secret, of administrator: Administrator, by author: Author
  ) async throws -> PasswordHash {
    let now = store.clock.now()
    let counter = ThrottleCounter(.passwords(of: administrator.id), .passwords, .account)
    let taken: Result<(charges: [ThrottleCharge], hash: PasswordHash?), PasswordChangeError> =
      try await store.write(by: author) { connection in
        switch try ThrottleCharge.charge([counter], at: now, connection) {
        case .blocked(let until): return .failure(.throttled(until: until))
        case .charged(let charges):
          return .success((charges, try Self.passwordHash(of: administrator.id, connection)))
        }
      }
    let (charges, hash) = try taken.get()
    let matches: Bool
    do { matches = try await hasher.matches(password, hash, for: .administrators) } catch {
      // An attempt that wasn't checked isn't counted.
      try await store.write(by: author) { connection in
        for charge in charges { try charge.refund(connection) }
      }
      if error == .busy { throw PasswordChangeError.busy }
      throw error
    }
    guard matches, let hash else {
      try await store.write(by: author) { connection in
        try ThrottleCharge.recordBlocks(
          charges, of: administrator.id, by: author, at: now, connection)
      }
      throw PasswordChangeError.wrongPassword
    }
    try await store.write(by: author) {
      try ThrottleCharge.recordSuccess(charges, $0)
    }
    return hash
  }

  static func passwordHash(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> PasswordHash? {
    try connection.first(
      "SELECT password_hash FROM administrator WHERE administrator_id = \(id)"
    ) { try hash(&$0) } ?? nil
  }

  static func hash(_ row: inout Row) throws -> PasswordHash? {
    let encoded: String = try row.next()
    return encoded.isEmpty ? nil : PasswordHash(encoded: encoded)
  }

  static func exists(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM administrator WHERE administrator_id = \(id)"
    ) { _ in true } ?? false
  }
}
