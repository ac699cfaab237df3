public import Database

/// Why an instance can't be moved to a server.
public enum MoveError: Error, Sendable {
  /// The source can't be used: it isn't an instance, it's damaged, or another key sealed it.
  case source(BackupFault)
  /// The source lacks these migrations.
  case notMigrated([String])
  /// A server or a command uses the destination.
  case inUse
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
  /// Everything was copied, but the destination may have none of it: its last step wasn't confirmed.
  case unconfirmed(DatabaseError)
  /// Another error.
  case unavailable(Failure)

  /// Creates the error of a move that failed with another one.
  public init(_ error: any Error) {
    self =
      switch error {
      case let error as MoveError: error
      case let error as BackupFault: .source(error)
      case let error as MigrationError: .schema(error)
      case let error as DatabaseError where error.code == .outcomeUnknown: .unconfirmed(error)
      case let error as DatabaseError: .failed(error)
      default: .unavailable(Failure(error))
      }
  }

  /// Whether another attempt can succeed, although nobody changes the configuration.
  public var isTemporary: Bool {
    switch self {
    case .inUse: true
    case .failed(let error), .unconfirmed(let error), .schema(.failed(_, let error)):
      error.isTemporary
    case .unavailable(let failure): failure.isTemporary
    case .source, .notMigrated, .notEmpty, .unstorableText, .unreadableValue, .differentSchema,
      .differentRows, .schema:
      false
    }
  }
}
