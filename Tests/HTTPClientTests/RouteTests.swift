import Foundation
import HTTP
import HTTPServer
import Synchronization
import Testing

@testable import HTTPClient

/// Tests of the ways to a server at 127.0.0.1, whose certificate is for api.example.com.
@Suite(.timeLimit(.minutes(1)))
struct RouteTests {
  /// Runs a server, and a client that may connect to no address of this machine.
  private func withServer(
    _ body: (_ port: Int, _ client: HTTPClient) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = ServerConfiguration.TLS(certificate: "\(folder)/c.pem", key: "\(folder)/k.pem")
    try Self.certificate.write(toFile: files.certificate, atomically: false, encoding: .utf8)
    try Self.key.write(toFile: files.key, atomically: false, encoding: .utf8)
    let server = try HTTPServer(
      ServerConfiguration(threads: 2, tls: files),
      failure: { status, _, _ in .text("", status: status) }, refusal: { _ in nil },
      handler: { request in
        .text("\(request.fields[.host] ?? "") \(request.fields["authorization"] ?? "")")
      })
    try await body(server.port, HTTPClient(authority: files.certificate))
  }

  private func request(
    _ route: HTTPClient.Route, to server: String = "api.example.com"
  ) throws -> ClientRequest {
    var request = ClientRequest(
      .get, try ClientURL("https://\(server)/"),
      fields: [try #require(.init("Authorization", "Bearer abc"))])
    request.route = route
    return request
  }

  private func endpoint(_ text: String) throws -> HTTPClient.Endpoint {
    try #require(HTTPClient.Endpoint(text))
  }

  /// Returns the error of a request, with libcurl's text; empty if there's none.
  private func failure(_ request: ClientRequest, _ client: HTTPClient) async -> String {
    do throws(HTTPClientError) {
      _ = try await client.send(request)
      return ""
    } catch { return "\(error)" }
  }

  @Test func `a proxy is asked for a tunnel, and sees nothing of the request`() async throws {
    try await withServer { port, client in
      let proxy = try LocalReceiver()
      let head = Mutex("")
      proxy.takeTunnel(to: port) { text in head.withLock { $0 = text } }
      let response = try await client.send(
        request(.proxy(endpoint("127.0.0.1:\(proxy.port)"))))
      #expect(String(decoding: response.body, as: UTF8.self) == "api.example.com Bearer abc")
      #expect(response.fields["date"] != nil)
      #expect(response.fields["x-proxy"] == nil)
      let lines = head.withLock { $0.lowercased() }.components(separatedBy: "\r\n")
      #expect(lines.first == "connect api.example.com:443 http/1.1")
      #expect(!lines.contains { $0.hasPrefix("authorization") })
    }
  }

  @Test func `a proxy that refuses the tunnel is no response`() async throws {
    try await withServer { port, client in
      let proxy = try LocalReceiver()
      proxy.takeTunnel(to: port, answer: "HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")
      var request = try request(.proxy(endpoint("127.0.0.1:\(proxy.port)")))
      request.isAnsweredByStatus = true
      let failure = await failure(request, client)
      #expect(failure.hasPrefix("interrupted") && failure.contains("407"), "\(failure)")
    }
  }

  @Test(arguments: ["127.0.0.1:1", "name.invalid:8080"])
  func `a proxy that isn't there is unreachable`(_ proxy: String) async throws {
    let failure = await failure(try request(.proxy(endpoint(proxy))), HTTPClient())
    #expect(failure.hasPrefix("unreachable"), "\(failure)")
  }

  @Test(arguments: ["127.0.0.1", "localhost"])
  func `a request to another endpoint has the URL's name`(_ host: String) async throws {
    try await withServer { port, client in
      let response = try await client.send(request(.endpoint(endpoint("\(host):\(port)"))))
      #expect(String(decoding: response.body, as: UTF8.self) == "api.example.com Bearer abc")
    }
  }

  @Test func `the certificate must have the URL's name on every way`() async throws {
    try await withServer { port, client in
      let server = "other.example.com"
      let direct = try request(.endpoint(endpoint("127.0.0.1:\(port)")), to: server)
      #expect(await failure(direct, client).hasPrefix("untrusted"))
      let proxy = try LocalReceiver()
      proxy.takeTunnel(to: port)
      let tunneled = try request(.proxy(endpoint("127.0.0.1:\(proxy.port)")), to: server)
      #expect(await failure(tunneled, client).hasPrefix("untrusted"))
    }
  }

  @Test func `only the address of a route may be any`() async throws {
    try await withServer { port, client in
      let named = try request(.endpoint(endpoint("127.0.0.1:\(port)")))
      #expect(try await client.send(named).status == 200)
      let direct = try request(.direct, to: "127.0.0.1:\(port)")
      #expect(await failure(direct, client) == "addressRefused")
    }
  }

  @Test(arguments: [
    ("proxy.example.com:3128", true), ("10.0.0.1:80", true), ("[2001:db8::1]:8443", true),
    ("localhost:65535", true), ("proxy.example.com", false), ("[2001:db8::1]", false),
    ("2001:db8::1:80", false), (":80", false), ("proxy:", false), ("proxy:0", false),
    ("proxy:65536", false), ("proxy:8x", false), ("proxy:80/", false), ("proxy/x:80", false),
    ("proxy?x:80", false), ("sam@proxy:80", false), ("proxy:80#x", false), ("pro xy:80", false),
    ("http://proxy:80", false), ("::proxy:80", false), ("proxy:80:other:90", false), ("", false),
  ])
  func `an endpoint is a host and a port`(_ text: String, _ isValid: Bool) {
    #expect(HTTPClient.Endpoint(text)?.text == (isValid ? text : nil))
  }

  // Valid until 2126.
  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBpzCCAU2gAwIBAgIUcvWsOYhp7LBmir5djrDsqRhaGfIwCgYIKoZIzj0EAwIw
    GjEYMBYGA1UEAwwPYXBpLmV4YW1wbGUuY29tMCAXDTI2MTEzMDE3MzYyNFoYDzIx
    MjYxMTA2MTczNjI0WjAaMRgwFgYDVQQDDA9hcGkuZXhhbXBsZS5jb20wWTATBgcq
    hkjOPQIBBggqhkjOPQMBBwNCAARmsHUO8a41FiL8Vv1AZzVhIxsI7YJHbSQhfo9A
    9vqYTMQuMVxRgVFmtEOaMzTEzjPagWzUrebdGT5eWWQ7c/hho28wbTAdBgNVHQ4E
    FgQUGo94hJq9IJp97yhuhyKrTKzePgQwHwYDVR0jBBgwFoAUGo94hJq9IJp97yhu
    hyKrTKzePgQwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgg9hcGkuZXhhbXBs
    ZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIhAOK5/gC8nYZSZCeAx3gc9er5MYolkerh
    bTwC9QiKxwZ1AiABpl5NExQ1b/DxlEDfH+CaT6ULbNcoo7r/D9Vixf3gjw==
    -----END CERTIFICATE-----
    """
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgc8kCuRDonsoACBDS
    lUPks5fMZJYeS+SU+ICF1SP7+d6hRANCAARmsHUO8a41FiL8Vv1AZzVhIxsI7YJH
    bSQhfo9A9vqYTMQuMVxRgVFmtEOaMzTEzjPagWzUrebdGT5eWWQ7c/hh
    -----END PRIVATE KEY-----
    """
}
