/// A numbered step of the database's schema.
public struct Migration: Sendable, Equatable {
  /// Its name, such as `m0001_foundation`; names are unique and sort in the order of the steps.
  public let name: String

  /// Its statements.
  public let text: String

  /// A digest of the text, which tells a changed step from the one that was applied.
  public let digest: String

  /// Makes a step.
  public init(name: String, text: String, digest: String) {
    self.name = name
    self.text = text
    self.digest = digest
  }
}

/// Why a database's schema does not fit the program.
public enum MigrationError: Error, Sendable, Equatable {
  /// The step was edited after this database had applied it.
  case changed(String)
  /// The database applied a step that the program does not know: it belongs to a newer version.
  case unknown(String)
  /// The step comes before one that was applied already.
  case late(String)
  /// The step failed, and has had no effect.
  case failed(String, DatabaseError)
}

extension MigrationError: CustomStringConvertible {
  /// A sentence for the operator.
  public var description: String {
    switch self {
    case .changed(let name):
      "Migration \(name) is not the one this database has applied: it was edited since."
    case .unknown(let name):
      "This database has applied migration \(name), which this version does not know: "
        + "it was used by a newer version."
    case .late(let name):
      "Migration \(name) is new, but comes before one that this database has applied."
    case .failed(let name, let error):
      "Migration \(name) failed and had no effect: \(error)"
    }
  }
}

extension Database {
  /// Applies the steps that are missing, each in a transaction of its own.
  ///
  /// What was applied is kept in the table `schema_migration`. Nothing is applied when what the
  /// database has applied does not agree with the list.
  ///
  /// - Parameters:
  ///   - migrations: All steps, in their order.
  ///   - time: The present time, in milliseconds since 1970, which is recorded.
  /// - Returns: The names of the steps that were applied now.
  /// - Throws: ``MigrationError``; ``DatabaseError`` when the table cannot be read or made.
  @discardableResult
  public func migrate(_ migrations: [Migration], at time: Int64) async throws -> [String] {
    let missing = try await write { connection in
      try connection.run(
        """
        CREATE TABLE IF NOT EXISTS schema_migration (
          name TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL, applied_at BIGINT NOT NULL)
        """)
      return try Self.missing(of: migrations, in: connection)
    }
    for migration in missing {
      try await write { connection in
        guard try Self.missing(of: migrations, in: connection).contains(migration) else { return }
        do throws(DatabaseError) {
          try connection.runScript(migration.text)
        } catch {
          throw MigrationError.failed(migration.name, error)
        }
        try connection.run(
          """
          INSERT INTO schema_migration (name, digest, applied_at)
          VALUES (\(migration.name), \(migration.digest), \(time))
          """)
      }
    }
    return missing.map(\.name)
  }

  /// The names of the steps that the database hasn't applied; nothing is changed.
  ///
  /// - Parameter migrations: All steps, in their order.
  /// - Returns: The names, in their order; all of them for an empty database.
  /// - Throws: ``MigrationError``; ``DatabaseError`` when the table cannot be read.
  public func pending(_ migrations: [Migration]) async throws -> [String] {
    try await read { connection in
      let isThere = try connection.first(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration'"
      ) { _ in true }
      guard isThere != nil else { return migrations.map(\.name) }
      return try Self.missing(of: migrations, in: connection).map(\.name)
    }
  }

  private static func missing(
    of migrations: [Migration], in connection: borrowing Connection
  ) throws -> [Migration] {
    let applied = try connection.all(
      "SELECT name, digest FROM schema_migration ORDER BY name"
    ) { row in (name: try row.value(0) as String, digest: try row.value(1) as String) }
    let known = Set(migrations.map(\.name))
    for step in applied where !known.contains(step.name) {
      throw MigrationError.unknown(step.name)
    }
    let digests = Dictionary(uniqueKeysWithValues: applied.map { ($0.name, $0.digest) })
    var missing: [Migration] = []
    for migration in migrations {
      guard let digest = digests[migration.name] else {
        missing.append(migration)
        continue
      }
      guard digest == migration.digest else { throw MigrationError.changed(migration.name) }
      if let late = missing.first { throw MigrationError.late(late.name) }
    }
    return missing
  }
}
