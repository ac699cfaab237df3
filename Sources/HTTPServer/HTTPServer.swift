public import HTTP
import Synchronization

/// An HTTP/1.1 server on libmicrohttpd: bytes to values of `HTTP` and back.
///
/// A handler takes all its steps on the thread that read the request, after a suspension too;
/// while one is suspended, its thread serves other connections. A handler must not block: it would
/// hold up every connection of its thread. Long work belongs on other threads, and is awaited.
///
/// What is wrong with a request before a handler could see it is answered through `failure`, so
/// that each surface keeps its own shape of errors; so is what libmicrohttpd refuses by itself.
public final class HTTPServer: Sendable {
  private let engine: Engine
  private let daemon: Daemon
  /// The port that is listened on.
  public let port: Int

  /// Starts to listen and to serve.
  ///
  /// - Parameters:
  ///   - configuration: Where and how to listen.
  ///   - log: Takes a line for each request, if there is one.
  ///   - failure: Makes the answer to a request that no handler sees, whose name in the log it is
  ///     told; the target is nil when it could not be read.
  ///   - handler: Answers every other request.
  /// - Throws: `ServerError` when the address, the certificate or the key cannot be used.
  public init(
    _ configuration: ServerConfiguration = ServerConfiguration(), log: AccessLog? = nil,
    failure: @escaping @Sendable (Status, Target?, RequestID) -> Response,
    handler: @escaping @Sendable (Request) async -> Response
  ) throws(ServerError) {
    engine = try Engine(configuration, log: log, failure: failure, handler: handler)
    daemon = try Daemon(engine)
    port = daemon.port
  }

  /// The most connections at once: as many as were asked for, or fewer where the system doesn't
  /// allow that many open files.
  public var connectionLimit: Int { daemon.most }

  /// Reads certificate and key again, and serves new connections with them.
  ///
  /// Open connections end with their next answer. Without TLS nothing is done.
  ///
  /// - Throws: `ServerError` when the files can't be used; the former certificate stays in use then.
  public func reloadCertificate() async throws(ServerError) {
    let daemon = daemon
    try await blocking {
      Result<Void, ServerError> { () throws(ServerError) in try daemon.reload() }
    }.get()
  }

  /// The number of open connections.
  public var connectionCount: Int { engine.connections.count }

  /// Takes no more connections, lets requests under way finish, and ends.
  ///
  /// Connections that wait for a request are closed at once, the others after their answer. What
  /// is not answered when the grace is over gets 503, or is cut off.
  public func stop(grace: Duration) async {
    guard !engine.isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
    daemon.quiesce()
    let clock = ContinuousClock()
    let end = clock.now + grace
    while engine.connections.count > 0, clock.now < end {
      engine.connections.shutWaiting()
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

extension Engine {
  /// Answers for every handler that is suspended.
  func giveUpSuspended() {
    for exchange in connections.suspended() {
      exchange.finish(failure(.serviceUnavailable, exchange.target, exchange.id))
    }
  }
}
