import CSQLite
import Database
import Dispatch

extension SQLiteDatabase {
  /// Checks the file for corruption, on a separate thread and connection.
  ///
  /// It reads every page, but doesn't compare indexes with their tables. Writes continue meanwhile.
  ///
  /// - Parameters:
  ///   - most: The maximum number of faults to report.
  ///   - limit: The time after which the check is abandoned.
  /// - Returns: The faults; empty if there are none, and nil if the time wasn't enough.
  /// - Throws: ``DatabaseError`` when the file can't be read.
  public func quickCheck(most: Int, limit: Duration) async throws -> [String]? {
    try await QuickCheck(source: options, most: most, end: .now + limit).run()
  }
}

extension ReadOnlySQLiteDatabase {
  /// Checks the file for corruption, on a separate thread and connection.
  ///
  /// - Parameter most: The maximum number of faults to report.
  /// - Returns: The faults; empty if there are none.
  /// - Throws: `DatabaseError` when the file can't be read.
  public func quickCheck(most: Int) async throws -> [String] {
    try await QuickCheck(source: options, most: most, end: nil).run() ?? []
  }
}

private struct QuickCheck: Sendable {
  let source: SessionOptions
  let most: Int
  /// When the check is abandoned; nil for never.
  let end: ContinuousClock.Instant?

  func run() async throws -> [String]? {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "countersign.database.check", qos: .utility).async {
        continuation.resume(with: Result { try check() })
      }
    }
  }

  private func check() throws(DatabaseError) -> [String]? {
    let session = try SQLiteSession.open(.reader, source)
    guard var end else { return try lines(session) }
    return try unsafe withUnsafeMutablePointer(to: &end) { end throws(DatabaseError) in
      try unsafe session.withHandle { handle throws(DatabaseError) in
        unsafe sqlite3_progress_handler(handle, 10_000, quickCheckIsOver, end)
      }
      return try lines(session)
    }
  }

  private func lines(_ session: SQLiteSession) throws(DatabaseError) -> [String]? {
    do throws(DatabaseError) {
      let rows = try session.ask("PRAGMA quick_check(\(most))")
      guard rows != ["ok"] else { return [] }
      // SQLite heads the faults of a database with its name.
      return rows.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("*** ") }
        .map(String.init)
    } catch {
      guard error.extendedCode != SQLITE_INTERRUPT else { return nil }
      guard error.code != .corrupt else { return [error.message] }
      throw error
    }
  }
}

/// Ends a check after its time, by returning a nonzero value.
private func quickCheckIsOver(_ end: UnsafeMutableRawPointer?) -> Int32 {
  guard let end = unsafe end?.assumingMemoryBound(to: ContinuousClock.Instant.self) else {
    return 0
  }
  return unsafe ContinuousClock.now > end.pointee ? 1 : 0
}
