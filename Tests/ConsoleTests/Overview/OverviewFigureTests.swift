import HTTP
import Identity
import Testing

@testable import Console

/// The key figures of a pool, which other pages repeat.
@Suite struct OverviewFigureTests {
  private func isFolded(_ world: World) async throws -> Bool {
    while try await world.identity.activity.fold() {}
    return true
  }

  @Test func `the overview counts the codes outside the window that the policy page counts`()
    async throws
  {
    try await World.withSampleData { world in
      let (pool, now) = (try await world.euPool, world.clock.now.seconds / 30)
      var findings = (1...40).map { CodeFinding(.accepted, distance: 0, step: now + $0 * 2) }
      for number: Int64 in [100, 110] {
        findings.append(CodeFinding(.late, distance: -7, step: now + number))
        findings.append(CodeFinding(.accepted, distance: 0, step: now + number + 9))
      }
      world.clock.advance(seconds: 7_200)
      try await world.write(findings, of: World.chiara)
      world.clock.advance(seconds: 7_200)
      // No correct code follows, so they may be guesses.
      try await world.write(
        (1...3).map { CodeFinding(.late, distance: -8, step: now + 500 + $0) }, of: World.chiara)
      world.clock.advance(seconds: 7_200)
      let isFolded = try await isFolded(world)
      let evidence = WindowEvidence(
        try await world.identity.activity.offsets(in: pool, days: 30))
      let (outside, codes) = (evidence.codes - evidence.accepted, evidence.codes)
      #expect(isFolded && outside >= 2 && evidence.unconfirmed >= 3)
      let ada = try await Browser.signedIn(world)
      let policy = try await ada.get(world.eu + "/policy")
      #expect(policy.says("Why ±5? It rejects \(outside) of \(codes) correct codes"))
      let overview = try await ada.get(world.eu)
      let label = "Valid codes rejected (30 days)"
      #expect(overview.says("<dt>\(label)</dt><dd><strong>\(outside)<"))
      #expect(overview.says("of \(codes)</small>"))
    }
  }

  @Test
  func `the overview, tenants, and the review's file count the code attempts of the same 30 days`()
    async throws
  {
    try await World.withSampleData { world in
      world.clock.advance(seconds: 40 * 86_400)
      let step = world.clock.now.seconds / 30
      // At 20:00 on the day before the 30 days: less than 720 hours ago.
      world.clock.advance(seconds: 12 * 3_600)
      try await world.write(
        (1...7).map { CodeFinding(.accepted, distance: 0, step: step + $0) }, of: World.chiara)
      world.clock.advance(seconds: 29 * 86_400 + 16 * 3_600)
      try await world.write(
        [CodeFinding(.wrong), CodeFinding(.accepted, distance: 0, step: step + 90_000)],
        of: World.chiara)
      world.clock.advance(seconds: 3 * 3_600)
      let isFolded = try await isFolded(world)
      let ada = try await Browser.signedIn(world)
      let (overview, tenants) = (
        try await ada.get(world.eu), try await ada.get("/projects/acme-retail/tenants")
      )
      #expect(isFolded && overview.says("1 of 2 attempts"))
      #expect(tenants.says("1 of 2 codes"))
      let file = try await ada.get("/projects/acme-retail/review.csv")
      #expect(file.says("\"2\",\"1\","))
    }
  }

  @Test func `recent changes begin with those of the policy, whatever came since`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for _ in 0..<10 {
        world.clock.advance(seconds: 60)
        _ = try await ada.submit(
          world.eu + "/users/\(World.chiara)/disabling", ["reason": "left"])
        _ = try await ada.submit(
          world.eu + "/users/\(World.chiara)/enabling", ["reason": "mistake"])
      }
      let overview = try await ada.get(world.eu)
      let changes = overview.text.split(separator: "Recent changes").last ?? ""
      let first = changes.split(separator: "<strong>").dropFirst().first ?? ""
      #expect(first.hasPrefix("Code acceptance window widened"))
    }
  }

  @Test func `recent changes don't include that someone read the audit log`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await ada.get(world.eu + "/audit")
      let log = try await world.identity.audit.list(AuditFilter(pool: world.euPool))
      #expect(log.items.contains { $0.action == .auditRead })
      let overview = try await ada.get(world.eu)
      #expect(overview.says("Recent changes") && !overview.says("Audit log viewed"))
    }
  }

  @Test func `recent changes name the users that they're about, but not the pool`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await ada.submit(user + "/disabling", ["reason": "left"])
      let overview = try await ada.get(world.eu)
      Markup.check(overview)
      #expect(overview.says("<bdi>chiara.bianchi@example.com</bdi> · disabled no → yes; "))
      #expect(overview.says("<strong>MFA policy changed</strong> TOTP off → on"))
      #expect(try await ada.get(user).says("<strong>User changed</strong> disabled no → yes; "))
    }
  }

  @Test func `recent changes are those of administrators`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let overview = try await ada.get(world.eu)
      #expect(overview.says("Tomás R.") && !overview.says("Factor enrolled"))
      let log = try await world.eu + "/audit?actor=administrator"
      #expect(overview.values(of: "href").contains(log))
    }
  }
}
