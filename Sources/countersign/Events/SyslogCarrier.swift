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
/// Syslog has no acknowledgments. Events are delivered when the server's kernel has them. The last
/// ones are sent again when their connection breaks before the server's kernel has acknowledged
/// others half a minute later, by which time it has read the earlier ones.
final class SyslogCarrier: EventCarrier, @unchecked Sendable {
  private let connection: ServerConnection
  private let format: SyslogMessage
  private let queue = DispatchQueue(label: "syslog")
  /// The positions before batches that the server may not have read yet.
  private var sent: [(at: ContinuousClock.Instant, position: StreamPosition)] = []
  /// How long a server may take to read what its kernel has.
  private let unread: Duration
  /// The time after a position during which batches don't get one of their own, so that there are
  /// few.
  private var step: Duration { unread / 30 }

  /// Creates a carrier, which connects when there are events.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - unread: How long it may take to read what its kernel has.
  init(_ server: ServerConnection.Server, unread: Duration = .seconds(30)) {
    connection = ServerConnection(server)
    format = SyslogMessage(host: ProcessInfo.processInfo.hostName, process: getpid())
    self.unread = unread
  }

  func cancel() { connection.cancel() }

  func deliver(_ batch: EventBatch) async -> EventAttempt {
    await deliver(
      batch.events.flatMap(format.frame),
      after: batch.isNext ? StreamPosition(of: batch.stream) : nil)
  }

  /// Delivers messages.
  ///
  /// - Parameters:
  ///   - messages: The messages with their lengths.
  ///   - position: Where the stream continues if they aren't read; nil if they aren't part of it.
  /// - Returns: The result.
  func deliver(_ messages: [UInt8], after position: StreamPosition?) async -> EventAttempt {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.send(messages, after: position)) }
    }
  }

  private func send(_ messages: [UInt8], after position: StreamPosition?) -> EventAttempt {
    do throws(HTTPClientError) {
      switch connection.state {
      case .open: break
      case .closed:
        sent = []
        try connection.open()
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
      try connection.send(messages)
    } catch {
      guard let position = forget() else { return .postponed(error.diagnosis) }
      return .interrupted(error.diagnosis, after: position)
    }
    // Only now: a connection may have broken long before the next batch shows it.
    let now = ContinuousClock.now
    sent.removeAll { now - $0.at > unread + step }
    if let position, sent.last.map({ now - $0.at > step }) ?? true { sent.append((now, position)) }
    return .delivered
  }

  /// Returns the position before the oldest batch that may be unread, once.
  private func forget() -> StreamPosition? {
    defer { sent = [] }
    return sent.first?.position
  }
}
