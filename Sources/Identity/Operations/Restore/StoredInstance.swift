public import Crypto
public import Database

/// The instance that a database contains, read without changing it.
public struct StoredInstance: Sendable {
  public let profile: Profile
  public let users: Int
  /// The migrations that this version would apply.
  public let pendingMigrations: [String]
  /// The time of the newest entry; nil if there are no entries.
  public let latest: Instant?
}

/// How far the creation of an instance in a database got.
public enum InstanceCreation: Sendable {
  /// Nothing in the database was encrypted.
  case none
  /// The master key of the data folder is that of the database, but its data is incomplete.
  case begun
  case complete
  /// The database was encrypted with another master key.
  case otherKey
}

public enum BackupFault: Error, Sendable {
  /// The file is a database, but not one of Countersign's, or it's empty.
  case notCountersign
  /// SQLite found corruption; the first lines of its report.
  case damaged([String])
  /// Rows of these tables refer to rows that don't exist.
  case orphans([String])
  case migration(MigrationError)
  case newerProgramRequired(ProgramVersion)
  case wrongKey
  case unreadable(String)
}

extension Identity {
  /// Checks a database for corruption, its schema version, and the master key that sealed it.
  public static func inspect(
    _ database: any Database, keys: KeyRing
  ) async throws(BackupFault) -> StoredInstance {
    do {
      try await checkIntegrity(database)
      let pending = try await SchemaCompatibility.pending(database)
      try await SchemaObjects.check(database)
      return try await database.read { connection in
        try stored(keys, pending.map(\.name), connection)
      }
    } catch {
      throw switch error {
      case let fault as BackupFault: fault
      case let error as MigrationError: .migration(error)
      case let error as NewerProgramRequired: .newerProgramRequired(error.oldest)
      default: .unreadable(Failure(error).reason)
      }
    }
  }

  private static func stored(
    _ keys: KeyRing, _ pending: [String], _ connection: borrowing Connection
  ) throws -> StoredInstance {
    guard let name = try InstanceValue("profile").read(connection),
      let profile = Profile(rawValue: name),
      try InstanceValue("key_mark").read(connection) != nil
    else { throw BackupFault.notCountersign }
    guard try keys.opens(connection) else { throw BackupFault.wrongKey }
    let users = try connection.first(
      """
      SELECT (SELECT coalesce(sum(users), 0) FROM scope WHERE deleted_at IS NULL)
        + (SELECT coalesce(sum(users), 0) FROM count_change WHERE scope_key > 0)
      """
    ) { try $0.next() as Int }
    return StoredInstance(
      profile: profile, users: users ?? 0, pendingMigrations: pending,
      latest: try StoredTime.latest(connection))
  }

  /// Returns whether these keys include those that a database needs, as far as it names them; false
  /// if it names none.
  public static func isSealed(_ database: any Database, with keys: KeyRing) async throws -> Bool {
    try await database.read { connection in try keys.opens(connection) }
  }

  /// `keys` is nil if the data folder has none.
  public static func creation(
    in database: any Database, keys: KeyRing?
  ) async throws -> InstanceCreation {
    try await database.read { connection in
      let isThere = try connection.first(
        "SELECT 1 FROM \(SQL.tables) WHERE name = 'instance'"
      ) { _ in true }
      guard isThere != nil, try InstanceValue("key_mark").read(connection) != nil else {
        return .none
      }
      guard let keys, try keys.opens(connection) else { return .otherKey }
      // The last that's created.
      let key = try connection.first("SELECT 1 FROM signing_key LIMIT 1") { _ in true }
      return key == nil ? .begun : .complete
    }
  }

  /// Returns the newest time in a database; nil if it has none.
  public static func latestTime(
    _ database: any Database
  ) async throws -> Instant? {
    try await database.read { try StoredTime.latest($0) }
  }

  private static func checkIntegrity(_ database: any Database) async throws {
    let tables = try await database.read { connection in
      try connection.all(
        """
        SELECT name FROM \(SQL.tables) WHERE name IN ('instance', 'schema_migration')
        """
      ) { try $0.next() as String }
    }
    guard tables.count == 2 else { throw BackupFault.notCountersign }
    let damage = try await database.read { connection in
      try connection.all(
        "SELECT fault FROM \(SQL.faults)"
      ) { try $0.next() as String }
    }
    guard damage.isEmpty else { throw BackupFault.damaged(damage) }
    let orphans = try await database.read { connection in
      try connection.all(
        "SELECT name FROM \(SQL.orphans) LIMIT 5"
      ) { try $0.next() as String }
    }
    guard orphans.isEmpty else { throw BackupFault.orphans(orphans) }
  }
}

enum StoredTime {
  /// Returns the latest of the newest audit log entry, the newest session, and the last stored
  /// time.
  static func latest(_ connection: borrowing Connection) throws -> Instant? {
    let audit = try connection.first(
      "SELECT at FROM audit ORDER BY audit_id DESC LIMIT 1"
    ) { try $0.next() as Instant }
    let session = try connection.first(
      "SELECT created_at FROM session ORDER BY session_id DESC LIMIT 1"
    ) { try $0.next() as Instant }
    return [audit, session, try ClockGuard.stored(connection)].compactMap { $0 }.max()
  }
}

/// How many stored secrets of second factors a master key decrypts.
public struct SecretSample: Sendable, Equatable {
  /// The maximum number of secrets to decrypt.
  public static let largest = 20

  public let readable: Int
  public let unreadable: Int

  /// Decrypts a few secrets.
  ///
  /// - Returns: The counts; both are 0 if no user has a TOTP factor.
  /// - Throws: `DatabaseError`, `CryptoError`.
  public static func take(
    _ database: any Database, keys: KeyRing
  ) async throws -> SecretSample {
    let factor = try TOTPFactor(keys: keys, random: .system)
    let results = try await database.read { connection in
      try connection.all(
        """
        SELECT sealed_secret, scope.project_id, scope.tenant_id, account.uid, enrollment_id
        FROM factor JOIN account USING (account_key) JOIN scope USING (scope_key)
        WHERE sealed_secret IS NOT NULL LIMIT \(largest)
        """
      ) { row in
        let sealed: [UInt8] = try row.next()
        return factor.opened(
          sealed, project: try row.next(), tenant: try row.next(), account: try row.next(),
          factor: try row.next()) != nil
      }
    }
    let readable = results.count { $0 }
    return SecretSample(readable: readable, unreadable: results.count - readable)
  }
}
