import Database
import Synchronization

/// A part of ``Identity/purgeExpired()`` in one transaction, which changes a limited number of rows.
///
/// It returns whether it reached the limit, so that there may be more.
typealias CleanupTask =
  @Sendable (_ now: Instant, _ connection: borrowing Connection) throws -> Bool

enum CleanupLimit {
  /// The maximum number of rows in a transaction.
  static let rows = 500
  /// The maximum number of rows in a transaction if each takes many statements, such as those of
  /// emails to 20 administrators.
  static let costlyRows = 10
  /// The maximum number of transactions of a cleanup task in one run.
  static let parts = 100
}

extension Store {
  /// Repeats a cleanup task while there's more, pausing for other writes in between.
  ///
  /// - Returns: True if there may be more.
  @discardableResult
  func run(
    _ task: @escaping CleanupTask, atMost most: Int = CleanupLimit.parts, at now: Instant
  ) async throws -> Bool {
    var (parts, isMore) = (0, true)
    try await pacer.run {
      isMore = try await write { try task(now, $0) }
      parts += 1
      return isMore && parts < most
    }
    return isMore
  }
}

/// The pace of all work of the process in batches that no one waits for, which take turns.
///
/// After each batch it pauses for twice as long as the batch took, including the wait for the database.
/// Other writes get two thirds of the time, and batches slow down under load.
public final class Pacer: Sendable {
  /// The shortest pause.
  private static let pause = Duration.milliseconds(5)
  /// Ends with the last turn that was taken.
  private let last = Mutex<Task<Void, Never>?>(nil)

  package init() {}

  /// Runs a batch after the other while each says that there are more, each when it's its turn.
  ///
  /// A batch must not run others, which would wait for its end.
  ///
  /// - Returns: True if there may be more, because the server is stopping.
  /// - Throws: What a batch throws.
  @discardableResult
  public nonisolated(nonsending) func run(
    _ batch: nonisolated(nonsending) () async throws -> Bool
  ) async throws -> Bool {
    let clock = ContinuousClock()
    while true {
      let (turn, end) = AsyncStream<Void>.makeStream()
      defer { end.finish() }
      let before = last.withLock { last in
        defer { last = Task.detached { for await _ in turn {} } }
        return last
      }
      await before?.value
      let start = clock.now
      guard try await batch() else { return false }
      do { try await Task.sleep(for: Self.rest(after: clock.now - start)) } catch { return true }
    }
  }

  /// Returns the pause after a batch that took as long.
  package static func rest(after duration: Duration) -> Duration { max(pause, duration * 2) }
}

/// Tells one task that there's work, so that it needn't look for some all the time.
public final class WorkSignal: Sendable {
  private struct State {
    var isSent = false
    /// The pause of the task; nil while it works.
    var pause: Task<Void, Never>?
  }

  private let state = Mutex(State())

  public init() {}

  var isSent: Bool { state.withLock(\.isSent) }

  /// Call it after the transaction that left the work.
  public func send() {
    state.withLock { state in
      state.isSent = true
      state.pause?.cancel()
    }
  }

  /// Pauses until there's work, or for a time; returns false when the task is canceled meanwhile.
  public func pause(atMost time: Duration) async -> Bool {
    let pause = state.withLock { state in
      if !state.isSent { state.pause = Task { _ = try? await Task.sleep(for: time) } }
      return state.pause
    }
    await withTaskCancellationHandler {
      await pause?.value
    } onCancel: {
      pause?.cancel()
    }
    state.withLock { $0 = State() }
    return !Task.isCancelled
  }
}

extension Connection {
  /// Deletes a limited number of rows.
  ///
  /// `rows` are those of the table, as `FROM` with a condition, and `key` has the columns of a
  /// unique key. SQLite looks up several columns only if all have the same type, otherwise by the
  /// first one alone. Returns true if there may be more.
  func deletePart(
    _ rows: SQL, of table: SQL, by key: SQL, atMost limit: Int = CleanupLimit.rows
  ) throws(DatabaseError) -> Bool {
    let deleted = try run(
      "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) \(rows) LIMIT \(limit))")
    return deleted >= limit
  }
}
