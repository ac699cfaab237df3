public import HTTP
import Synchronization

/// Receives the route, the status, and the duration in nanoseconds of each completed request, on
/// the thread that served it.
///
/// The route is nil for requests without one. The status is 0 when there was no response.
public typealias RequestObserver =
  @Sendable (_ route: Route.Label?, _ status: Int, _ nanoseconds: UInt64) -> Void

/// An HTTP/1.1 server on libmicrohttpd that uses the types of the `HTTP` module.
///
/// A handler runs entirely on the thread that read the request, even after a suspension; while one
/// is suspended, its thread serves other connections. A handler must not block, because it would
/// delay every connection of its thread. Long work belongs on other threads and is awaited.
///
/// `failure` creates the responses to requests that don't reach the handler, so that the console
/// and the API each keep their error format. Those that libmicrohttpd itself refuses get its own.
public final class HTTPServer: Sendable {
  private let engine: Engine
  private let daemon: Daemon
  /// The listening port.
  public let port: Int

  /// Starts listening and serving.
  ///
  /// - Parameters:
  ///   - configuration: Where and how to listen.
  ///   - log: The access log; nil for none.
  ///   - observe: Receives every completed request; nil for none.
  ///   - failure: Creates the response to a request that doesn't reach the handler, with the
  ///     request's ID in the log; the target is nil when it couldn't be parsed.
  ///   - refusal: Returns the response to a request with a body above ``Limits/unverifiedBody``, by
  ///     its header, before the body is read; nil if the header has a valid credential. Without it,
  ///     every such request gets 413.
  ///   - handler: Responds to all other requests.
  /// - Throws: `ServerError` when the address, the certificate, or the key can't be used.
  public init(
    _ configuration: ServerConfiguration = ServerConfiguration(), log: AccessLog? = nil,
    observe: RequestObserver? = nil,
    failure: @escaping @Sendable (Status, Target?, RequestID) -> Response,
    refusal: (@Sendable (Request) async -> Response?)? = nil,
    handler: @escaping @Sendable (Request) async -> Response
  ) throws(ServerError) {
    engine = try Engine(
      configuration, log: log, observe: observe, failure: failure, refusal: refusal,
      handler: handler)
    daemon = try Daemon(engine)
    port = daemon.port
  }

  /// The maximum number of connections: as configured, or fewer when the system's open file limit
  /// is lower.
  public var connectionLimit: Int { daemon.most }

  /// Reloads the certificate and key for new connections.
  ///
  /// Existing connections close after their next response. Without TLS, this has no effect.
  ///
  /// - Throws: `ServerError` when the files can't be used; the previous certificate then stays in
  ///   use.
  public func reloadCertificate() async throws(ServerError) {
    let daemon = daemon
    try await blocking {
      Result<Void, ServerError> { () throws(ServerError) in try daemon.reload() }
    }.get()
  }

  /// The number of open connections.
  public var connectionCount: Int { engine.connections.count }

  /// Stops accepting connections, lets requests in progress finish, and stops the server.
  ///
  /// Idle connections are closed immediately, new ones (also those that clients have established
  /// and the server hasn't accepted yet) when no request has arrived for ``Limits/firstRequest``,
  /// and others after their response. Requests still in progress after the grace period get 503 or
  /// are cut off.
  public func stop(grace: Duration) async {
    guard !engine.isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
    daemon.quiesce()
    let clock = ContinuousClock()
    let end = clock.now + grace
    while engine.connections.count > 0, clock.now < end {
      let now = SystemClock.coarseMilliseconds()
      let patience = min(engine.limits.firstRequest.milliseconds, now)
      engine.connections.shutWaiting(sparingNewSince: now - patience)
      try? await Task.sleep(for: .milliseconds(5))
    }
    engine.giveUpSuspended()
    let last = clock.now + .milliseconds(200)
    while engine.connections.count > 0, clock.now < last {
      engine.connections.shutWaiting()
      try? await Task.sleep(for: .milliseconds(5))
    }
    let daemon = daemon
    await blocking { daemon.stop() }
  }
}
