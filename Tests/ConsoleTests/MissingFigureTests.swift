import Database
import HTTP
import Identity
import Testing

@testable import Console

/// Pages of which the database can't read the figures.
@Suite struct MissingFigureTests {
  private static let note = "These figures are unavailable right now."

  /// Renames a table, so that reading it fails.
  private func rename(_ table: SQL, to name: SQL, _ world: World) async throws {
    try await world.database.write { connection in
      _ = try connection.run("ALTER TABLE /* test */ \(table) RENAME TO \(name)")
    }
  }

  @Test func `the overview without its figures has a note, and everything else`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu
      let whole = try await browser.get(address)
      #expect(whole.says("<dl class=\"kpis\">") && !whole.says(Self.note))
      try await rename("offset_day", to: "hidden", world)
      let page = try await browser.get(address)
      #expect(page.status == .ok && page.says(Self.note) && !page.says("<dl class=\"kpis\">"))
      Markup.check(page)
      func alerts(_ page: Answer) -> Substring? {
        page.text.split(separator: "<ul class=\"alerts\"").dropFirst().first
          .map { $0.prefix(upTo: $0.firstRange(of: "</ul>")?.lowerBound ?? $0.endIndex) }
      }
      #expect(alerts(page) == alerts(whole))
      #expect(page.says("id=\"connect\"") && page.says("Recent changes"))
      #expect(world.log.lines.count == 1 && world.log.lines[0].contains("offset_day"))
      try await rename("hidden", to: "offset_day", world)
      #expect(try await browser.get(address).says("<dl class=\"kpis\">"))
    }
  }

  @Test func `a policy is changed without the codes of a period, which a note replaces`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      try await rename("offset_day", to: "hidden", world)
      let page = try await browser.get(address)
      #expect(page.status == .ok && page.says(Self.note))
      #expect(page.says("id=\"intervals-5\" value=\"5\" checked"))
      #expect(!page.says("0 correct codes") && !page.says("id=\"recommendation\""))
      Markup.check(page)
      #expect(world.log.lines.count == 1)
      // A file is nothing but these figures.
      #expect(try await browser.get(address + "/evidence.csv").status == .serviceUnavailable)
      let review = try await browser.submit(address, .policy(intervals: "1"))
      #expect(review.status == .ok && review.says("<h1>Review changes</h1>"))
      #expect(review.says("effect on recent codes is unavailable right now"))
      Markup.check(review)
      #expect(try await browser.save(address, .policy(intervals: "1")).status == .seeOther)
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 1)
    }
  }

  @Test func `a review says that affected users can't be counted, and never that there are none`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let form = Form.policy(
        pattern: "mandatory", more: ["csrf": try await browser.get(address).csrf])
      let whole = try await browser.post(address, form)
      #expect(whole.says("must enroll"))
      try await rename("exemption", to: "hidden", world)
      let review = try await browser.post(address, form)
      #expect(review.status == .ok && !review.says("must enroll"))
      #expect(review.says("The number of users without a second factor is unavailable right now."))
      #expect(try await browser.post(address + "/changes", form).status == .seeOther)
      #expect(try await world.policy.edit.pattern == .mandatory)
    }
  }

  @Test func `the policy page fails if the policy's own numbers can't be read`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      try await rename("exemption", to: "hidden", world)
      #expect(try await browser.get(address).status == .serviceUnavailable)
    }
  }
}
