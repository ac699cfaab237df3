import Database

/// An error of the server or of the connection, with what decides how to go on.
struct PostgreSQLError: Error {
  var error: DatabaseError

  /// The five characters of the SQLSTATE; empty when the server didn't send one.
  var state: String

  /// Whether the connection can't be used any longer.
  var isLoss: Bool

  /// Whether the same transaction can succeed when it runs again.
  var isRetryable: Bool {
    !isLoss && (state == "40001" || state == "40P01" || isStalePlan)
  }

  /// Whether a row is already there: perhaps added by another write since this one's snapshot, so
  /// that the next run sees it.
  var isDuplicate: Bool { !isLoss && state == "23505" }

  /// The position of what failed among all that was sent together.
  var position = 0

  /// The number of the transaction's savepoints that the server has.
  var savepoints = 0

  /// Whether a prepared statement no longer matches the schema.
  var isStalePlan = false

  init(_ error: DatabaseError, state: String = "", isLoss: Bool = false) {
    self.error = error
    self.state = state
    self.isLoss = isLoss
  }
}

extension PostgreSQLError {
  /// Creates the failure that a result reports.
  init(_ result: PostgreSQLResult, isLoss: Bool) {
    guard let state = result.field("C"), state.utf8.count == 5 else {
      self.init(.connection(result.libraryMessage), isLoss: true)
      return
    }
    let primary = result.field("M") ?? ""
    let error = DatabaseError(
      SQLState.code(of: state, result), SQLState.message(of: state, primary),
      extendedCode: SQLState.number(of: state))
    self.init(error, state: state, isLoss: isLoss)
    // Sent by RevalidateCachedQuery in plancache.c only.
    isStalePlan = state == "0A000" && result.field("R") == "RevalidateCachedQuery"
  }

  func adding(sql: String) -> PostgreSQLError {
    var copy = self
    copy.error = DatabaseError(
      error.code, error.message, extendedCode: error.extendedCode, sql: sql)
    return copy
  }
}

extension DatabaseError {
  static var closed: DatabaseError { DatabaseError(.closed, "the database has been closed") }

  /// The error of a commit that the server didn't confirm, with the SQLSTATE as a number.
  static func outcomeUnknown(_ reason: String, extendedCode: Int32 = 0) -> DatabaseError {
    DatabaseError(
      .outcomeUnknown,
      "the server didn't confirm the commit; the changes may be stored or not: " + reason,
      extendedCode: extendedCode)
  }

  /// The error of a lost connection, with the first line of what libpq says about it.
  static func connection(_ text: String) -> DatabaseError {
    let line = text.split(separator: "\n").first.map(String.init) ?? "no reason given"
    return DatabaseError(.ioError, "the connection to PostgreSQL was lost: \(line)")
  }
}

/// The codes of errors in the SQL standard and PostgreSQL's manual, appendix A.
enum SQLState {
  /// Returns the code as a number, for `DatabaseError.extendedCode`: its characters are the digits
  /// of a number to base 36.
  static func number(of state: String) -> Int32 { Int32(state, radix: 36) ?? 0 }

  static func code(of state: String, _ result: PostgreSQLResult) -> DatabaseError.Code {
    switch state {
    case "23505": .uniqueViolation(key(of: result))
    case "23503", "23001": .foreignKey
    case "23514": .checkViolation(result.field("n") ?? "")
    case "23502": .notNullViolation([result.field("t"), result.field("c")].joinedByDot)
    default: code(of: state)
    }
  }

  /// Returns the kind of error, of those that no row causes.
  static func code(of state: String) -> DatabaseError.Code {
    switch state {
    case "53100": .full
    // Conflicts that remain after all retries, locks, timeouts, and too many connections.
    case "40001", "40P01", "55P03", "57014", "53300", "57P03": .busy
    case "25006": .readOnly
    case "XX001", "XX002": .corrupt
    case "58030", "57P01", "57P02", "57P05", "25P03": .ioError
    case "28000", "28P01", "3D000": .cannotOpen
    default:
      switch state.prefix(2) {
      case "08": .ioError
      case "22": .unexpectedValue
      default: .other(number(of: state))
      }
    }
  }

  /// Returns the kind of error with which a server or a pooler refused a connection.
  static func refusal(of state: String) -> DatabaseError.Code {
    if code(of: state) == .busy { return .busy }
    // The user has no access, or there's no such database, until an operator changes that.
    return ["28", "3D", "42"].contains(state.prefix(2)) ? .cannotOpen : .unreachable
  }

  /// Returns a message for operators, without values.
  ///
  /// The primary message of a data exception (class 22) repeats the value, so it's replaced.
  static func message(of state: String, _ primary: String) -> String {
    guard state.hasPrefix("22") else { return "\(primary) (SQLSTATE \(state))" }
    let reason =
      switch state {
      case "22003": "a number is out of range"
      case "22012": "division by zero"
      case "2201W", "2201X": "LIMIT or OFFSET is negative"
      case "22021": "text has a character that PostgreSQL can't store"
      case "22001": "text is too long for its column"
      case "22P02", "22P03": "a value has the wrong form for its type"
      default: "a value isn't valid for its type or function"
      }
    return "\(reason) (SQLSTATE \(state))"
  }

  /// Returns the columns of a violated unique key, as `table.column, table.column`.
  ///
  /// The server names them only in the detail, which is `Key (column, column)=(value, value)
  /// already exists.` in English: nothing after the columns is used. Without a detail, it's the
  /// constraint's name.
  private static func key(of result: PostgreSQLResult) -> String {
    let table = result.field("t")
    guard let detail = result.field("D"), let columns = columns(in: detail) else {
      return result.field("n") ?? ""
    }
    return columns.map { [table, $0].joinedByDot }.joined(separator: ", ")
  }

  /// Returns the columns that a detail names; nil for an unknown form.
  static func columns(in detail: String) -> [String]? {
    guard let start = detail.firstRange(of: "("), let end = detail.firstRange(of: ")=("),
      start.upperBound < end.lowerBound
    else { return nil }
    return detail[start.upperBound..<end.lowerBound].split(separator: ", ").map(String.init)
  }
}

extension [String?] {
  fileprivate var joinedByDot: String { compactMap { $0 }.joined(separator: ".") }
}
