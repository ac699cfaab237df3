import HTTP
import Identity
import JSON
import Testing

/// Tests for the pages that the web SDK opens in popups and frames.
struct EmulatorWidgetTests {
  private static let handler = "/emulator/auth/handler"

  private func page(_ server: TestServer, _ query: String) async throws -> Response {
    try #require(try await server.send(.get, Self.handler + "?" + query))
  }

  private func text(_ response: Response) -> String {
    String(decoding: response.body.bytes, as: UTF8.self)
  }

  @Test(arguments: ["", "apiKey=k", "providerId=google.com", "apiKey=&providerId=google.com"])
  func `a request without an API key or provider is refused in JSON`(query: String) async throws {
    try await TestServer.with(.emulator) { server in
      let answer = try await server.get(Self.handler + "?" + query, .none)
      #expect(answer.status == 400)
      #expect(
        answer.json
          == ["authEmulator": ["error": "missing apiKey or providerId query parameters"]])
    }
  }

  @Test func `the page lists earlier users and escapes their names`() async throws {
    try await TestServer.with(.emulator) { server in
      let tenant = try await server.addTenant()
      for (id, provider, place) in [
        ("1", "google.com", ""), ("2", "google.com", "/tenants/\(tenant)"), ("3", "github.com", ""),
      ] {
        let user = try await server.post(
          "/v1/projects/acme-mfa\(place)/accounts", ["displayName": "x"], .owner)
        _ = try await server.post(
          "/v1/projects/acme-mfa\(place)/accounts:update",
          [
            "localId": user["localId"] ?? nil,
            "linkProviderUserInfo": [
              "providerId": .string(provider), "rawId": .string(id),
              "displayName": "</script><script>alert(1)</script>\u{202E}",
            ],
          ], .owner)
      }
      for (query, id) in [("", "1"), ("&tid=\(tenant)", "2"), ("&tenantId=\(tenant)", "2")] {
        let response = try await page(server, "apiKey=k&providerId=google.com\(query)")
        #expect(response.status == .ok)
        let text = text(response)
        #expect(!text.contains("<script>alert"))
        #expect(text.contains(#"[{"sub":"\#(id)","name":"\u003c/script>"#))
        #expect(text.ranges(of: #""sub":"#).count == 1)
      }
    }
  }

  @Test func `only the page's own script can run`() async throws {
    try await TestServer.with(.emulator) { server in
      let response = try await page(server, "apiKey=k&providerId=x%22%3E%3Cscript%3E")
      let policy = try #require(response.fields[.contentSecurityPolicy])
      #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-"))
      #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
      #expect(!text(response).contains("x\"><script>"))
    }
  }

  @Test func `applications can embed the frame, which loads Google's script`()
    async throws
  {
    try await TestServer.with(.emulator) { server in
      let path = "/emulator/auth/iframe?apiKey=k&appName=a"
      let response = try #require(try await server.send(.get, path))
      #expect(response.status == .ok)
      #expect(response.fields["X-Frame-Options"] == nil)
      for query in ["", "?apiKey=k", "?appName=a", "?apiKey=&appName=a"] {
        let refused = try await server.get("/emulator/auth/iframe" + query, .none)
        #expect(refused.status == 400 && refused["authEmulator"]?["error"] != nil, "\(query)")
      }
      #expect(response.fields[.contentSecurityPolicy] == nil)
      #expect(text(response).contains(#"<script src="https://apis.google.com/js/api.js">"#))
    }
  }

  @Test func `the standalone profile has neither page`() async throws {
    try await TestServer.with { server in
      for path in [Self.handler, "/emulator/auth/iframe"] {
        let response = try await server.send(.get, path + "?apiKey=k&providerId=google.com")
        #expect(response == nil)
      }
    }
  }
}
