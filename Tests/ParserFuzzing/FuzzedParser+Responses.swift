@testable import HTTPClient

extension FuzzedParser {
  /// What a server sends before the body, line by line as libcurl passes it on.
  static func responseHeader(_ bytes: [UInt8]) -> String? {
    let exchange = HTTPExchange(HTTPClient.Limits(), AddressPolicy())
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard exchange.receive(header: line + [UInt8(ascii: "\n")]) else {
        return exchange.isTooLarge ? nil : "a line was refused without a reason"
      }
    }
    guard (0...999).contains(exchange.status) else { return "the status is \(exchange.status)" }
    for (name, value) in exchange.fields {
      guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return "a name isn't ASCII" }
      guard !value.utf8.contains(UInt8(ascii: "\n")), !value.utf8.contains(UInt8(ascii: "\r"))
      else {
        return "a value has a line break"
      }
    }
    return nil
  }

  /// The replies of a mail server.
  static func mailReply(_ bytes: [UInt8]) -> String? {
    let exchange = MailExchange([]) { 0 }
    for line in bytes.split(separator: UInt8(ascii: "\n")) { exchange.receive(line + [10]) }
    guard exchange.line.count <= 300, exchange.reply.count <= 3_000 else {
      return "a reply isn't truncated"
    }
    let (one, other) = ("mfa@example.com", "eve@example.net")
    let isAboutOne = DelayedRejection.isAboutSender(exchange.reply, sender: one, recipient: other)
    let isAboutOther = DelayedRejection.isAboutSender(exchange.reply, sender: other, recipient: one)
    let code = exchange.reply.dropFirst(4).prefix(5)
    let isAboutSenders = ["5.1.7", "5.1.8"].contains(String(decoding: code, as: UTF8.self))
    return isAboutOne && isAboutOther && !isAboutSenders ? "a reply is about both addresses" : nil
  }
}
