import Glibc
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
/// second later. When they come faster than they can be written, lines are left out beyond 16 MiB;
/// so are those that a full disk or a closed pipe doesn't take. A line `{"dropped":N}` tells how many
/// once lines can be written again.
public final class AccessLog: Sendable {
  private let writer: LogWriter
  /// The file that is opened by name; nil for one that was open before.
  private let path: String?

  /// Logs to a file that is open for writing, and stays the caller's to close.
  public init(fileDescriptor: Int32) {
    path = nil
    writer = LogWriter(fileDescriptor, isOwn: false)
  }

  /// Logs to the end of a file, which is made for its owner and their group where it is missing.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: `ServerError.unreadableFile` when it can't be opened for writing.
  public init(path: String) throws(ServerError) {
    self.path = path
    writer = LogWriter(try AccessLog.open(path), isOwn: true)
  }

  /// Opens the file by its name again, after it was moved away.
  ///
  /// What was gathered before is written to the former file. A log that was made with an open file
  /// keeps it.
  ///
  /// - Throws: `ServerError.unreadableFile`; lines go to the former file then.
  public func reopen() throws(ServerError) {
    guard let path else { return }
    writer.replace(with: try AccessLog.open(path))
  }

  private static func open(_ path: String) throws(ServerError) -> Int32 {
    let file = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
    guard file >= 0 else { throw .unreadableFile(path: path, reason: lastError()) }
    return file
  }

  /// The number of lines that were left out since the start.
  public var droppedLines: Int { writer.droppedLines }

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
