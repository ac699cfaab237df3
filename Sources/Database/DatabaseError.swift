/// What a database could not do.
///
/// It never carries a bound value. The message is the database's own; that of a malformed
/// full-text query may repeat words of the query.
public struct DatabaseError: Error, Sendable, Equatable {
  /// The kinds of failure a caller can tell apart.
  public enum Code: Sendable, Equatable {
    /// A row with the same key exists; names the key as `table.column, table.column`.
    case uniqueViolation(String)
    /// A row refers to one that does not exist, or is still referred to.
    case foreignKey
    /// A CHECK constraint refused a row; names the constraint.
    case checkViolation(String)
    /// A required column was NULL; names it as `table.column`.
    case notNullViolation(String)
    /// There is no room on the disk, or the database reached its limit.
    case full
    /// Reading or writing the file failed.
    case ioError
    /// Another process holds the database, or too many writes wait.
    case busy
    /// The file, its folder or the connection cannot be written to.
    case readOnly
    /// The file is damaged.
    case corrupt
    /// The file is not a database.
    case notADatabase
    /// The file cannot be opened or made.
    case cannotOpen
    /// The file that was to be made exists.
    case exists
    /// The database has been closed.
    case closed
    /// A column does not hold what was expected.
    case unexpectedValue
    /// The call is wrong: a mistake of the program.
    case misuse
    /// Another failure, by the driver's code.
    case other(Int32)
  }

  /// The kind of failure.
  public let code: Code

  /// The driver's own, finer code; 0 when the driver was not involved.
  public let extendedCode: Int32

  /// What happened, for an operator.
  public let message: String

  /// The text that failed, with parameters in place of the values.
  public let sql: String?

  /// Makes an error.
  public init(_ code: Code, _ message: String, extendedCode: Int32 = 0, sql: String? = nil) {
    self.code = code
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }
}

extension DatabaseError: CustomStringConvertible {
  /// The message and the text that failed, on one line.
  public var description: String {
    var text = message
    if extendedCode != 0 { text += " (code \(extendedCode))" }
    if let sql {
      text += " in: \(sql.split(whereSeparator: \.isWhitespace).joined(separator: " "))"
    }
    return text
  }
}
