import CSQLite
import Database
import Glibc
import Host

extension DatabaseError {
  /// Returns the error of a call with this extended result code, and with the connection's message.
  static func sqlite(_ code: Int32, _ connection: OpaquePointer?, sql: String? = nil)
    -> DatabaseError
  {
    var message = ""
    if let text = unsafe sqlite3_errmsg(connection) { message = unsafe String(cString: text) }
    var kind = kind(of: code, message: message)
    let cause = unsafe reason(SystemError(sqlite3_system_errno(connection)))
    if kind == .cannotOpen { kind = cause }
    if kind == .ioError, cause == .full {
      // As when there's no space for the shared memory of a write-ahead log.
      kind = .full
      if let text = unsafe sqlite3_errstr(SQLITE_FULL) { message = unsafe String(cString: text) }
    }
    return DatabaseError(kind, message, extendedCode: code, sql: sql)
  }

  /// Returns why a file can't be opened, by the error of the system.
  static func reason(_ error: SystemError) -> Code {
    switch error.number {
    case ENOSPC, EDQUOT: .full
    default: error.isTemporary ? .ioError : .cannotOpen
    }
  }

  private static func kind(of code: Int32, message: String) -> Code {
    switch code {
    case 1555, 2067, 2579: return .uniqueViolation(subject(of: message))
    case 787: return .foreignKey
    case 275: return .checkViolation(subject(of: message))
    case 1299: return .notNullViolation(subject(of: message))
    default: break
    }
    switch code & 0xff {
    case SQLITE_FULL: return .full
    case SQLITE_IOERR, SQLITE_NOMEM: return .ioError
    case SQLITE_BUSY, SQLITE_LOCKED: return .busy
    case SQLITE_READONLY: return .readOnly
    case SQLITE_CORRUPT: return .corrupt
    case SQLITE_NOTADB: return .notADatabase
    case SQLITE_CANTOPEN: return .cannotOpen
    case SQLITE_MISUSE, SQLITE_RANGE: return .misuse
    default: return .other(code)
    }
  }

  /// Returns the subject of a constraint error's message: everything after the colon.
  private static func subject(of message: String) -> String {
    guard let colon = message.firstIndex(of: ":") else { return message }
    return String(message[message.index(after: colon)...].drop { $0 == " " })
  }
}
