import CSQLite
import Database
import Dispatch
import Synchronization

extension SQLiteDatabase {
  /// Checks the file for corruption, on a separate thread and connection.
  ///
  /// It reads every page, but doesn't compare indexes with their tables. Writes continue meanwhile.
  ///
  /// - Parameters:
  ///   - most: The maximum number of faults to report.
  ///   - limit: The time after which the check is abandoned.
  /// - Returns: The faults; empty if there are none, and nil if the time wasn't enough or the task
  ///   was canceled.
  /// - Throws: ``DatabaseError`` when the file can't be read.
  public func quickCheck(most: Int, limit: Duration) async throws -> [String]? {
    try await quickCheck(most: most, limit: limit) { _ in }
  }

  /// Checks the file, and reports each step of the check from its thread.
  func quickCheck(
    most: Int, limit: Duration, observe: @escaping @Sendable (QuickCheckStep) -> Void
  ) async throws -> [String]? {
    let end = CheckEnd(.now + limit, observe)
    return try await QuickCheck(source: options, most: most, end: end).run()
  }
}

extension ReadOnlySQLiteDatabase {
  /// Checks the file for corruption, on a separate thread and connection.
  ///
  /// - Parameter most: The maximum number of faults to report.
  /// - Returns: The faults; empty if there are none.
  /// - Throws: `DatabaseError` when the file can't be read; `CancellationError`.
  public func quickCheck(most: Int) async throws -> [String] {
    let faults = try await QuickCheck(source: options, most: most, end: CheckEnd(nil)).run()
    guard let faults else { throw CancellationError() }
    return faults
  }
}

enum QuickCheckStep: Sendable {
  /// The file is open, and the statement is about to begin.
  case ready
  case begun
  case asked
}

private struct QuickCheck: Sendable {
  let source: SessionOptions
  let most: Int
  let end: CheckEnd

  func run() async throws -> [String]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "countersign.database.check", qos: .utility).async {
          continuation.resume(with: Result { try check() })
        }
      }
    } onCancel: {
      end.cancel()
    }
  }

  private func check() throws(DatabaseError) -> [String]? {
    let session = try SQLiteSession.open(.reader, source)
    defer { end.finish() }
    guard end.begin(session) else { return nil }
    try unsafe session.withHandle { handle throws(DatabaseError) in
      let context = unsafe Unmanaged.passUnretained(end).toOpaque()
      unsafe sqlite3_progress_handler(handle, 10_000, quickCheckIsOver, context)
      unsafe sqlite3_trace_v2(handle, UInt32(SQLITE_TRACE_STMT), quickCheckBegins, context)
    }
    end.observe(.ready)
    let faults = try lines(session)
    // A check that was interrupted may have found pages missing that it didn't get to.
    return end.isCanceled ? nil : faults
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

/// Ends a check after its time, or when its task is canceled.
private final class CheckEnd: Sendable {
  private struct State {
    var isCanceled = false
    var session: SQLiteSession?
  }

  /// When the check is abandoned; nil for never.
  private let end: ContinuousClock.Instant?
  private let state = Mutex(State())
  let observe: @Sendable (QuickCheckStep) -> Void

  init(
    _ end: ContinuousClock.Instant?,
    _ observe: @escaping @Sendable (QuickCheckStep) -> Void = { _ in }
  ) {
    (self.end, self.observe) = (end, observe)
  }

  var isCanceled: Bool { state.withLock(\.isCanceled) }
  var isOver: Bool { isCanceled || end.map { .now > $0 } ?? false }

  /// Notes the session of a check that begins; returns false if it was canceled before.
  func begin(_ session: SQLiteSession) -> Bool {
    state.withLock { state in
      state.session = session
      return !state.isCanceled
    }
  }

  func finish() { state.withLock { $0.session = nil } }

  /// Interrupts the check, on any thread: while SQLite reads the pages of a tree, it doesn't call
  /// the progress handler.
  func cancel() {
    state.withLock { state in
      state.isCanceled = true
      state.session?.interrupt()
    }
  }

  /// Interrupts the statement if the task was canceled before it began, which SQLite then forgot.
  func statementBegins() {
    observe(.begun)
    state.withLock { state in
      if state.isCanceled { state.session?.interrupt() }
    }
  }
}

/// Ends a check that's over, by returning a nonzero value.
private func quickCheckIsOver(_ context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let end = unsafe Unmanaged<CheckEnd>.fromOpaque(context).takeUnretainedValue()
  end.observe(.asked)
  return end.isOver ? 1 : 0
}

/// Interrupts a statement that begins after its task was canceled.
private func quickCheckBegins(
  _ event: UInt32, _ context: UnsafeMutableRawPointer?, _ statement: UnsafeMutableRawPointer?,
  _ text: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<CheckEnd>.fromOpaque(context).takeUnretainedValue().statementBegins()
  return 0
}

final class DamageMark: Sendable {
  private let found = Mutex<DatabaseError?>(nil)
  private let stream: AsyncStream<DatabaseError>
  private let continuation: AsyncStream<DatabaseError>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// The error; nil as long as there was none.
  var error: DatabaseError? { found.withLock { $0 } }

  /// The error, once there is one.
  var errors: AsyncStream<DatabaseError> { stream }

  /// Keeps an error if it's the first of damage.
  ///
  /// A search index that doesn't match isn't damage of the file: it can be created again.
  func note(_ error: DatabaseError) {
    guard error.code == .corrupt || error.code == .notADatabase,
      error.extendedCode != SQLITE_CORRUPT | 1 << 8
    else { return }
    let isFirst = found.withLock { found in
      defer { if found == nil { found = error } }
      return found == nil
    }
    if isFirst { continuation.yield(error) }
  }
}
