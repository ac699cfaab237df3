import CCurl
import Crypto
import Dispatch
import Synchronization

/// The result of sending an email.
public enum SMTPOutcome: Sendable, Equatable {
  /// The server accepted the email and is responsible for it from now on.
  case accepted
  /// The server rejected the email permanently; the value is its reply.
  case refused(String)
  /// The server rejected the email temporarily.
  case postponed(String)
  /// The server couldn't be reached or rejected the connection, before it saw the email.
  case unreachable(String)
}

/// Sends emails to a server, one at a time, with libcurl.
///
/// The connection stays open between emails until ``rest()``.
public final class SMTPClient: Sendable {
  private let channel: Channel
  private let queue = DispatchQueue(label: "smtp")

  /// Creates a client, which connects when the first email is sent.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - connectWithin: The timeout for connecting, in seconds.
  ///   - sendWithin: The timeout for sending an email, in seconds.
  public init(_ server: SMTPServer, connectWithin: Int = 15, sendWithin: Int = 60) {
    channel = Channel(server, connectSeconds: connectWithin, wholeSeconds: sendWithin)
  }

  /// Sends an email and waits for the server's reply.
  public func send(_ mail: Mail) async -> SMTPOutcome {
    let channel = channel
    return await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: channel.send(mail)) }
    }
  }

  /// Closes the connection, if there is one.
  public func rest() async {
    let channel = channel
    await withCheckedContinuation { continuation in
      queue.async {
        channel.close()
        continuation.resume()
      }
    }
  }

  /// Limits an email being sent to this many more seconds.
  public func hurry(seconds: Int) {
    channel.deadline.store(Channel.now() + Int64(seconds), ordering: .relaxed)
  }
}

// `@unchecked Sendable`, because:
// 1. `handle` is used only on the client's serial queue;
// 2. everything else is constant or atomic.
@safe final class Channel: @unchecked Sendable {
  private let server: SMTPServer
  private let connectSeconds: Int
  private let wholeSeconds: Int
  private var handle: UnsafeMutableRawPointer?
  /// The deadline of a transfer, in seconds of a monotonic clock; 0 for none.
  let deadline = Atomic<Int64>(0)

  private static let prepared: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init(_ server: SMTPServer, connectSeconds: Int, wholeSeconds: Int) {
    self.server = server
    self.connectSeconds = connectSeconds
    self.wholeSeconds = wholeSeconds
  }

  deinit { close() }

  static func now() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000_000) }

  func close() {
    guard let handle = unsafe handle else { return }
    unsafe curl_easy_cleanup(handle)
    unsafe self.handle = nil
  }

  func send(_ mail: Mail) -> SMTPOutcome {
    guard Self.prepared else { return .unreachable("libcurl can't start.") }
    if unsafe handle == nil { unsafe handle = curl_easy_init() }
    guard let handle = unsafe handle else {
      return .unreachable(Self.description(of: CURLE_FAILED_INIT))
    }
    let exchange = Exchange(mail.message, deadline: { self.deadline.load(ordering: .relaxed) })
    let recipients = unsafe curl_slist_append(nil, "<\(mail.recipient.text)>")
    defer { unsafe curl_slist_free_all(recipients) }
    var error = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    let code = unsafe perform(handle, mail, recipients, exchange, error: &error)
    let reply = Int(unsafe smtp_reply_code(handle))
    guard code != CURLE_OK else { return .accepted }
    // The connection is in an unknown state now.
    close()
    let message = String(
      decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return exchange.outcome(
      code, reply: reply, error: message.isEmpty ? Self.description(of: code) : message)
  }

  /// Returns libcurl's text for a result without details.
  private static func description(of code: CURLcode) -> String {
    unsafe String(cString: curl_easy_strerror(code))
  }

  private func perform(
    _ handle: UnsafeMutableRawPointer, _ mail: Mail,
    _ recipients: UnsafeMutablePointer<curl_slist>?, _ exchange: Exchange, error: inout [CChar]
  ) -> CURLcode {
    var settings = unsafe smtp_settings()
    unsafe settings.recipients = recipients
    unsafe settings.tls = server.needsTLS ? 1 : 0
    unsafe settings.verifies = server.needsTLS ? 1 : 0
    unsafe settings.connect_seconds = connectSeconds
    unsafe settings.whole_seconds = wholeSeconds
    unsafe settings.size = curl_off_t(exchange.count)
    unsafe settings.read = smtpRead
    unsafe settings.reply = smtpReply
    unsafe settings.progress = smtpProgress
    return withExtendedLifetime(exchange) {
      unsafe settings.context = Unmanaged.passUnretained(exchange).toOpaque()
      return unsafe withTexts([
        server.url, "<\(mail.sender.text)>", server.user, server.password?.revealedText,
        server.authority,
      ]) { texts in
        unsafe settings.url = texts[0]
        unsafe settings.sender = texts[1]
        unsafe settings.user = texts[2]
        unsafe settings.password = texts[3]
        unsafe settings.authority = texts[4]
        return unsafe error.withUnsafeMutableBufferPointer { buffer in
          unsafe settings.error = buffer.baseAddress
          let code = unsafe smtp_prepare(handle, &settings)
          let result = code == CURLE_OK ? unsafe curl_easy_perform(handle) : code
          return result
        }
      }
    }
  }

  /// Passes texts as C strings to a closure; nil for missing ones.
  private func withTexts(
    _ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> CURLcode
  ) -> CURLcode {
    var pointers: [UnsafePointer<CChar>?] = unsafe []
    func append(_ rest: ArraySlice<String?>) -> CURLcode {
      guard let first = rest.first else { return unsafe body(pointers) }
      guard let text = first else {
        unsafe pointers.append(nil)
        return append(rest.dropFirst())
      }
      return unsafe text.withCString { pointer in
        unsafe pointers.append(pointer)
        return append(rest.dropFirst())
      }
    }
    return append(texts[...])
  }
}
