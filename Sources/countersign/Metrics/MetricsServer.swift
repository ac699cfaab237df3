import HTTP
import HTTPServer
import Metrics

struct MetricsServer: Sendable {
  private let server: HTTPServer
  private let host: String

  /// Starts listening.
  init(host: String, port: Int, _ metrics: ServerMetrics) throws(ServerError) {
    var limits = Limits()
    limits.connections = 64
    limits.connectionsPerNetwork = 64
    self.host = host
    server = try HTTPServer(
      ServerConfiguration(host: host, port: port, threads: 1, limits: limits),
      failure: { status, _, _ in .text("\(status)\n", status: status) },
      handler: { request in
        guard request.target.rawPath == "/metrics" else {
          return .text("/metrics\n", status: .notFound)
        }
        guard request.method == .get || request.method == .head else {
          var response = Response.text("GET only\n", status: .methodNotAllowed)
          response.fields[.allow] = "GET, HEAD"
          return response
        }
        var response = Response.text(await metrics.text())
        response.fields[.contentType] = Exposition.mediaType
        return response
      })
  }

  var url: String {
    "http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)/metrics"
  }

  func stop() async { await server.stop(grace: .seconds(1)) }
}
