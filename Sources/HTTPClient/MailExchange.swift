import CCurl

/// The transfer of one email: the remaining bytes, and the server's last reply.
///
/// libcurl speaks SMTP, too, and has one importer.
final class MailExchange {
  private let message: [UInt8]
  private let deadline: () -> Int64
  /// The times by which the server must have the email, and must have replied to it, in seconds of
  /// a monotonic clock.
  var (sendBy, replyBy) = (Int64.max, Int64.max)
  /// Called when libcurl has all of the email.
  var whenWhole: () -> Void = {}
  private(set) var sent = 0
  /// The server's last 4xx or 5xx reply, truncated if it's long.
  private(set) var line: [UInt8] = []
  /// All lines of that reply.
  private(set) var reply: [UInt8] = []

  /// Whether the recipient's address needs SMTPUTF8 (RFC 6531), and whether the server of this
  /// connection offers it.
  var (needsUTF8, offersUTF8) = (false, false)
  /// Whether the next reply with 250 is to the client's greeting, rather than to MAIL.
  private var isGreeting = false
  private var isSenderAccepted = false

  private static let longestLine = 300
  private static let longestReply = 3_000

  init(_ message: [UInt8], deadline: @escaping () -> Int64) {
    self.message = message
    self.deadline = deadline
  }

  var count: Int { message.count }

  /// Whether the recipient's address must not be sent, which is next: libcurl sends it to any server.
  var lacksUTF8: Bool { isSenderAccepted && needsUTF8 && !offersUTF8 }

  /// Whether libcurl has all of the email, so that only the server's reply to it is missing.
  var isWhole: Bool { sent == count }

  /// Returns whether the server has had its time.
  func isLate(at now: Int64) -> Bool { now >= (isWhole ? replyBy : sendBy) }

  func isOver(at now: Int64) -> Bool {
    let deadline = deadline()
    return deadline != 0 && now >= deadline || isLate(at: now)
  }

  func take(_ most: Int, _ give: (ArraySlice<UInt8>) -> Void) -> Int {
    let part = message[sent...].prefix(most)
    give(part)
    sent += part.count
    if isWhole, !part.isEmpty { whenWhole() }
    return part.count
  }

  /// Reads a line of a reply, and stores a 4xx or 5xx one; the reply to QUIT that follows doesn't
  /// replace it.
  func receive(_ bytes: [UInt8]) {
    let (code, isLast) = (Array(bytes.prefix(3)), bytes.dropFirst(3).first != UInt8(ascii: "-"))
    if code == Array("250".utf8) {
      let word = String(decoding: bytes.dropFirst(4), as: UTF8.self).uppercased()
      if word.hasPrefix("SMTPUTF8") { offersUTF8 = true }
      if isLast {
        if !isGreeting { isSenderAccepted = true }
        isGreeting = false
      }
    } else if isLast, code == Array("220".utf8) {
      // The client greets after the server's greeting, and again after STARTTLS.
      isGreeting = true
    }
    guard let first = bytes.first, first == UInt8(ascii: "4") || first == UInt8(ascii: "5") else {
      return
    }
    // A hyphen after the code announces another line (RFC 5321 section 4.2.1).
    let isContinued = line.dropFirst(3).first == UInt8(ascii: "-")
    line = Array(bytes.prefix(Self.longestLine))
    reply = isContinued ? Array((reply + line).prefix(Self.longestReply)) : line
  }
}

// Global functions without actor isolation, since libcurl calls them on the sending thread.

func mailRead(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return 0 }
  let exchange = unsafe Unmanaged<MailExchange>.fromOpaque(context).takeUnretainedValue()
  return exchange.take(size * count) { part in
    unsafe part.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: buffer, count: bytes.count).copyMemory(
        from: bytes)
    }
  }
}

func mailReply(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return 0 }
  let exchange = unsafe Unmanaged<MailExchange>.fromOpaque(context).takeUnretainedValue()
  let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
  exchange.receive(unsafe Array(bytes))
  // Any other number ends the transfer.
  return exchange.lacksUTF8 ? 0 : size * count
}

/// Aborts a transfer after its deadline by returning a nonzero value.
func mailProgress(
  _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let exchange = unsafe Unmanaged<MailExchange>.fromOpaque(context).takeUnretainedValue()
  return exchange.isOver(at: MailTransport.now()) ? 1 : 0
}
