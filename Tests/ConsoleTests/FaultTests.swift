import HTTP
import Identity
import TestDatabases
import Testing

@testable import Console

/// Error pages for a full disk and missing pages.
@Suite struct FaultTests {
  // PostgreSQL has no limit for the size of a database.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `C13: a full disk is reported and logged, and other pages keep working`() async throws {
    try await World.withSampleData(sparePages: 4) { world in
      let browser = try await Browser.signedIn(world)
      var last = try await browser.get("/projects/new")
      for number in 0..<400 where last.status != .serviceUnavailable {
        last = try await browser.submit(
          "/projects/new", ["name": "Project \(number)", "id": "project-\(number)"])
        #expect(last.status == .seeOther || last.status == .serviceUnavailable)
      }
      #expect(last.status == .serviceUnavailable)
      #expect(last.says("This request made no changes."))
      Markup.check(last)
      let line = try #require(world.log.lines.first)
      #expect(line.hasPrefix("request 0000000004K7: "))
      #expect(!last.says("full"), "the cause is only logged")
      for address in ["/projects", "/projects/acme-retail/tenants", try await world.eu + "/users"] {
        #expect(try await browser.get(address).status == .ok)
      }
      world.clock.advance(seconds: 120)
      #expect(try await browser.get("/projects").status == .ok, "a session needs no write")
    }
  }

  @Test func `an error page keeps the theme and the navigation of a signed-in administrator`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let form: Form = ["zone": "UTC", "theme": "dark"]
      #expect(try await browser.submit("/account/preferences", form).status == .seeOther)
      // The flash message is shown on the next existing page.
      let gone = try await browser.get("/nowhere")
      #expect(gone.status == .notFound && !gone.says("role=\"status\""))
      #expect(gone.says("data-theme=\"dark\"") && gone.says("action=\"/users\""))
      Markup.check(gone)
      #expect(try await browser.get("/account").says("role=\"status\""))

      let damaged = try await browser.post(
        "/account/preferences", ["csrf": "no", "theme": "light"])
      #expect(damaged.status == .forbidden && damaged.says("data-theme=\"dark\""))
      _ = try await browser.submit("/sign-out", [:])
      #expect(try await browser.get("/nowhere").says("data-theme=\"dark\""))
      let stranger = try await Browser(world).get("/nowhere")
      #expect(stranger.status == .notFound && !stranger.says("action=\"/users\""))
    }
  }
}
