public import Database

/// Why an instance can't be moved to another database.
public enum MoveError: Error, Sendable {
  /// The source can't be used: it isn't an instance, it's damaged, or another key sealed it.
  case source(BackupFault)
  /// The source lacks these migrations.
  case notMigrated([String])
  /// A server or a command uses the source, or the destination.
  case inUse(MoveEnd)
  /// The destination has these tables.
  case notEmpty([String])
  /// A text has a character that PostgreSQL can't store.
  case unstorableText(table: String, column: String, key: String)
  /// A value can't be read.
  case unreadableValue(table: String, key: String, reason: String)
  /// The tables or columns of the two databases differ.
  case differentSchema([String])
  /// The rows of these tables differ after they were copied.
  case differentRows([String])
  /// The schema can't be created in the destination.
  case schema(MigrationError)
  /// Reading or writing failed.
  case failed(DatabaseError)
  /// Another error.
  case unavailable(Failure)

  init(_ error: any Error) {
    self =
      switch error {
      case let error as MoveError: error
      case let error as BackupFault: .source(error)
      case let error as MigrationError: .schema(error)
      case let error as DatabaseError: .failed(error)
      default: .unavailable(Failure(error))
      }
  }
}

/// One of the two databases of a move.
public enum MoveEnd: Sendable {
  /// The database that is read.
  case source
  /// The database that is filled.
  case destination
}
