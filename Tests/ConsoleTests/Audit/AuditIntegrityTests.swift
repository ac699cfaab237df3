import HTTP
import Identity
import Testing

@testable import Console

/// What the audit log page says of its verification, and the page that changes the retention.
@Suite struct AuditIntegrityTests {
  private func seal(_ world: World) async throws {
    while try await world.identity.auditChain.seal() {}
    var position: Int64 = 0
    while let step = try await world.identity.auditChain.check(after: position) {
      position = step.through
    }
  }

  @Test func `the page says through which entry the log is verified`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let before = try await ada.get("/audit")
      #expect(before.says("Not verified yet."))
      try await seal(world)
      let through = try #require(try await world.identity.auditChain.status().verified)
      let eu = try await world.eu
      for address in ["/audit", eu + "/audit"] {
        let page = try await ada.get(address)
        #expect(page.says("(entry \(through)), last checked"), "\(address)")
        #expect(page.says("Entries are kept forever."), "\(address)")
        Markup.check(page)
      }
    }
  }

  @Test func `only those who may change the retention get a link to it`() async throws {
    try await World.withSampleData { world in
      let eu = try await world.eu
      let ada = try await Browser.signedIn(world)
      let instance = try await ada.get("/audit").values(of: "href")
      #expect(instance.contains("/audit/retention"))
      let pool = try await ada.get(eu + "/audit").values(of: "href")
      #expect(!pool.contains("/audit/retention"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      let auditor = try await iris.get("/audit").values(of: "href")
      #expect(!auditor.contains("/audit/retention"))
    }
  }

  @Test func `opening the log is recorded once, after the entries that are shown`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let list = try await world.eu + "/audit"
      let shown = "<span class=\"who\">Audit log viewed"
      let first = try await iris.get(list)
      #expect(!first.says(shown))
      let second = try await iris.get(list)
      #expect(second.says(shown))
      let third = try await iris.get(list)
      #expect(third.text.ranges(of: shown).count == 1)
    }
  }

  @Test func `the retention changes with a reason, and the log has both values`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let page = try await ada.get("/audit/retention")
      #expect(page.says("<option value=\"forever\" selected>Forever</option>"))
      let missing = try await ada.submit("/audit/retention", ["retention": "730"])
      #expect(missing.status == .unprocessableContent)
      #expect(missing.says("<option value=\"730\" selected>"))
      Markup.check(missing)
      let short = try await ada.submit(
        "/audit/retention", ["retention": "30", "note": "less to keep"])
      #expect(short.says("Keep entries for at least 365 days."))
      let done = try await ada.submit(
        "/audit/retention", ["retention": "730", "note": "two years"])
      #expect(done.location == "/audit")
      let log = try await ada.get("/audit")
      #expect(
        log.says("Audit log retention changed.") && log.says("Entries are kept for 730 days."))
      #expect(log.says("audit log retention forever → 730 days") && log.says("two years"))
    }
  }
}
