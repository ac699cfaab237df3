import Foundation
import Synchronization

/// Sends HTTP requests to other servers, with libcurl.
///
/// Redirects aren't followed, no proxy of the environment and no stored credentials are used, and a
/// name is resolved once per request: each address is checked right before the connection to it is
/// opened, unless the request's ``Route`` has it.
public struct HTTPClient: Sendable {
  private let limits: Limits
  private let addresses: AddressPolicy
  private let authority: String?
  private let queue: OperationQueue

  /// The limits of a request.
  public struct Limits: Sendable {
    /// The timeout for connecting, in seconds.
    public var connectSeconds = 10
    /// The timeout for the request and its response, in seconds.
    public var wholeSeconds = 30
    /// The maximum size of a response's header in bytes.
    public var longestHeader = 65_536
    /// The maximum size of a response's body in bytes.
    public var longestBody = 1_048_576
    /// The maximum number of requests at the same time; others wait.
    public var mostRequests = 4

    /// Creates the usual limits.
    public init() {}
  }

  /// The way to the server of a request.
  ///
  /// Its name, and the one that the certificate must have, are always those of the URL.
  public enum Route: Sendable, Equatable {
    /// To an address of the server that the policy allows.
    case direct
    /// Through a tunnel of an HTTP proxy (RFC 9110 section 9.3.6), which may have any address.
    case proxy(Endpoint)
    /// To another endpoint than the URL's, which may have any address.
    case endpoint(Endpoint)
  }

  /// A host and port that the operator names.
  public struct Endpoint: Sendable, Equatable {
    /// `HOST:PORT`, with brackets around an IPv6 address.
    public let text: String

    /// Parses an endpoint; nil if the text has no valid host, no port, or anything else.
    public init?(_ text: String) {
      guard (try? ClientURL("https://\(text)")) != nil,
        text.wholeMatch(of: /[^\/?]+:[0-9]+/) != nil
      else { return nil }
      self.text = text
    }
  }

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - limits: The limits of a request.
  ///   - addresses: The addresses to connect to.
  ///   - authority: The path of a PEM file with CA certificates to trust instead of the system's.
  public init(
    limits: Limits = Limits(), addresses: AddressPolicy = AddressPolicy(), authority: String? = nil
  ) {
    (self.limits, self.addresses, self.authority) = (limits, addresses, authority)
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = limits.mostRequests
  }

  /// Sends a request and returns the response, whatever its status.
  ///
  /// - Throws: ``HTTPClientError``.
  public func send(_ request: ClientRequest) async throws(HTTPClientError) -> ClientResponse {
    let exchange = HTTPExchange(
      limits, request.route == .direct ? addresses : nil,
      isStatusEnough: request.isAnsweredByStatus)
    let transfer = HTTPTransfer(
      request: request, exchange: exchange, limits: limits, authority: authority)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.addOperation { continuation.resume(returning: transfer.run()) }
      }
    } onCancel: {
      exchange.isCanceled.store(true, ordering: .relaxed)
    }
    return try result.get()
  }
}

/// The reason that a request has no response.
public enum HTTPClientError: Error, Sendable, Equatable {
  /// The server's name couldn't be resolved.
  case unresolved
  /// Every address of the server is private or special, and not allowed.
  case addressRefused
  /// The connection couldn't be opened; libcurl's description.
  case unreachable(String)
  /// The connection ended early, or what was sent isn't a response; libcurl's description.
  case interrupted(String)
  /// The TLS handshake failed, or the certificate isn't trusted; libcurl's description.
  case untrusted(String)
  /// The time limit was exceeded.
  case timedOut
  /// The response is larger than the limit.
  case tooLarge
  /// The task was canceled.
  case canceled
}
