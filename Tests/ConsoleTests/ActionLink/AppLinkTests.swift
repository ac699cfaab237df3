import HTTP
import Identity
import Testing

@testable import Console

/// Links that open an app on a phone, and lead a browser on.
@Suite struct AppLinkTests {
  private let page = "/__/auth/action"

  @Test func `a link for an app leads to its page or an authorized domain, and nowhere else`()
    async throws
  {
    try await World.withSampleData { world in
      let own = "https://mfa.example.com"
      world.identity.outOfBandCodes.leadLinks(to: own)
      var request = OutOfBandRequest(.verifyEmail, for: .email("chiara.bianchi@example.com"))
      request.continueURL = "http://localhost:3000/welcome?a=b"
      let browser = Browser(world)
      func follow(_ link: String) async throws -> String? {
        var query = Form()
        query.add("link", link)
        let answer = try await browser.get(query.query(of: "/__/auth/links"))
        return answer.location
      }
      for app in [AppLink.code, .continuation] {
        request.app = app
        let created = try await world.identity.outOfBandCodes.link(
          request, in: try await world.euPool, by: Author(actor: .commandLine))
        var address = created.link
        if app == .code {
          let inner = try #require(
            try await browser.get(String(address.dropFirst(own.count))).location)
          #expect(inner.hasPrefix(own + page + "?mode=verifyEmail"))
          address = inner
        }
        let page = String(address.dropFirst(own.count))
        let sent = try await browser.submit(page, ["code": created.code], to: page)
        let done = try await browser.get(try #require(sent.location))
        let next = try #require(done.values(of: "href").first { $0.contains("localhost") })
        if app == .continuation {
          let there = try await browser.get(String(next.dropFirst(own.count)))
          #expect(there.location == request.continueURL)
        } else {
          #expect(next == request.continueURL)
        }
      }
      #expect(try await follow("http://localhost/x") == "http://localhost/x")
      for link in [
        "https://evil.example/", "//evil.example/", "javascript:alert(1)", "", "/projects",
        own + "/projects", own + ".evil.example" + page + "?", own + "@evil.example/",
        "https://evil.example\\@localhost/",
      ] {
        #expect(try await follow(link) == nil, "\(link)")
      }
    }
  }
}
