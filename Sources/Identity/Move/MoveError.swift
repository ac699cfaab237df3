public import Database

public enum MoveError: Error, Sendable {
  /// The source can't be used: it isn't an instance, it's damaged, or another key sealed it.
  case source(BackupFault)
  case notMigrated([String])
  /// A server or a command uses the destination.
  case inUse
  case notEmpty([String])
  /// A text has a character that PostgreSQL can't store.
  case unstorableText(table: String, column: String, key: String)
  case unreadableValue(table: String, key: String, reason: String)
  case differentSchema([String])
  case differentRows([String])
  /// The schema can't be created in the destination.
  case schema(MigrationError)
  case failed(DatabaseError)
  /// Everything was copied, but the destination may have none of it: its last step wasn't confirmed.
  case unconfirmed(DatabaseError)

  public static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as BackupFault: MoveError.source(error)
    case let error as MigrationError: MoveError.schema(error)
    case let error as DatabaseError where error.code == .outcomeUnknown:
      MoveError.unconfirmed(error)
    case let error as DatabaseError: MoveError.failed(error)
    default: error
    }
  }

  /// Whether another attempt can succeed, although nobody changes the configuration.
  public var isTemporary: Bool {
    switch self {
    case .inUse: true
    case .failed(let error), .unconfirmed(let error), .schema(.failed(_, let error)):
      error.isTemporary
    case .source, .notMigrated, .notEmpty, .unstorableText, .unreadableValue, .differentSchema,
      .differentRows, .schema:
      false
    }
  }
}
