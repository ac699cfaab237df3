import Glibc
import HTTP
import Host

/// A log with one line of JSON per request: `time`, `level`, `event`, `id`, `peer`, `method`,
/// `path`, `status`, `bytes`, and `ms`.
///
/// The path is as sent, percent-encoded, without its query. Characters that aren't printable ASCII,
/// or that could end a JSON string, are escaped, so that no client can forge a line. `bytes` is the
/// size of the body. A request that wasn't answered completely has `"cut":true`, with status 0 when
/// there was no response, or one of libmicrohttpd.
///
/// Lines are buffered in memory and written by the log's own thread within a quarter of a second.
/// Lines are dropped when more than 16 MiB are waiting, and when the disk is full or the pipe is
/// closed. Once lines can be written again, a line `{"dropped":N}` shows how many were dropped.
public final class AccessLog: Sendable {
  private let writer: LogWriter
  /// The path of the file; nil for a file descriptor from the caller.
  private let path: String?

  /// Logs to an open file descriptor, which the caller closes.
  ///
  /// - Throws: `ServerError` when there are too many threads.
  public init(fileDescriptor: Int32) throws(ServerError) {
    path = nil
    writer = try LogWriter(fileDescriptor, isOwn: false)
  }

  /// Appends to a file, which is created for its owner and group if it's missing.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: `ServerError`, such as `unreadableFile` when it can't be opened for writing.
  public init(path: String) throws(ServerError) {
    self.path = path
    writer = try LogWriter(try AccessLog.open(path), isOwn: true)
  }

  /// Reopens the file by its path, after it was moved.
  ///
  /// Buffered lines go to the previous file. A log on a file descriptor keeps it.
  ///
  /// - Throws: `ServerError.unreadableFile`; the previous file then stays in use.
  public func reopen() throws(ServerError) {
    guard let path else { return }
    writer.replace(with: try AccessLog.open(path))
  }

  private static func open(_ path: String) throws(ServerError) -> Int32 {
    let file = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
    guard file >= 0 else { throw .unreadable(path, .last) }
    return file
  }

  /// The number of lines dropped since the start.
  public var droppedLines: Int { writer.droppedLines }

  deinit {
    close()
  }

  /// Writes buffered lines and returns when the system has accepted them.
  public func flush() {
    writer.flush()
  }

  /// Writes buffered lines and ends the log's thread; later lines are dropped.
  public func close() {
    writer.close()
  }

  /// Records a completed request.
  func record(_ exchange: Exchange, isComplete: Bool) {
    writer.add(
      LogRecord(
        unixMilliseconds: SystemClock.unixMilliseconds(), id: exchange.id,
        proxyID: exchange.proxyID, peer: exchange.peer, method: exchange.method.name,
        target: exchange.rawTarget, status: exchange.status, bytes: exchange.sent,
        microseconds: (SystemClock.nanoseconds() - exchange.start) / 1000, isCut: !isComplete))
  }
}
