import Dispatch
import Foundation
import Glibc
import HTTPClient
import Identity
import Localization

// `@unchecked Sendable`, because:
// 1. `sent` is used only on the serial queue;
// 2. everything else is constant.
/// Sends events to a syslog server over TCP or TLS.
///
/// Syslog has no acknowledgments. Events are delivered when the server's kernel has them, and those
/// of the last seconds are sent again when a connection breaks before the server has read them.
final class SyslogCarrier: EventCarrier, @unchecked Sendable {
  private let connection: ServerConnection
  private let format: SyslogMessage
  private let queue = DispatchQueue(label: "syslog")
  /// The positions before the latest batches, which the server may not have read yet.
  private var sent: [(at: ContinuousClock.Instant, position: StreamPosition)] = []

  /// How long a server may take to read what its kernel has.
  private static let unread = Duration.seconds(30)

  /// Creates a carrier, which connects when there are events.
  init(_ server: ServerConnection.Server) {
    connection = ServerConnection(server)
    format = SyslogMessage(host: ProcessInfo.processInfo.hostName, process: getpid())
  }

  func cancel() { connection.cancel() }

  func deliver(_ batch: EventBatch) async -> EventAttempt {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.send(batch)) }
    }
  }

  private func send(_ batch: EventBatch) -> EventAttempt {
    let now = ContinuousClock.now
    sent.removeAll { now - $0.at > Self.unread }
    do throws(HTTPClientError) {
      switch connection.state {
      case .open: break
      case .closed: try connection.open()
      case .broken:
        connection.close()
        if let position = forget() {
          return .interrupted(
            OperatorText.string(Message("cli.outbound-interrupted")), after: position)
        }
        try connection.open()
      }
    } catch {
      return .postponed(error.diagnosis)
    }
    do throws(HTTPClientError) {
      try connection.send(batch.events.flatMap(format.frame))
    } catch {
      guard let position = forget() else { return .postponed(error.diagnosis) }
      return .interrupted(error.diagnosis, after: position)
    }
    if batch.isNext { sent.append((now, StreamPosition(of: batch.stream))) }
    return .delivered
  }

  /// Returns the position before the oldest batch that may be unread, once.
  private func forget() -> StreamPosition? {
    defer { sent = [] }
    return sent.first?.position
  }
}
