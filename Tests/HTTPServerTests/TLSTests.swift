import Foundation
import HTTP
import HTTPServer
import Testing

/// Tests for TLS, with tools available on every Debian system: openssl creates the certificate, and
/// curl is the client.
@Suite(
  .enabled(if: Tool.openssl.exists && Tool.curl.exists, "needs openssl and curl"),
  .timeLimit(.minutes(1)))
struct TLSTests {
  private let folder: TemporaryFolder
  private let tls: ServerConfiguration.TLS

  init() async throws {
    folder = try TemporaryFolder()
    tls = .init(certificate: folder.path + "/cert.pem", key: folder.path + "/key.pem")
    try await make(tls)
  }

  private func make(
    _ tls: ServerConfiguration.TLS, algorithm: String = "ec",
    option: String = "ec_paramgen_curve:prime256v1"
  ) async throws {
    let result = try await Tool.openssl.run(
      "req", "-x509", "-newkey", algorithm, "-pkeyopt", option, "-nodes",
      "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
      "-keyout", tls.key, "-out", tls.certificate)
    #expect(result.status == 0)
  }

  private func server(_ tls: ServerConfiguration.TLS) throws(ServerError) -> HTTPServer {
    try HTTPServer(
      ServerConfiguration(tls: tls), failure: { status, _, _ in .text("", status: status) },
      handler: { request in
        await Task.yield()
        return .text("\(request.isSecure) \(request.body.count)")
      })
  }

  @Test(arguments: ["--tlsv1.2", "--tlsv1.3"])
  func `a request gets a response over TLS`(_ version: String) async throws {
    let server = try server(tls)
    let answer = try await Tool.curl.run(
      "--silent", "--cacert", tls.certificate, version, "--tls-max", String(version.suffix(3)),
      "--data", "abc", "https://127.0.0.1:\(server.port)/", "https://127.0.0.1:\(server.port)/")
    #expect(answer.status == 0)
    #expect(answer.text == "true 3true 3")
  }

  @Test func `old TLS versions are refused`() async throws {
    let server = try server(tls)
    let answer = try await Tool.curl.run(
      "--silent", "--insecure", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0",
      "https://127.0.0.1:\(server.port)/")
    #expect(answer.status == 35)
  }

  @Test(arguments: [
    ("ALL:!ECDHE:!DHE", false), ("AES128-SHA", false), ("AES256-GCM-SHA384", false),
    ("ECDHE", true), ("ECDHE-RSA-AES128-GCM-SHA256", true),
  ])
  func `TLS 1.2 requires forward secrecy`(_ suites: String, _ isAccepted: Bool) async throws {
    // With an elliptic curve's certificate, no other suite is possible.
    try await make(tls, algorithm: "rsa", option: "rsa_keygen_bits:2048")
    let server = try server(tls)
    let answer = try await Tool.openssl.run(
      "s_client", "-tls1_2", "-cipher", "\(suites):@SECLEVEL=0", "-connect",
      "127.0.0.1:\(server.port)")
    #expect((answer.status == 0) == isAccepted)
  }

  @Test func `a plain HTTP client is disconnected`() async throws {
    let server = try server(tls)
    let client = try Client(port: server.port)
    await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    let text = String(decoding: try await client.rest(), as: UTF8.self)
    // In plain HTTP, the handler's text is "false 0".
    #expect(!text.contains("HTTP/1.1 200") && !text.contains("false"))
  }

  @Test func `a reloaded certificate applies to new connections`() async throws {
    let server = try server(tls)
    let former = folder.path + "/former.pem"
    try FileManager.default.copyItem(atPath: tls.certificate, toPath: former)
    func isTrusted(_ certificate: String) async throws -> Bool {
      let answer = try await Tool.curl.run(
        "--silent", "--cacert", certificate, "https://127.0.0.1:\(server.port)/")
      return answer.status == 0 && answer.text == "true 0"
    }
    #expect(try await isTrusted(former))
    try await make(tls)
    #expect(try await isTrusted(former))
    try await server.reloadCertificate()
    #expect(try await isTrusted(tls.certificate))
    #expect(try await !isTrusted(former))

    try Data("nonsense".utf8).write(to: URL(filePath: tls.key))
    await #expect(throws: ServerError.self) { try await server.reloadCertificate() }
    #expect(try await isTrusted(tls.certificate))
    await server.stop(grace: .seconds(5))
  }

  @Test func `a connection from before a reload closes after its next response`() async throws {
    let latch = Latch()
    let server = try HTTPServer(
      ServerConfiguration(tls: tls), failure: { status, _, _ in .text("", status: status) },
      handler: { _ in
        await latch.pass()
        return .text("done")
      })
    let (authority, port) = (tls.certificate, server.port)
    async let answer = Tool.curl.run(
      "--silent", "--include", "--http1.1", "--cacert", authority, "https://127.0.0.1:\(port)/")
    let isUnderWay = await eventually { latch.count == 1 }
    #expect(isUnderWay)
    try await server.reloadCertificate()
    latch.open()
    #expect(try await answer.text.contains("Connection: close"))
  }

  @Test func `invalid certificate and key files are reported`() throws {
    #expect(throws: ServerError.self) {
      _ = try server(.init(certificate: tls.key, key: tls.certificate))
    }
    #expect {
      _ = try server(.init(certificate: "/nowhere.pem", key: tls.key))
    } throws: { error in
      guard case .unreadableFile("/nowhere.pem", _, _)? = error as? ServerError else {
        return false
      }
      return true
    }
  }
}

/// A system tool.
enum Tool: String {
  case openssl = "/usr/bin/openssl"
  case curl = "/usr/bin/curl"

  var exists: Bool { FileManager.default.isExecutableFile(atPath: rawValue) }

  /// Runs the tool without blocking a thread of the cooperative pool.
  func run(_ arguments: String...) async throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(filePath: rawValue)
    process.arguments = arguments
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do {
        try process.run()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }
}
