/// Replies to the address of a recipient that reject the sender.
///
/// Servers may wait with them until they know the recipient, which is Postfix's default
/// (`smtpd_delay_reject`).
enum DelayedRejection {
  /// Invalid addresses and domains of senders (RFC 3463 section 3.2).
  private static let codes: [[UInt8]] = [Array("5.1.7".utf8), Array("5.1.8".utf8)]

  /// Returns whether a reply to RCPT is about the sender's address: by its enhanced status code, or
  /// because it quotes that address and not the recipient's.
  static func isAboutSender(
    _ reply: [UInt8], sender: String, recipient: String
  ) -> Bool {
    let (sender, recipient) = (lowercased(sender.utf8), lowercased(recipient.utf8))
    guard sender != recipient else { return false }
    let reply = lowercased(reply)
    let code = reply.dropFirst(4).prefix { $0 > UInt8(ascii: " ") }
    return codes.contains { $0.elementsEqual(code) }
      || quotes(reply, sender) && !quotes(reply, recipient)
  }

  private static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  /// Whether a text has an address that isn't a part of a longer one.
  private static func quotes(_ text: [UInt8], _ address: [UInt8]) -> Bool {
    text.ranges(of: address).contains { range in
      let rest = text[range.upperBound...]
      // It may end a sentence.
      let next = rest.first == UInt8(ascii: ".") ? rest.dropFirst().first : rest.first
      return !(text[..<range.lowerBound].last.map(isPart) ?? false)
        && !(next.map(isPart) ?? false)
    }
  }

  /// Whether a byte next to an address belongs to it, rather than to the text that quotes it.
  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: true
    default: "._-+@%&~#$!*/?^".utf8.contains(byte)
    }
  }
}
