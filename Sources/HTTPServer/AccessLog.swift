import HTTP

/// One line of JSON for each request: `time`, `id`, `peer`, `method`, `path`, `status`, `bytes` and
/// `ms`.
///
/// The path is as it was sent, percent-coded, without its query; what is not printable ASCII, and
/// what could end a JSON text, is escaped, so no client can write a line of its own. `bytes` counts
/// the body. A request that was not answered to its end carries `"cut":true`, with status 0 when no
/// answer was made.
///
/// Lines are gathered in memory and written by a thread of the log's own, at most a quarter of a
/// second later. When they come faster than they can be written, lines are left out beyond 16 MiB
/// and a line tells how many.
public final class AccessLog: Sendable {
  private let writer: LogWriter

  /// Logs to a file that is open for writing, and stays the caller's to close.
  public init(fileDescriptor: Int32) {
    writer = LogWriter(fileDescriptor)
  }

  deinit {
    close()
  }

  /// Writes what is gathered, and returns when it has been handed to the system.
  public func flush() {
    writer.flush()
  }

  /// Writes what is gathered and ends the log's thread; later lines are left out.
  public func close() {
    writer.close()
  }

  /// Takes a request that has ended.
  func record(_ exchange: Exchange, isComplete: Bool) {
    writer.add(
      LogRecord(
        unixMilliseconds: SystemClock.unixMilliseconds(), id: exchange.id,
        peer: exchange.peer, method: exchange.method.name,
        target: exchange.rawTarget, status: exchange.status, bytes: exchange.sent,
        microseconds: (SystemClock.nanoseconds() - exchange.start) / 1000, isCut: !isComplete))
  }
}
