import CCurl
public import Crypto
import Dispatch
import Synchronization

// `@unchecked Sendable`, because:
// 1. `handle` and `offersUTF8` are used only by `send` and `close`, which the owner calls on one serial queue;
// 2. everything else is constant or atomic.
/// A connection to a mail server over which emails are sent with libcurl, one at a time.
///
/// It's used by one thread at a time, except ``hurry(seconds:)``.
@safe public final class MailTransport: @unchecked Sendable {
  private let server: Server
  private let connectSeconds: Int
  private let sendSeconds: Int
  private let replySeconds: Int
  private var handle: UnsafeMutableRawPointer?
  /// Whether the connection's server offered SMTPUTF8 in its greeting.
  private var offersUTF8 = false
  /// The deadline of a transfer, in seconds of a monotonic clock; 0 for none.
  private let deadline = Atomic<Int64>(0)
  /// When the email was sent whose reply is missing, in seconds of that clock; 0 for none.
  private let sentAt = Atomic<Int64>(0)

  /// A mail server.
  public struct Server: Sendable {
    let url: String
    let user: String?
    let password: Secret?
    let authority: String?
    let needsTLS: Bool

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - url: An `smtp` or `smtps` URL without a user.
    ///   - user: The user to authenticate as; nil for none.
    ///   - password: The user's password.
    ///   - authority: The path of a PEM file with CA certificates to trust instead of the system's.
    ///   - needsTLS: Whether the connection must be encrypted, with a trusted certificate.
    public init(
      url: String, user: String?, password: Secret?, authority: String?, needsTLS: Bool
    ) {
      (self.url, self.user, self.password) = (url, user, password)
      (self.authority, self.needsTLS) = (authority, needsTLS)
    }
  }

  /// How a transfer that failed ended.
  public struct Failure: Error, Sendable, Equatable {
    /// The server's last reply code (RFC 5321 section 4.2); 0 for none.
    public let reply: Int
    /// The server's last 4xx or 5xx reply.
    public let line: [UInt8]
    /// Whether the reply is about the email, rather than the connection.
    public let isAboutMail: Bool
    /// Whether the reply is about the sender's address.
    public let isAboutSender: Bool
    /// libcurl's description.
    public let description: String
    /// Whether the server has the whole email, and didn't reply to it in time.
    public private(set) var isUnanswered = false

    /// Returns the failure of an email that the server has, but didn't reply to.
    ///
    /// - Parameter seconds: The time that it had, in seconds.
    /// - Returns: The failure.
    public static func unanswered(within seconds: Int) -> Self {
      var failure = Self(
        reply: 0, line: [], isAboutMail: true,
        description: "no reply to the message within \(seconds) seconds")
      failure.isUnanswered = true
      return failure
    }

    /// The recipient's address needs SMTPUTF8 (RFC 6531), which the server doesn't offer.
    static let withoutUTF8 = Self(
      reply: 550, line: Array("550 5.6.7 The mail server doesn't offer SMTPUTF8".utf8),
      isAboutMail: true, description: "the mail server doesn't offer SMTPUTF8")

    /// Creates a failure.
    public init(
      reply: Int, line: [UInt8], isAboutMail: Bool, isAboutSender: Bool = false,
      description: String
    ) {
      (self.reply, self.line) = (reply, line)
      (self.isAboutMail, self.isAboutSender) = (isAboutMail, isAboutSender)
      self.description = description
    }
  }

  /// Creates a transport, which connects when the first email is sent.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - connectSeconds: The timeout for connecting, in seconds.
  ///   - sendSeconds: The timeout for sending an email, in seconds.
  ///   - replySeconds: The timeout for the reply to the whole email, in seconds. The server has the
  ///     email by then, and can deliver it although the reply is missing.
  public init(_ server: Server, connectSeconds: Int, sendSeconds: Int, replySeconds: Int) {
    self.server = server
    self.connectSeconds = connectSeconds
    self.sendSeconds = sendSeconds
    self.replySeconds = replySeconds
  }

  deinit { close() }

  /// Closes the connection, if there is one.
  public func close() {
    guard let handle = unsafe handle else { return }
    unsafe curl_easy_cleanup(handle)
    unsafe self.handle = nil
    offersUTF8 = false
  }

  /// Limits an email being sent to this many more seconds.
  public func hurry(seconds: Int) {
    deadline.store(Self.now() + Int64(seconds), ordering: .relaxed)
  }

  /// Returns whether the server has had an email for some time without replying to it.
  ///
  /// - Parameter seconds: The time, in seconds.
  /// - Returns: False, too, when no email is being sent.
  public func hasWaited(seconds: Int) -> Bool {
    let sentAt = sentAt.load(ordering: .relaxed)
    return sentAt != 0 && Self.now() - sentAt >= Int64(seconds)
  }

  /// The seconds of a monotonic clock.
  static func now() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000_000) }

  /// Sends an email and waits for the server's reply.
  ///
  /// - Parameters:
  ///   - message: The email in transfer format (RFC 5322).
  ///   - sender: The sender's address.
  ///   - recipient: The recipient's address.
  /// - Throws: ``Failure``, unless the server accepted the email.
  public func send(_ message: [UInt8], from sender: String, to recipient: String) throws(Failure) {
    if unsafe Curl.isPrepared && handle == nil { unsafe handle = curl_easy_init() }
    guard let handle = unsafe handle else {
      throw Failure(
        reply: 0, line: [], isAboutMail: false,
        description: Curl.description(of: CURLE_FAILED_INIT, []))
    }
    let exchange = MailExchange(message, deadline: { self.deadline.load(ordering: .relaxed) })
    exchange.sendBy = Self.now() + Int64(sendSeconds)
    exchange.replyBy = exchange.sendBy + Int64(replySeconds)
    exchange.whenWhole = { self.sentAt.store(Self.now(), ordering: .relaxed) }
    defer { sentAt.store(0, ordering: .relaxed) }
    exchange.needsUTF8 = !recipient.utf8.allSatisfy { $0 < 128 }
    exchange.offersUTF8 = offersUTF8
    let recipients = unsafe curl_slist_append(nil, "<\(recipient)>")
    defer { unsafe curl_slist_free_all(recipients) }
    var error = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    let code = unsafe perform(handle, sender, recipients, exchange, error: &error)
    let reply = Int(unsafe smtp_reply_code(handle))
    offersUTF8 = exchange.offersUTF8
    guard code != CURLE_OK else { return }
    // The connection is in an unknown state now.
    unsafe smtp_break(handle)
    close()
    if code == CURLE_WRITE_ERROR, exchange.lacksUTF8 { throw .withoutUTF8 }
    let isLate = code == CURLE_ABORTED_BY_CALLBACK && exchange.isLate(at: Self.now())
    if exchange.isWhole, isLate || code == CURLE_OPERATION_TIMEDOUT {
      throw .unanswered(within: replySeconds)
    }
    let description =
      isLate ? "no answer within \(sendSeconds) seconds" : Curl.description(of: code, error)
    throw Failure(
      reply: reply, line: exchange.line,
      isAboutMail: code == CURLE_SEND_ERROR || exchange.sent > 0,
      isAboutSender: code == CURLE_SEND_ERROR
        && isAboutSender(description, exchange.reply, sender, recipient),
      description: description)
  }

  private func isAboutSender(
    _ description: String, _ reply: [UInt8], _ sender: String, _ recipient: String
  ) -> Bool {
    // MAIL, RCPT, and DATA fail with the same code.
    description.hasPrefix("MAIL failed")
      || description.hasPrefix("RCPT failed")
        && DelayedRejection.isAboutSender(reply, sender: sender, recipient: recipient)
  }

  private func perform(
    _ handle: UnsafeMutableRawPointer, _ sender: String,
    _ recipients: UnsafeMutablePointer<curl_slist>?, _ exchange: MailExchange,
    error: inout [CChar]
  ) -> CURLcode {
    var settings = unsafe smtp_settings()
    unsafe settings.recipients = recipients
    unsafe settings.tls = server.needsTLS ? 1 : 0
    unsafe settings.verifies = server.needsTLS ? 1 : 0
    unsafe settings.connect_seconds = connectSeconds
    unsafe settings.reply_seconds = replySeconds
    unsafe settings.size = curl_off_t(exchange.count)
    unsafe settings.read = mailRead
    unsafe settings.reply = mailReply
    unsafe settings.progress = mailProgress
    return withExtendedLifetime(exchange) {
      unsafe settings.context = Unmanaged.passUnretained(exchange).toOpaque()
      return unsafe Curl.withTexts([
        server.url, "<\(sender)>", server.user, server.password?.revealedText, server.authority,
      ]) { texts in
        unsafe settings.url = texts[0]
        unsafe settings.sender = texts[1]
        unsafe settings.user = texts[2]
        unsafe settings.password = texts[3]
        unsafe settings.authority = texts[4]
        return unsafe error.withUnsafeMutableBufferPointer { buffer in
          unsafe settings.error = buffer.baseAddress
          return unsafe perform_prepared(handle, smtp_prepare(handle, &settings))
        }
      }
    }
  }
}
