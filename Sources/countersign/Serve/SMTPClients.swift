import SMTP
import Synchronization

/// Connections to a mail server: one, and others for the emails after one to which the server takes
/// long to reply.
final class SMTPClients: Sendable {
  private let all: [SMTPClient]
  /// The positions of those that send an email.
  private let busy = Mutex<Set<Int>>([])

  /// The maximum number of connections.
  private static let most = 4
  /// How long the server may take to reply to an email until the next ones don't wait for it any
  /// longer, in seconds.
  private static let patience = 5

  init(_ server: SMTPServer) { all = (0..<Self.most).map { _ in SMTPClient(server) } }

  /// The maximum number of emails sent at the same time now.
  var mostAtOnce: Int {
    min(1 + all.count { $0.hasWaited(seconds: Self.patience) }, Self.most)
  }

  /// Sends an email and waits for the server's reply.
  func send(_ mail: Mail) async -> SMTPOutcome {
    let position = busy.withLock { busy in
      let free = all.indices.first { !busy.contains($0) } ?? 0
      busy.insert(free)
      return free
    }
    defer { _ = busy.withLock { $0.remove(position) } }
    return await all[position].send(mail)
  }

  /// Closes the connections.
  func rest() async {
    for client in all { await client.rest() }
  }

  /// Limits emails being sent to this many more seconds.
  func hurry(seconds: Int) {
    for client in all { client.hurry(seconds: seconds) }
  }
}
