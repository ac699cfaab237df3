import HTTP
import HostileText
import Testing

@testable import Console

/// Combining marks in requests don't cost additional CPU time.
struct HostileTextTests {
  private func send(_ browser: Browser, _ address: String, _ body: String) async throws {
    let fields: Fields = [
      .contentType: "application/x-www-form-urlencoded", .origin: browser.world.origin,
      .secFetchSite: "same-origin",
    ]
    _ = try await browser.send(.post, address, fields: fields, body: Array(body.utf8))
  }

  @Test(arguments: ["email=#&password=x", "#=x&email=a", "email=a&password=#", "csrf=#&email=a"])
  func `combining marks don't make sign-in slower`(form: String) async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let csrf = try await browser.get("/sign-in").csrf
      let work = try await Work.of { text in
        let parts = form.split(separator: "#", omittingEmptySubsequences: false)
        let body = parts.joined(separator: HostileText.coded(text)) + "&csrf=\(csrf)"
        try await send(browser, "/sign-in", body)
      }
      #expect(work.isLinear, "\(work)")
    }
  }

  @Test(arguments: ["state=#&code=x", "state=x&code=#", "state=x&error=#"])
  func `combining marks don't make the provider's answer slower`(query: String) async throws {
    try await World.withSampleData { world in
      _ = try await SignInProviderPageTests.setUp(world)
      let browser = Browser(world)
      #expect(try await browser.get("/sign-in/provider").status == .found)
      // With more marks in a row, a target is rejected.
      let work = try await Work.of(2 << 10, HostileText.acceptedMarks) { text in
        let parts = query.split(separator: "#", omittingEmptySubsequences: false)
        _ = try await browser.get(
          "/sign-in/provider/callback?" + parts.joined(separator: HostileText.coded(text)))
      }
      #expect(work.isLinearInLength, "\(work)")
    }
  }

  @Test func `combining marks don't make a search slower`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let eu = try await world.eu
      // With more marks in a row, a target is rejected.
      let work = try await Work.of(2 << 10, HostileText.acceptedMarks) { text in
        for address in ["/users?q=", eu + "/users?q=", "/projects?q=", eu + "/audit?actor="] {
          let answer = try await browser.get(address + HostileText.coded(text))
          #expect(answer.status == .ok, "\(address)")
        }
      }
      #expect(work.isLinearInLength, "\(work)")
    }
  }

  @Test func `combining marks don't make a pasted list slower`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let eu = try await world.eu
      let csrf = try await browser.get(eu + "/bulk-removals").csrf
      let work = try await Work.of { text in
        let body = "list=\(HostileText.coded(text))&csrf=\(csrf)"
        try await send(browser, eu + "/bulk-removals", body)
      }
      #expect(work.isLinear, "\(work)")
    }
  }

  @Test func `combining marks in a list of domains don't make settings slower`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let eu = try await world.eu
      let csrf = try await browser.get(eu + "/settings").csrf
      let work = try await Work.of(16 << 10, HostileText.acceptedMarks) { text in
        let body = "name=x&domains=\(HostileText.coded(text))&was-domains=b&csrf=\(csrf)"
        try await send(browser, eu + "/settings", body)
      }
      #expect(work.isLinearInLength, "\(work)")
    }
  }

  @Test func `the most combining marks accepted don't make a search slower`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let eu = try await world.eu
      let work = try await Work.of(4 << 10, HostileText.acceptedMarks) { text in
        for address in ["/users?q=", eu + "/users?q=", "/projects?q=", eu + "/audit?actor="] {
          _ = try await browser.get(address + HostileText.coded(text))
        }
      }
      #expect(work.isLinearInLength, "\(work)")
    }
  }

  @Test func `the most combining marks accepted don't make a pasted list slower`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let eu = try await world.eu
      let csrf = try await browser.get(eu + "/bulk-removals").csrf
      let work = try await Work.of(64 << 10, HostileText.acceptedMarks) { text in
        let body = "list=\(HostileText.coded(text))&csrf=\(csrf)"
        try await send(browser, eu + "/bulk-removals", body)
      }
      #expect(work.isLinearInLength, "\(work)")
    }
  }
}
