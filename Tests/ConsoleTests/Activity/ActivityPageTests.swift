import HTTP
import Identity
import Testing

@testable import Console

/// The sign-in activity of a pool, and the charts of its overview.
@Suite struct ActivityPageTests {
  private func withAttempts(_ body: (World) async throws -> Void) async throws {
    try await World.withSampleData { world in
      try await world.write(
        [
          CodeFinding(.late, distance: -8, step: 100), CodeFinding(.wrong),
          CodeFinding(.accepted, distance: 0, step: 115),
        ], of: World.chiara)
      try await body(world)
    }
  }

  @Test func `attempts lead to their users and show their interval`() async throws {
    try await withAttempts { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/activity")
      #expect(page.status == .ok)
      Markup.check(page)
      #expect(page.text.ranges(of: "data-label=\"Time\"").count == 5)
      #expect(page.values(of: "href").contains(try await world.eu + "/users/\(World.chiara)"))
      #expect(page.says("Expired: 8 intervals late (limit 5)"))
      #expect(page.text.contains("class=\"miss\"") && page.text.contains("class=\"hit\""))
    }
  }

  @Test(arguments: [
    ("result=rejected", 2), ("result=accepted", 3), ("result=outside", 1), ("result=incorrect", 1),
    ("result=locked", 0), ("factor=totp", 5), ("factor=phone", 0), ("day=2020-01-01", 0),
    ("result=nonsense", 5),
  ])
  func `attempts are filtered by result, factor, and day`(query: String, count: Int) async throws {
    try await withAttempts { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/activity?" + query)
      #expect(page.status == .ok)
      #expect(page.text.ranges(of: "data-label=\"Time\"").count == count)
      #expect(page.says("No code attempts match") == (count == 0))
      #expect(page.says("Clear all filters") == !query.hasSuffix("nonsense"))
    }
  }

  @Test func `equal attempts in a row are one row, and those of one user can be listed`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.wrong), count: 9), of: World.chiara)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let activity = try await world.eu + "/activity"
      for user in [World.chiara, "chiara.bianchi@example.com"] {
        let page = try await nadia.get(activity + "?result=incorrect&user=\(user)")
        Markup.check(page)
        #expect(page.says("Incorrect code, 9 times"))
        #expect(page.text.ranges(of: "data-label=\"Time\"").count == 1)
      }
      let unknown = try await nadia.get(activity + "?user=nobody")
      #expect(unknown.status == .unprocessableContent)
      #expect(unknown.says("No user has this email address or UID."))
    }
  }

  @Test func `an invalid date is reported and kept`() async throws {
    try await withAttempts { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/activity?day=2026-02-30")
      #expect(page.status == .unprocessableContent)
      #expect(page.says("Enter a date such as 2026-12-01."))
      #expect(page.text.contains("value=\"2026-02-30\""))
    }
  }

  @Test func `the overview counts attempts at once, also as a file`() async throws {
    try await withAttempts { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(try await world.eu)
      Markup.check(page)
      #expect(page.says("1 in 3 codes was rejected"))
      #expect(page.says("3 of 5 attempts"))
      #expect(page.says("2 rejected codes: too few for a pattern."))
      let file = try await ada.get(try await world.eu + "/activity/attempts.csv")
      #expect(file.text.contains("\"2026-11-20\",\"1\",\"1\",\"1\",\"0\""))
    }
  }

  @Test func `administrators who can't see users don't see attempts`() async throws {
    try await withAttempts { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get(try await world.eu + "/activity").status == .forbidden)
      let page = try await tomas.get(try await world.eu)
      #expect(page.says("1 in 3 codes was rejected"))
      #expect(!page.values(of: "href").contains(try await world.eu + "/activity"))
    }
  }

  @Test func `a project without users starts with four steps`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/projects/globex")
      #expect(page.says("Get started") && page.says("Enroll the first user"))
      #expect(page.says("next step") && !page.text.contains("class=\"kpis\""))
      #expect(!(try await ada.get(try await world.eu).says("Get started")))
    }
  }

  @Test func `an application is connected once it called the API with a key`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let link = "href=\"#connect\""
      let before = try await ada.get("/projects/globex").text.contains(link)
      let keys = world.identity.apiKeys
      let key = try await keys.create(
        for: ID("globex"), by: .program(Author(actor: .commandLine))
      ).value
      let created = try await ada.get("/projects/globex").text.contains(link)
      _ = try await keys.project(for: key.text)
      let used = try await ada.get("/projects/globex").text.contains(link)
      #expect(before && created && !used)
    }
  }
}
