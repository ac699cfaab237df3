import CPostgreSQL
import Dispatch

/// A connection for statements that the driver refuses, such as those that create databases.
///
/// It's `@unchecked Sendable` because:
/// 1. `place` and `queue` never change;
/// 2. `handle` is used on that serial queue only, apart from `deinit`, when no one uses it anymore.
@safe final class RawConnection: @unchecked Sendable {
  private let place: String
  private let queue = DispatchQueue(label: "raw connection")
  private var handle: OpaquePointer?

  /// Describes a connection, which is opened when it's needed.
  init(_ place: String) { self.place = place }

  deinit { unsafe PQfinish(handle) }

  /// Returns whether the server accepts the connection.
  func open() async -> Bool {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.isOpen) }
    }
  }

  private var isOpen: Bool {
    do {
      _ = try unsafe link()
      return true
    } catch { return false }
  }

  private func link() throws -> OpaquePointer {
    if let handle = unsafe handle { return unsafe handle }
    guard let new = unsafe PQconnectdb(place) else { throw TestDatabaseError("out of memory") }
    guard unsafe PQstatus(new) == CONNECTION_OK else {
      defer { unsafe PQfinish(new) }
      throw TestDatabaseError(unsafe String(cString: PQerrorMessage(new)))
    }
    unsafe handle = new
    return unsafe new
  }

  /// Runs a text.
  ///
  /// - Returns: The first column of the last statement's rows.
  /// - Throws: ``TestDatabaseError`` with the server's message.
  @discardableResult
  func run(_ text: String) async throws -> [String] {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.execute(text) }) }
    }
  }

  /// Runs a text later, whatever its result.
  func run(_ text: String, after delay: DispatchTimeInterval) {
    queue.asyncAfter(deadline: .now() + delay) { _ = try? self.execute(text) }
  }

  private func execute(_ text: String) throws -> [String] {
    let result = try unsafe PQexec(link(), text)
    defer { unsafe PQclear(result) }
    guard unsafe [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      let reason = unsafe PQresultErrorMessage(result).map { unsafe String(cString: $0) }
      throw TestDatabaseError(reason ?? "no result")
    }
    return (0..<(unsafe PQntuples(result))).map { row in
      unsafe PQgetvalue(result, row, 0).map { unsafe String(cString: $0) } ?? ""
    }
  }
}
