import SMTP
import Synchronization

/// Connections to a mail server: one, and others for the emails after one to which the server takes
/// long to reply.
final class SMTPClients: Sendable {
  private let all: [SMTPClient]
  private let loads: Mutex<Loads>

  /// The number of emails that each connection is sending or will send next.
  struct Loads {
    private var counts: [Int]

    init(connections: Int) { counts = Array(repeating: 0, count: connections) }

    /// Adds an email to the first connection with the fewest, and returns its position.
    mutating func add() -> Int {
      var position = 0
      for other in counts.indices where counts[other] < counts[position] { position = other }
      counts[position] += 1
      return position
    }

    mutating func remove(_ position: Int) { counts[position] -= 1 }
  }

  /// The maximum number of connections.
  private static let most = 4
  /// How long the server may take to reply to an email until the next ones don't wait for it any
  /// longer, in seconds.
  private static let patience = 5

  init(_ server: SMTPServer) {
    all = (0..<Self.most).map { _ in SMTPClient(server) }
    loads = Mutex(Loads(connections: Self.most))
  }

  var mostAtOnce: Int {
    min(1 + all.count { $0.hasWaited(seconds: Self.patience) }, Self.most)
  }

  func send(_ mail: Mail) async -> SMTPOutcome {
    let position = loads.withLock { $0.add() }
    defer { loads.withLock { $0.remove(position) } }
    return await all[position].send(mail)
  }

  func rest() async {
    for client in all { await client.rest() }
  }

  func hurry(seconds: Int) {
    for client in all { client.hurry(seconds: seconds) }
  }
}
