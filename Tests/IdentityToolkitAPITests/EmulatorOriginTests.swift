import HTTP
import Identity
import Testing

@testable import IdentityToolkitAPI

/// Tests for the web origins that the emulator accepts.
struct EmulatorOriginTests {
  private static let accounts = "/emulator/v1/projects/acme-mfa/accounts"

  @Test(arguments: [
    ("http://localhost:3000", true), ("http://localhost", true), ("https://localhost:8443", true),
    ("http://LOCALHOST:3000", true), ("http://app.localhost:5173", true),
    ("http://127.0.0.1:8080", true), ("http://[::1]:4200", true), ("capacitor://localhost", true),
    ("ionic://localhost", true), ("null", false), ("", false), ("https://evil.example", false),
    ("http://localhost.evil.example", false), ("http://evil.example:3000", false),
    ("http://127.0.0.1.evil.example", false), ("http://evil-localhost", false),
    ("http://192.168.0.7:3000", false), ("http://localhost@evil.example", false),
    ("file://", false), ("localhost", false), ("://localhost", false), ("h ttp://localhost", false),
    ("http://localhost/x", false), ("http://localhost, https://evil.example", false),
  ])
  func `local origins are accepted and others refused`(origin: String, may: Bool) async throws {
    try await TestServer.with(.emulator) { server in
      _ = try await server.addPerson()
      for (method, path) in [
        (Method.options, "/v1/accounts:signUp"), (.post, "/v1/accounts:signUp"),
        (.delete, Self.accounts), (.get, "/"),
      ] {
        let response = try #require(
          try await server.send(method, path, [], .key, fields: [.origin: origin]))
        #expect((response.status != .forbidden) == may)
        #expect(response.fields[.accessControlAllowOrigin] == (may ? origin : nil))
        #expect(response.fields.all(.vary).contains("Origin"))
      }
      let left = try await server.get("/v1/projects/acme-mfa/accounts:batchGet")
      #expect((left["users"] == nil) == may)
    }
  }

  @Test func `a request without an Origin header is accepted`() async throws {
    try await TestServer.with(.emulator) { server in
      let cleared = try await server.call(.delete, Self.accounts, text: "", .none)
      #expect(cleared.status == 200)
    }
  }

  @Test func `a request with two Origin headers is refused`() async throws {
    try await TestServer.with(.emulator) { server in
      var fields: Fields = [.origin: "http://localhost"]
      fields.add(.origin, "https://evil.example")
      let response = try #require(try await server.send(.delete, Self.accounts, fields: fields))
      #expect(response.status == .forbidden)
    }
  }

  @Test(arguments: ["null", "https://shop.example", "HTTP://192.168.0.7:3000"])
  func `a configured origin is accepted, ignoring case`(named: String) async throws {
    let origins = EmulatorOrigins([named])
    for origin in [named, named.lowercased()] {
      #expect(origins.allow(try request(origin), own: "http://127.0.0.1:8080"))
    }
    #expect(!origins.allow(try request(named + ".evil.example"), own: "http://127.0.0.1:8080"))
  }

  @Test func `the server's own origin is accepted`() throws {
    let own = "https://emulator.lan:9099"
    #expect(EmulatorOrigins().allow(try request(own), own: own))
    #expect(!EmulatorOrigins().allow(try request("http://emulator.lan:9099"), own: own))
  }

  @Test(arguments: [
    "*", "shop.example", "https://", "https://shop.example/", "https://shop.example/path",
    "https://a@b", "https://shop .example", "", "nul", "https://*.example",
  ])
  func `an invalid origin can't be configured`(text: String) {
    #expect(!EmulatorOrigins.isOrigin(text))
  }

  @Test func `the standalone profile accepts any origin`() async throws {
    try await TestServer.with { server in
      let response = try #require(
        try await server.send(
          .post, "/v1/accounts:signUp", [], .key, fields: [.origin: "https://shop.example"]))
      #expect(response.fields[.accessControlAllowOrigin] == "https://shop.example")
    }
  }

  private func request(_ origin: String) throws -> Request {
    Request(
      method: .post, target: try #require(Target("/v1/accounts:signUp")),
      fields: [.origin: origin], body: [], peer: "127.0.0.1", isSecure: false, id: RequestID(1))
  }
}
