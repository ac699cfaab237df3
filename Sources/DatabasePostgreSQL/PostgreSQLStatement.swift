import CPostgreSQL
import Database

/// A statement with its values; it runs with its first step, which receives all rows.
final class PostgreSQLStatement: DatabaseStatement {
  private let sql: SQL
  private unowned let session: PostgreSQLSession
  private var received: PostgreSQLResult?
  private var row = -1

  init(_ sql: SQL, session: PostgreSQLSession) {
    self.sql = sql
    self.session = session
  }

  /// The result, once the statement has run.
  private func result() throws(DatabaseError) -> PostgreSQLResult {
    if let received { return received }
    let result = try session.execute(sql)
    received = result
    return result
  }

  var columnCount: Int { received?.columnCount ?? 0 }

  /// Whether it changed the database; it has run completely by then.
  var isChange: Bool { received?.isChange ?? true }

  func step() throws(DatabaseError) -> Bool {
    let result = try result()
    row = min(row + 1, result.rowCount)
    return row < result.rowCount
  }

  func finish() throws(DatabaseError) -> Int {
    let result = try result()
    row = result.rowCount
    return result.changes
  }

  func reset() {
    received = nil
    row = -1
  }

  func name(of column: Int) -> String { received?.name(of: column) ?? "" }

  func isNull(at column: Int) -> Bool { received?.isNull(row, column) ?? true }

  func integer(at column: Int) -> Int64? {
    guard let received, !received.isNull(row, column) else { return nil }
    switch received.type(of: column) {
    case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2:
      return received.withBytes(row, column) { $0.bigEndianInteger }
    case PostgreSQLType.bool:
      return received.withBytes(row, column) { $0.bigEndianInteger == 0 ? 0 : 1 }
    case PostgreSQLType.oid:
      return received.withBytes(row, column) { $0.bigEndianInteger & 0xffff_ffff }
    case PostgreSQLType.numeric:
      return received.withBytes(row, column) { PostgreSQLNumeric($0)?.integer }
    default:
      return nil
    }
  }

  func real(at column: Int) -> Double? {
    guard let received, !received.isNull(row, column) else { return nil }
    switch received.type(of: column) {
    case PostgreSQLType.float8:
      return received.withBytes(row, column) {
        Double(bitPattern: UInt64(bitPattern: $0.bigEndianInteger))
      }
    case PostgreSQLType.float4:
      return received.withBytes(row, column) {
        Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0.bigEndianInteger)))
      }
    case PostgreSQLType.numeric:
      return received.withBytes(row, column) { bytes in
        PostgreSQLNumeric(bytes).flatMap { $0.integer == nil ? $0.real : nil }
      }
    default:
      return nil
    }
  }

  func text(at column: Int) throws(DatabaseError) -> String? {
    guard let received, !received.isNull(row, column) else { return nil }
    let type = received.type(of: column)
    guard PostgreSQLType.isText(type) else {
      guard PostgreSQLType.isKnown(type) else {
        throw error(.unexpectedValue, "column \(column) has type \(type), which isn't supported")
      }
      return nil
    }
    let text = received.withBytes(row, column) { bytes -> String? in
      guard let valid = try? UTF8Span(validating: bytes) else { return nil }
      return String(copying: valid)
    }
    guard let text else {
      throw error(.unexpectedValue, "column \(column) does not hold valid UTF-8")
    }
    return text
  }

  func blob(at column: Int) -> [UInt8]? {
    guard let received, !received.isNull(row, column),
      received.type(of: column) == PostgreSQLType.bytea
    else { return nil }
    return received.withBytes(row, column) { bytes in
      bytes.indices.map { bytes[$0] }
    }
  }

  func error(_ code: DatabaseError.Code, _ message: String) -> DatabaseError {
    DatabaseError(code, message, sql: sql.text(in: .postgreSQL))
  }
}
