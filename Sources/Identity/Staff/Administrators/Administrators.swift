public import Crypto
import Database
import Text

public struct Administrators: Sendable {
  let store: Store
  let hasher: PasswordHasher

  /// The minimum password length for administrators, in characters.
  public static let shortestPassword = 12

  public func create(
    email: String, displayName: String, password: Secret, grant: Grant, by author: Author
  ) async throws -> Administrator {
    let hash = try await check(email: email, displayName: displayName, password: password)
    let now = store.clock.now()
    let id = ID<Administrator>(store.random.uuid())
    return try await store.write(by: author) { connection in
      let administrator = try Self.insert(
        id, email: email, displayName: displayName, hash: hash, grant: grant, by: author, at: now,
        connection)
      try store.outbox.notify(
        of: .given, grant, until: nil, of: administrator, by: author, at: now, connection)
      return administrator
    }
  }

  /// Checks the email address of a new administrator, before anyone is asked for a password.
  public func check(newEmail email: String) async throws {
    do { try AccountRules.checkEmail(email) } catch { throw AdministratorError.invalidEmail }
    let isTaken = try await store.read { connection in
      try connection.first(
        "SELECT 1 FROM administrator WHERE email_folded = \(AccountRules.folded(email: email))"
      ) { _ in true } ?? false
    }
    if isTaken { throw AdministratorError.emailTaken }
  }

  func check(
    email: String, displayName: String, password: Secret
  ) async throws -> PasswordHash {
    do { try AccountRules.checkEmail(email) } catch { throw AdministratorError.invalidEmail }
    guard PoolRules.isDisplayName(displayName) else { throw AdministratorError.invalidName }
    return try await check(password, of: email)
  }

  func check(_ password: Secret, of email: String) async throws -> PasswordHash {
    let text = password.revealedText
    guard text.count >= Self.shortestPassword else {
      throw AdministratorError.weakPassword(.tooShort(fewest: Self.shortestPassword))
    }
    guard password.count <= AccountRules.longestPassword else {
      throw AdministratorError.weakPassword(.tooLong(most: AccountRules.longestPassword))
    }
    guard text.lowercased() != email.lowercased() else {
      throw AdministratorError.weakPassword(.isEmail)
    }
    return try await hasher.hash(password, for: .administrators)
  }

  /// Stores the compared addresses of administrators and invitations in folded form, unless an
  /// earlier version gave another one the same mailbox.
  static func refold(_ connection: borrowing Connection) throws {
    let tables: [(name: SQL, id: SQL)] = [
      ("administrator", "administrator_id"), ("invitation", "invitation_id"),
    ]
    for table in tables {
      let rows = try connection.all(
        "SELECT \(table.id), email, email_folded FROM \(table.name) ORDER BY email_folded"
      ) { row in
        (
          id: try row.next() as String, folded: AccountRules.folded(email: try row.next()),
          stored: try row.next() as String
        )
      }
      for row in rows where !row.folded.isSameBytes(as: row.stored) {
        try connection.run(
          """
          UPDATE \(table.name) SET email_folded = \(row.folded)
          WHERE \(table.id) = \(row.id) AND NOT EXISTS (
            SELECT 1 FROM \(table.name) b WHERE b.email_folded = \(row.folded))
          """)
      }
    }
  }

  static func insert(
    _ id: ID<Administrator>, email: String, displayName: String, hash: PasswordHash, grant: Grant,
    until end: Instant? = nil, invitedBy inviter: String? = nil, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Administrator {
    if let project = grant.project {
      _ = try Pools.find(project: project, tenant: grant.tenant, connection)
    }
    do {
      try connection.run(
        """
        INSERT INTO administrator (administrator_id, email, email_folded, display_name,
          password_hash, created_at)
        VALUES (\(id), \(email), \(AccountRules.folded(email: email)), \(displayName),
          \(hash.encoded), \(now))
        """)
    } catch {
      if case .uniqueViolation = error.code { throw AdministratorError.emailTaken }
      throw error
    }
    try insert(grant, of: id, until: end, at: now, connection)
    var entry = AuditEntry(.administratorCreate, .administrator, id.text, name: displayName)
    entry.add(.email, .text(email))
    entry.add(.grants, .of([grant]))
    if let end { entry.add(.grantEnds, .instant(end)) }
    if let inviter { entry.add(.inviter, .text(inviter)) }
    try entry.record(by: author, at: now, connection)
    return Administrator(id: id, email: email, displayName: displayName, grants: [grant])
  }

  /// The condition on a row of `administrator_grant` that the role is in force; nothing else
  /// decides it.
  static func inForce(at now: Instant) -> SQL {
    let condition: SQL = "(ends_at IS NULL OR ends_at > \(now))"
    return condition
  }

  static func grants(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> [Grant] {
    try connection.all(
      """
      SELECT role, project_id, tenant_id FROM administrator_grant
      WHERE administrator_id = \(id) AND \(inForce(at: now))
      ORDER BY role, project_id, tenant_id
      """
    ) { row in try Self.grant(&row) }
  }

  /// Reads a grant from the columns `role, project_id, tenant_id`.
  static func grant(_ row: inout Row) throws -> Grant {
    Grant(
      role: try row.next(), project: ID(nonEmpty: try row.next()),
      tenant: ID(nonEmpty: try row.next()))
  }

  /// Reads a grant from the same columns of an outer join; nil without one.
  static func joinedGrant(_ row: inout Row) throws -> Grant? {
    let role: Role? = try row.next()
    let (project, tenant): (String?, String?) = (try row.next(), try row.next())
    return role.map {
      Grant(
        role: $0, project: project.flatMap { ID(nonEmpty: $0) },
        tenant: tenant.flatMap { ID(nonEmpty: $0) })
    }
  }

  /// Returns whether someone manages administrators without an end date, whether or not they can sign
  /// in.
  static func hasOwner(_ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM administrator_grant WHERE \(isLastingOwner)"
    ) { _ in true } ?? false
  }

  /// Returns those who manage administrators without an end date, and the role with which they do.
  ///
  /// A role that ends automatically isn't enough, because the instance would lose its last owner then.
  static func lastingOwners(
    _ connection: borrowing Connection
  ) throws -> [(id: ID<Administrator>, role: String)] {
    try connection.all(
      "SELECT administrator_id, role FROM administrator_grant WHERE \(isLastingOwner)"
    ) { (try $0.next(), try $0.next()) }
  }

  /// The condition on `administrator_grant` that someone manages administrators with a role that
  /// doesn't end; ``Grant/managesAdministrators`` is the same for a role.
  static let isLastingOwner: SQL = """
    role IN (\(list: Permission.manageAdministrators.roles))
      AND project_id = '' AND ends_at IS NULL
    """
}

public enum WeakPassword: Sendable, Equatable {
  /// It has fewer characters than `fewest`.
  case tooShort(fewest: Int)
  /// It has more bytes than `most`.
  case tooLong(most: Int)
  case isEmail
}

/// An error of a use case that asks a signed-in administrator for the password again.
protocol PasswordCheckError: Error {
  static var wrongPassword: Self { get }
  static func throttled(until: Instant) -> Self
}

extension AdministratorFactorError: PasswordCheckError {}
extension PasskeyError: PasswordCheckError {}

extension Administrators {
  /// Verifies the password that an administrator entered again in a session, and returns the hash
  /// that it matched; without a password or a session, it's incorrect.
  func verifyPassword<E: PasswordCheckError>(
    _ password: Secret?, in session: ConsoleSession?, by author: Author, _ errors: E.Type
  ) async throws -> PasswordHash {
    guard let session, let password else { throw E.wrongPassword }
    do {
      return try await verifyPassword(password, of: session.administrator, by: author)
    } catch let error as PasswordChangeError {
      switch error {
      case .throttled(let until): throw E.throttled(until: until)
      case .wrongPassword, .sessionEnded: throw E.wrongPassword
      }
    }
  }

  /// Verifies the password of a signed-in administrator.
  ///
  /// Failed attempts are counted before hashing and separately from sign-in, so someone who isn't
  /// signed in can't block an administrator's changes. Returns the hash that the password matched.
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
