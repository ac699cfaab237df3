import Dispatch
import HTTP
import Synchronization

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
    let nanoseconds = SystemClock.nanoseconds() - exchange.start
    let now = SystemClock.unixMilliseconds()
    writer.add { line in
      line.raw("{\"time\":\"")
      line.time(now)
      line.raw("\",\"id\":\"")
      line.characters(of: exchange.id)
      line.raw("\",\"peer\":\"")
      line.escaped(exchange.connection.peer)
      line.raw("\",\"method\":\"")
      line.escaped(exchange.method.name)
      line.raw("\",\"path\":\"")
      line.escaped(path: exchange.rawTarget)
      line.raw("\",\"status\":")
      line.number(exchange.status)
      line.raw(",\"bytes\":")
      line.number(exchange.sent)
      line.raw(",\"ms\":")
      line.thousandths(Int(nanoseconds / 1000))
      line.raw(isComplete ? "}\n" : ",\"cut\":true}\n")
    }
  }
}
