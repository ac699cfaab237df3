import Foundation
import Synchronization

/// Sends HTTP requests to other servers, with libcurl.
///
/// Redirects aren't followed, no proxy and no stored credentials are used, and a name is resolved
/// once per request: each address is checked right before the connection to it is opened.
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
    let exchange = HTTPExchange(limits, addresses, isStatusEnough: request.isAnsweredByStatus)
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
