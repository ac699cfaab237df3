import HTTP
import Testing

@testable import Console
@testable import Identity

/// The code attempts section of a user's page.
struct CodeAttemptsSectionTests {
  @Test func `a slow clock is shown, with advice for the caller`() async throws {
    try await World.withSampleData { world in
      try await world.write(
        [
          CodeFinding(.late, distance: -8, step: 100), CodeFinding(.wrong),
          CodeFinding(.late, distance: -8, step: 102),
        ], of: World.chiara,
        agent: "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(page.says("Expired: 8 intervals late (limit 5)"))
      #expect(page.says("Incorrect code"))
      #expect(page.says("clock about 4\u{A0}min slow"))
      #expect(page.says("The phone’s clock is about 4\u{A0}min slow</h2>"))
      #expect(page.says("Turn on automatic date and time"))
      #expect(page.says("Last 2 codes, intervals late: 8 (limit 5)"))
      #expect(page.says("203.0.113.9") && page.says("Firefox on Linux"))
      #expect(page.text.contains("class=\"miss\" width=\"9\" height=\"9\" y=\"3.5\" x=\"7.5\""))
    }
  }

  @Test func `the chart of codes has a table and a file of the same codes`() async throws {
    try await World.withSampleData { world in
      try await world.write(
        [
          CodeFinding(.accepted, distance: 0, step: 90),
          CodeFinding(.late, distance: -8, step: 100),
          CodeFinding(.wrong), CodeFinding(.blocked),
        ], of: World.chiara)
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await ada.get(user)
      #expect(page.values(of: "action").contains(user + "/code-attempts.csv"))
      #expect(page.says("TOTP codes by time, newest first") && page.says(">−8</td>"))
      let file = try await ada.download(user + "/code-attempts.csv").text
      let rows = file.split(separator: "\r\n").dropFirst()
      // With the code of the enrollment.
      #expect(rows.count == 4)
      #expect(rows.contains { $0.contains("\"None nearby\",\"Incorrect code\"") })
      #expect(rows.contains { $0.contains("\"-8\",\"Expired: 8 intervals late (limit 5)") })
      let unknown = try await ada.download(world.eu + "/users/nobody/code-attempts.csv")
      #expect(unknown.status == .notFound)
    }
  }

  @Test func `the chart of codes leaves out backup codes, accepted or mistyped`() async throws {
    try await World.withSampleData { world in
      try await world.write(
        [
          CodeFinding(.accepted, distance: 0, step: 90), CodeFinding(.wrong),
          CodeFinding(.accepted, distance: 0, step: 94),
        ], of: World.chiara)
      try await world.write(
        [CodeFinding(.wrong), CodeFinding(.wrong)]
          + [CodeFinding](repeating: CodeFinding(.recovery), count: 10), of: World.chiara,
        window: nil)
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await ada.get(user)
      // With the code of the enrollment.
      #expect(page.says("3 of 4 TOTP codes accepted"))
      #expect(page.says("10 accepted recovery codes<span"))
      let rows = try await ada.download(user + "/code-attempts.csv").text
        .split(separator: "\r\n").dropFirst()
      #expect(rows.count == 4 && !rows.contains { $0.contains("recovery") })
    }
  }

  @Test func `the timeline has the newest of each kind, and filters that are links`() async throws {
    try await World.withSampleData { world in
      try await world.write([CodeFinding(.wrong)], of: World.chiara)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await nadia.submit(user + "/sessions/end", ["reason": "left"])
      let marks = [
        "": ["miss", "f-lock", "ring"], "?show=codes": ["miss"], "?show=changes": ["f-lock"],
        "?show=emails": ["ring"], "?show=all": ["miss", "f-lock", "ring"],
      ]
      for (query, shown) in marks {
        let page = try await nadia.get(user + query)
        let timeline = try #require(page.text.split(separator: "id=\"timeline\"").last)
        let list = try #require(timeline.split(separator: "</ol>").first)
        for mark in ["miss", "f-lock", "ring"] {
          #expect(
            list.contains("class=\"\(mark)\"") == shown.contains(mark), "\(query) \(mark)")
        }
        #expect(page.values(of: "href").contains(user + "?show=changes#timeline"))
      }
    }
  }

  @Test func `a session that a backup code began says so instead of naming the factor`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.beginSessionWithBackupCode()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(page.says("Password, backup code"))
    }
  }

  @Test func `a temporary block is shown with its end, and a lock without one`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, users) = (
        try await world.eu + "/users/\(World.chiara)", try await world.eu + "/users"
      )
      #expect(try await nadia.get(users).says("Locked (0)"))
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.wrong), count: 6), of: World.chiara)
      let blocked = try await nadia.get(user)
      #expect(blocked.says("codes temporarily blocked"))
      #expect(
        blocked.says(
          "Codes are blocked until Nov 20, 2026, 08:01\u{00A0}UTC after 6 incorrect codes in a row"
        ))
      #expect(try await nadia.get(users + "?state=locked").says("codes temporarily blocked"))
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.wrong), count: 4), of: World.chiara)
      let locked = try await nadia.get(user)
      #expect(locked.says("Codes are locked after 10 incorrect codes in a row"))
      let list = try await nadia.get(users + "?state=locked")
      #expect(list.says("Locked (1)") && list.says("chiara") && !list.says("jo@example.com"))
      #expect(!list.says("9999") && !locked.says("9999"))
      let simulator = try await Browser.signedIn(world).get("/sign-in-simulator?q=\(World.chiara)")
      #expect(simulator.says("until the user is unlocked") && !simulator.says("9999"))
    }
  }

  @Test func `a user without a factor has no section, and runs of codes share a row`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let users = try await world.eu + "/users"
      // Without a factor, there is no section.
      #expect(!(try await nadia.get(users + "/u77TnC0aPzQ4hW1sGv9M").says("Code attempts")))
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.accepted, distance: 0, step: 1), count: 3_000),
        of: World.chiara)
      let page = try await nadia.get(users + "/\(World.chiara)")
      #expect(page.says("20 accepted codes<span"))
      #expect(page.text.ranges(of: "class=\"dot\"").count == 1)
    }
  }

  @Test(arguments: HostileTests.names.indices)
  func `a hostile user agent is escaped`(index: Int) async throws {
    let name = HostileTests.names[index]
    try await World.withSampleData { world in
      try await world.write(
        [CodeFinding(.wrong)], of: World.chiara, agent: name, address: name)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(page.status == .ok)
      for raw in ["<script>alert", "<img src=x", "' onfocus='"] {
        #expect(!page.text.contains(raw))
      }
      #expect(page.says("Incorrect code"))
    }
  }
}
