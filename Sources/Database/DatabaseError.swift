/// A database error.
///
/// It never contains a bound value. The message is the database's own; for a malformed full-text
/// query, it can contain words of the query.
public struct DatabaseError: Error, Sendable, Equatable {
  /// The kinds of errors that callers can distinguish.
  public enum Code: Sendable, Equatable {
    /// A row with the same key exists; the value is the key, as `table.column, table.column`.
    case uniqueViolation(String)
    /// A row refers to one that doesn't exist, or is still referred to.
    case foreignKey
    /// A CHECK constraint failed; the value is its name.
    case checkViolation(String)
    /// A required column was NULL; the value is `table.column`.
    case notNullViolation(String)
    /// The disk is full, or the database reached its size limit.
    case full
    /// Reading or writing the file failed, memory was short, or the connection to the server was
    /// lost; nothing was stored.
    case ioError
    /// The server didn't confirm that it stored the changes, so they may be stored or not.
    case outcomeUnknown
    /// Another process has locked the database, too many writes are waiting or in conflict, or a
    /// statement took too long.
    case busy
    /// The file, its folder, or the connection is read-only.
    case readOnly
    /// The file is damaged.
    case corrupt
    /// The file isn't a database.
    case notADatabase
    /// The file can't be opened or created, or the server refuses the user or has no such database.
    case cannotOpen
    /// The server can't be reached, or opens no connections now.
    case unreachable
    /// The file to create already exists.
    case exists
    /// The database has been closed.
    case closed
    /// A column has an unexpected type or value.
    case unexpectedValue
    /// The call is invalid, which is a programming error.
    case misuse
    /// Another error, with the driver's code.
    case other(Int32)
  }

  /// The kind of error.
  public let code: Code

  /// Whether the same call can succeed later, although nobody changes the configuration: the server
  /// or the disk is at fault, or the load.
  public var isTemporary: Bool {
    switch code {
    case .full, .ioError, .outcomeUnknown, .busy, .unreachable: true
    case .uniqueViolation, .foreignKey, .checkViolation, .notNullViolation, .readOnly, .corrupt,
      .notADatabase, .cannotOpen, .exists, .closed, .unexpectedValue, .misuse, .other:
      false
    }
  }

  /// The driver's extended code; 0 when the error isn't from the driver.
  public let extendedCode: Int32

  /// A description for operators.
  public let message: String

  /// The SQL that failed, with parameters instead of values.
  public let sql: String?

  /// Creates an error.
  public init(_ code: Code, _ message: String, extendedCode: Int32 = 0, sql: String? = nil) {
    self.code = code
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }
}

extension DatabaseError: CustomStringConvertible {
  /// The message and the SQL, on one line.
  public var description: String {
    var text = message
    if extendedCode != 0 { text += " (code \(extendedCode))" }
    if let sql {
      text += " in: \(sql.split(whereSeparator: \.isWhitespace).joined(separator: " "))"
    }
    return text
  }
}
