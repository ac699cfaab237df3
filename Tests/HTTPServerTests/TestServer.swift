import HTTP
import HTTPServer
import Network

/// A server whose responses describe the request.
struct TestServer {
  let server: HTTPServer

  init(
    log: AccessLog? = nil, trustedProxies: [String] = [],
    limits adjust: (inout Limits) -> Void = { _ in },
    refusal: (@Sendable (Request) async -> Response?)? = { _ in nil },
    handler: @escaping @Sendable (Request) async -> Response = TestServer.echo
  ) throws {
    var limits = Limits()
    // While other tests occupy the pool, a client may wait between the parts of a request.
    (limits.headerDeadline, limits.bodyDeadline) = (.seconds(60), .seconds(60))
    adjust(&limits)
    server = try HTTPServer(
      ServerConfiguration(
        threads: 2, limits: limits, trustedProxies: trustedProxies.compactMap { AddressRange($0) }),
      log: log,
      failure: { status, target, _ in
        var answer = Response.text(
          "refused \(status.code) \(target?.rawPath ?? "?")", status: status)
        answer.fields[.xContentTypeOptions] = "nosniff"
        return answer
      }, refusal: refusal, handler: handler)
  }

  func client(patience: Int = 10, from source: UInt8 = 1) throws -> Client {
    try Client(port: server.port, patience: patience, source: source)
  }

  /// Responds with the method, the path, and the size of the body in bytes.
  static let echo: @Sendable (Request) async -> Response = { request in
    if request.target.rawPath.hasPrefix("/later") { await Task.yield() }
    return .text("\(request.method) \(request.target.rawPath) \(request.body.count)")
  }
}

/// Waits up to five seconds until a condition is true, since the engine has its own threads.
func eventually(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<500 {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return condition()
}
