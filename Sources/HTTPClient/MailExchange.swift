/// The transfer of one email: the remaining bytes, and the server's last reply.
///
/// libcurl speaks SMTP, too, and has one importer.
final class MailExchange {
  private let message: [UInt8]
  private let deadline: () -> Int64
  private(set) var sent = 0
  /// The server's last 4xx or 5xx reply, truncated if it's long.
  private(set) var line: [UInt8] = []
  /// All lines of that reply.
  private(set) var reply: [UInt8] = []

  private static let longestLine = 300
  private static let longestReply = 3_000

  init(_ message: [UInt8], deadline: @escaping () -> Int64) {
    self.message = message
    self.deadline = deadline
  }

  var count: Int { message.count }

  /// Returns whether the transfer has exceeded its deadline.
  func isOver(at now: Int64) -> Bool {
    let deadline = deadline()
    return deadline != 0 && now >= deadline
  }

  func take(_ most: Int, _ give: (ArraySlice<UInt8>) -> Void) -> Int {
    let part = message[sent...].prefix(most)
    give(part)
    sent += part.count
    return part.count
  }

  /// Stores a 4xx or 5xx reply; the reply to QUIT that follows doesn't replace it.
  func receive(_ bytes: [UInt8]) {
    guard let first = bytes.first, first == UInt8(ascii: "4") || first == UInt8(ascii: "5") else {
      return
    }
    // A hyphen after the code announces another line (RFC 5321 section 4.2.1).
    let isContinued = line.dropFirst(3).first == UInt8(ascii: "-")
    line = Array(bytes.prefix(Self.longestLine))
    reply = isContinued ? Array((reply + line).prefix(Self.longestReply)) : line
  }
}
