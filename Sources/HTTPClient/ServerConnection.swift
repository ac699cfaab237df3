import CCurl
import Dispatch
import Glibc
import Synchronization

// `@unchecked Sendable`, because:
// 1. `handle` is used only by `open`, `send`, `state`, and `close`, which the owner calls on one
//    serial queue;
// 2. everything else is constant or atomic.
/// A TCP or TLS connection to a server, on which bytes are sent, with libcurl.
///
/// It's for protocols without answers, such as syslog. As with ``HTTPClient``, the name is resolved
/// once, and each address is checked right before the connection to it is opened.
@safe public final class ServerConnection: @unchecked Sendable {
  private let server: Server
  private let seconds: Int
  private let exchange: HTTPExchange
  private var handle: UnsafeMutableRawPointer?

  /// A server.
  public struct Server: Sendable {
    let address: String
    let isSecure: Bool
    let addresses: AddressPolicy
    let authority: String?

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - address: The host and port, such as `log.example.com:6514`.
    ///   - isSecure: Whether the connection is encrypted, with a trusted certificate.
    ///   - addresses: The addresses to connect to.
    ///   - authority: The path of a PEM file with CA certificates to trust instead of the system's.
    public init(
      _ address: String, isSecure: Bool, addresses: AddressPolicy, authority: String?
    ) {
      (self.address, self.isSecure) = (address, isSecure)
      (self.addresses, self.authority) = (addresses, authority)
    }
  }

  /// Creates a connection, which ``open()`` opens.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - seconds: The timeout for connecting, and for sending, in seconds.
  public init(_ server: Server, seconds: Int = 10) {
    (self.server, self.seconds) = (server, seconds)
    exchange = HTTPExchange(HTTPClient.Limits(), server.addresses)
  }

  deinit { close() }

  /// Closes the connection.
  public func close() {
    guard let handle = unsafe handle else { return }
    unsafe curl_easy_cleanup(handle)
    unsafe self.handle = nil
  }

  /// Ends an attempt to connect or to send; also those that follow.
  public func cancel() { exchange.isCanceled.store(true, ordering: .relaxed) }

  /// Connects.
  ///
  /// - Throws: ``HTTPClientError``.
  public func open() throws(HTTPClientError) {
    close()
    guard Curl.isPrepared, let handle = unsafe curl_easy_init() else {
      throw .unreachable("libcurl can't start.")
    }
    unsafe self.handle = handle
    var error = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    var settings = unsafe connection_settings()
    unsafe settings.connect_seconds = seconds
    unsafe settings.progress = httpProgress
    unsafe settings.open = httpOpenSocket
    let scheme = server.isSecure ? "https" : "http"
    let code = withExtendedLifetime(exchange) {
      unsafe settings.context = Unmanaged.passUnretained(exchange).toOpaque()
      return unsafe Curl.withTexts(["\(scheme)://\(server.address)/", server.authority]) { texts in
        unsafe settings.url = texts[0]
        unsafe settings.authority = texts[1]
        return unsafe error.withUnsafeMutableBufferPointer { buffer in
          unsafe settings.error = buffer.baseAddress
          return unsafe perform_prepared(handle, connection_prepare(handle, &settings))
        }
      }
    }
    guard code == CURLE_OK else {
      close()
      throw HTTPClientError(code, Curl.description(of: code, error), exchange)
    }
  }

  /// The state of a connection, as far as this machine knows.
  public enum State: Sendable {
    /// It's open.
    case open
    /// It was never opened, or the server has read everything and closed it.
    case closed
    /// It ended otherwise; the server may not have read everything.
    case broken
  }

  /// The state of the connection.
  public var state: State {
    guard let handle = unsafe handle else { return .closed }
    return switch unsafe state(of: handle) {
    case CURLE_AGAIN: .open
    case CURLE_OK: .closed
    default: .broken
    }
  }

  /// Sends bytes, and waits until the server's kernel has acknowledged all of them.
  ///
  /// After an error, the connection is closed.
  ///
  /// - Throws: ``HTTPClientError``.
  public func send(_ bytes: [UInt8]) throws(HTTPClientError) {
    guard let handle = unsafe handle else { throw .unreachable("The connection isn't open.") }
    let end = DispatchTime.now() + .seconds(seconds)
    let socket = unsafe connection_socket(handle)
    var code = unsafe write(bytes, to: handle, socket, until: end)
    while code == CURLE_OK, connection_unacknowledged(socket) > 0 {
      code = wait(for: 0, on: socket, milliseconds: 5, until: end)
    }
    // A connection that was reset has nothing left to acknowledge, either.
    if code == CURLE_OK {
      let state = unsafe state(of: handle)
      code = state == CURLE_AGAIN ? CURLE_OK : state == CURLE_OK ? CURLE_SEND_ERROR : state
    }
    guard code == CURLE_OK else {
      close()
      throw HTTPClientError(code, Curl.description(of: code, []), exchange)
    }
  }

  private func write(
    _ bytes: [UInt8], to handle: UnsafeMutableRawPointer, _ socket: curl_socket_t,
    until end: DispatchTime
  ) -> CURLcode {
    var sent = 0
    while sent < bytes.count {
      var count = 0
      let code = unsafe bytes[sent...].withUnsafeBytes { part in
        unsafe curl_easy_send(handle, part.baseAddress, part.count, &count)
      }
      sent += count
      switch code {
      case CURLE_OK: continue
      case CURLE_AGAIN:
        let code = wait(for: POLLOUT, on: socket, milliseconds: 250, until: end)
        guard code == CURLE_OK else { return code }
      default: return code
      }
    }
    return CURLE_OK
  }

  /// How much is read before the server counts as one that only talks, in KiB.
  private static let mostRead = 64

  /// Reads what the server sent, which is ignored; `CURLE_AGAIN` if the connection is open.
  private func state(of handle: UnsafeMutableRawPointer) -> CURLcode {
    var buffer = [UInt8](repeating: 0, count: 1_024)
    for _ in 0..<Self.mostRead {
      var count = 0
      let code = unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count)
      }
      guard code == CURLE_OK, count > 0 else { return code }
    }
    return CURLE_RECV_ERROR
  }

  private func wait(
    for events: Int32, on socket: curl_socket_t, milliseconds: Int32, until end: DispatchTime
  ) -> CURLcode {
    guard !exchange.isCanceled.load(ordering: .relaxed) else { return CURLE_ABORTED_BY_CALLBACK }
    guard DispatchTime.now() < end else { return CURLE_OPERATION_TIMEDOUT }
    var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
    _ = unsafe poll(&descriptor, 1, milliseconds)
    // `poll` reports a reset at once, and again at each call; what is unacknowledged stays so.
    let isReset = Int32(descriptor.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
    return isReset ? CURLE_SEND_ERROR : CURLE_OK
  }
}
