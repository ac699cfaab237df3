import CCurl

/// The transfer of one email: the remaining bytes, and the server's last reply.
final class Exchange {
  private let message: [UInt8]
  private var sent = 0
  private var line: [UInt8] = []
  private let deadline: () -> Int64

  private static let longestLine = 300

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

  /// Stores the server's last 4xx or 5xx reply, truncated if it's long; the reply to QUIT that
  /// follows doesn't replace it.
  func receive(_ bytes: [UInt8]) {
    guard let first = bytes.first, first == UInt8(ascii: "4") || first == UInt8(ascii: "5") else {
      return
    }
    line = Array(bytes.prefix(Self.longestLine))
  }

  /// Returns the result for the email, according to the server's last reply.
  ///
  /// Only a reply to the email itself can reject it permanently (RFC 5321 section 4.2.1); a failed
  /// greeting, sign-in, or certificate check can't. A server that requires authentication first
  /// replies with codes such as 530 (RFC 4954 section 6).
  func outcome(_ code: CURLcode, reply: Int, error: String) -> SMTPOutcome {
    let isAboutMail = code == CURLE_SEND_ERROR || sent > 0
    let words = isAboutMail && reply >= 400 ? replyText(reply) : error
    guard isAboutMail, reply >= 400, ![421, 454, 530, 534, 535, 538].contains(reply) else {
      return .unreachable(words)
    }
    return reply >= 500 ? .refused(words) : .postponed(words)
  }

  private func replyText(_ reply: Int) -> String {
    let text = String(decoding: line, as: UTF8.self).unicodeScalars.map { scalar in
      scalar.value < 32 || (127...159).contains(scalar.value) ? " " : String(scalar)
    }.joined()
    let words = text.split(separator: " ").joined(separator: " ")
    return words.hasPrefix(String(reply)) ? words : String(reply)
  }
}
