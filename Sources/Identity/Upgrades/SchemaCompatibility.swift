public import Database

struct NewerProgramRequired: Error {
  let oldest: ProgramVersion
}

/// Which versions of the program can use a database.
///
/// Migrations expand the schema where possible, so that the previous version still works after an
/// upgrade. One that earlier versions can't work with raises `oldest_program` in the table
/// `instance`, in its own transaction.
enum SchemaCompatibility {
  private static let name = "oldest_program"

  /// Returns the pending migrations, without changing anything.
  ///
  /// Migrations of a newer version are tolerated if the database says that this one can use it.
  static func pending(_ database: any Database) async throws -> [Migration] {
    try await database.pending(
      Identity.migrations(for: database.dialect), toleratesNewer: try await toleratesNewer(database)
    )
  }

  /// Returns whether this version can use the database after migrations of newer versions.
  ///
  /// - Throws: `NewerProgramRequired` if the database says that it can't.
  static func toleratesNewer(_ database: any Database) async throws -> Bool {
    let text = try await database.read { connection -> String? in
      let isThere = try connection.first(
        "SELECT 1 FROM \(SQL.tables) WHERE name = 'instance'"
      ) { _ in true }
      return isThere == nil ? nil : try InstanceValue(name).read(connection)
    }
    guard let text else { return false }
    guard let oldest = ProgramVersion(text) else { throw Failure("unknown \(name)") }
    guard oldest <= .current else { throw NewerProgramRequired(oldest: oldest) }
    return true
  }
}

extension Identity {
  /// Returns whether this version can use the database, which another server may have migrated since
  /// this one started.
  public func canUseSchema() async throws -> Bool {
    do {
      _ = try await SchemaCompatibility.toleratesNewer(store.database)
      return true
    } catch is NewerProgramRequired {
      return false
    }
  }

  /// Returns the names of the migrations that a start would apply, without changing anything.
  public func pendingMigrations() async throws -> [String] {
    try await Self.pendingMigrations(of: store.database)
  }

  public static func pendingMigrations(
    of database: any Database
  ) async throws -> [String] {
    try await SchemaCompatibility.pending(database).map(\.name)
  }
}

extension StartError {
  public static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as MigrationError: StartError.migration(error)
    case let error as NewerProgramRequired: StartError.newerProgramRequired(error.oldest)
    default: error
    }
  }
}
