import CPostgreSQL
import Database

/// The complete result of a statement, with columns in binary format.
@safe
final class PostgreSQLResult {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe PQclear(handle)
  }

  var status: ExecStatusType { unsafe PQresultStatus(handle) }

  var rowCount: Int { Int(unsafe PQntuples(handle)) }

  var columnCount: Int { Int(unsafe PQnfields(handle)) }

  /// The command tag, such as `INSERT 0 3` or `COMMIT`.
  var tag: String {
    guard let tag = unsafe PQcmdStatus(handle) else { return "" }
    return unsafe String(cString: tag)
  }

  /// Whether the statement was one that changes rows.
  var isChange: Bool {
    let tag = tag
    return ["INSERT", "UPDATE", "DELETE", "MERGE"].contains { tag.hasPrefix($0) }
  }

  /// The number of rows inserted, updated, or deleted.
  var changes: Int {
    guard isChange, let count = unsafe PQcmdTuples(handle) else { return 0 }
    return Int(unsafe String(cString: count)) ?? 0
  }

  /// The types of the parameters, when this describes a prepared statement.
  var parameterTypes: [Oid] {
    let count = unsafe PQnparams(handle)
    return (0..<count).map { unsafe PQparamtype(handle, $0) }
  }

  func name(of column: Int) -> String {
    guard let name = unsafe PQfname(handle, Int32(column)) else { return "" }
    return unsafe String(cString: name)
  }

  func type(of column: Int) -> Oid {
    unsafe PQftype(handle, Int32(column))
  }

  func isNull(_ row: Int, _ column: Int) -> Bool {
    unsafe PQgetisnull(handle, Int32(row), Int32(column)) == 1
  }

  func withBytes<T>(_ row: Int, _ column: Int, _ body: (Span<UInt8>) -> T) -> T {
    let length = Int(unsafe PQgetlength(handle, Int32(row), Int32(column)))
    let start = unsafe UnsafeRawPointer(PQgetvalue(handle, Int32(row), Int32(column)))?
      .assumingMemoryBound(to: UInt8.self)
    let bytes = unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : length)
    return body(unsafe bytes.span)
  }

  /// Returns a field of the error; nil when the server didn't send it.
  func field(_ code: Character) -> String? {
    guard let ascii = code.asciiValue,
      let text = unsafe PQresultErrorField(handle, Int32(ascii))
    else { return nil }
    return unsafe String(cString: text)
  }

  /// The error's message with everything the server sent, for errors of libpq itself.
  var libraryMessage: String {
    guard let text = unsafe PQresultErrorMessage(handle) else { return "" }
    return unsafe String(cString: text)
  }
}
