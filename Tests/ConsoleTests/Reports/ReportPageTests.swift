import HTTP
import Identity
import Testing

@testable import Console

/// The reports about a pool, a project with its tenants, and all projects.
@Suite struct ReportPageTests {
  private static let project = "/projects/acme-retail"

  @Test func `removals are chosen for a pool, a project with its tenants, or all projects`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let path = Self.project + "/reports/removals"
      let own = try await ada.get(path + "?period=30").values(of: "href")
      let whole = try await ada.get(path + "?tenants=all").values(of: "href")
      let all = try await ada.get("/reports/removals").values(of: "href")
      #expect(own.contains(path + "?period=30&tenants=all"))
      #expect(own.contains("/reports/removals?period=30"))
      #expect(whole.contains(path + ".csv?period=90&tenants=all"))
      #expect(all.contains("/reports/removals.csv?period=90"))
      #expect(all.contains { $0.hasPrefix("/audit?action=removal&from=") })
    }
  }

  @Test func `a removal whose reason was erased with the user's data is listed as such`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      let report = try await world.eu + "/reports/removals"
      let erased = "Erased with the user’s data"
      _ = try await ada.submit(
        user + "/factors/removal", ["reason": "lost", "note": "Called from a known number."])
      #expect(try await !ada.get(report).says(erased))
      _ = try await ada.submit(
        user + "/erasure", ["confirmation": World.chiara, "reason": "asked"])
      while try await world.identity.auditChain.seal() {}
      while try await world.identity.userData.continueErasures() {}
      #expect(try await ada.get(report).says(erased))
    }
  }

  @Test func `only an instance's auditor is offered the removals of all projects from a pool`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let list = try await tomas.get("/reports")
      let page = try await tomas.get("/reports/removals")
      #expect(!list.values(of: "href").contains("/reports/removals"))
      #expect(page.status == .forbidden)
    }
  }

  /// Exempts a user of the tenant, and returns when it ends.
  private func exempt(_ world: World) async throws -> Instant {
    let (agent, author) = try await world.inSupport()
    let end = world.clock.now.advanced(bySeconds: 20 * 86_400)
    _ = try await world.identity.exemptions.grant(
      try await world.euPool, ID(World.chiara), until: end,
      ActionRequest(agent: agent, author: author, reason: .other, note: "Key on order"))
    return end
  }

  @Test func `the report of enrollment says how many users are exempt, now and on earlier days`()
    async throws
  {
    try await World.withSampleData { world in
      // Recording starts with the first fold.
      while try await world.identity.activity.fold() {}
      world.clock.advance(seconds: 3 * 86_400)
      _ = try await exempt(world)
      world.clock.advance(seconds: 86_400)
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      func rows(_ address: String) async throws -> [Substring] {
        Array(try await ada.get(address).text.split(separator: "\r\n").dropFirst())
      }
      for (path, count, link) in [
        (eu + "/reports/enrollment?by=day", 1, eu + "/reports/exemptions"),
        (Self.project + "/reports/enrollment?by=day", 0, Self.project + "/reports/exemptions"),
        (
          Self.project + "/reports/enrollment?by=day&tenants=all", 1,
          Self.project + "/reports/exemptions?tenants=all"
        ),
      ] {
        let page = try await ada.get(path)
        let words =
          count == 1 ? "1 user is exempt from MFA now." : "0 users are exempt from MFA now."
        #expect(page.says(words), "\(path)")
        #expect(page.values(of: "href").contains(link), "\(path)")
        Markup.check(page)
        let found = try await rows(path.replacing("enrollment?", with: "enrollment.csv?"))
        #expect(found.first?.hasSuffix(",\"\(count)\"") == true, "\(path)")
      }
      let own = try await rows(eu + "/reports/enrollment.csv?by=day")
      #expect(own.contains { $0.hasSuffix(",\"0\"") }, "no one was exempt two days ago")
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let page = try await tomas.get(eu + "/reports/enrollment")
      #expect(page.says("1 user is exempt from MFA now."))
      #expect(!page.values(of: "href").contains(eu + "/reports/exemptions"))
    }
  }

  @Test func `the reports of locked users and of factors show until when users are exempt`()
    async throws
  {
    try await World.withSampleData { world in
      let end = try await exempt(world).rfc3339Milliseconds
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.wrong), count: 10), of: World.chiara)
      let ada = try await Browser.signedIn(world)
      for (report, query) in [("locked", ""), ("factors", "?age=never-used")] {
        let address = try await world.eu + "/reports/\(report)"
        let page = try await ada.get(address + query)
        #expect(page.says("Exempt until") && page.says("chiara.bianchi@example.com"), "\(report)")
        #expect(page.says("Dec 10, 2026"), "\(report)")
        let file = try await ada.download(address + ".csv" + query)
        let lines = file.text.split(separator: "\r\n")
        #expect(lines.first?.contains("\"Exempt until\"") == true, "\(report)")
        let exempt = lines.filter { $0.contains("\"\(end)\"") }
        #expect(exempt.count == 1 && exempt[0].contains("chiara.bianchi"), "\(report)")
      }
    }
  }

  @Test func `a list of factors says how many there are`() async throws {
    try await World.withSampleData { world in
      world.clock.advance(seconds: 400 * 86_400)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(world.eu + "/reports/factors")
      let count = try await world.identity.reports.countFactors(
        in: try await world.euPool, .unused(days: 90))
      #expect(count > 0 && page.says("\(count) of \(count) row"))
    }
  }

  @Test func `factors that were never used are chosen in the page and the file`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/reports/factors"
      let found = try await world.identity.reports.factors(in: world.euPool, .neverUsed)
      let labels = found.items.map(\.label)
      let links = try await ada.get(list).values(of: "href")
      let page = try await ada.get(list + "?age=never-used")
      let file = try await ada.download(list + ".csv?age=never-used")
      let other = try await ada.download(list + ".csv?age=old-3")
      #expect(links.contains(list + "?age=never-used"))
      #expect(links.contains(list + "?age=shared-secret"))
      let shared = try await ada.download(list + ".csv?age=shared-secret")
      #expect(shared.text.contains("\"Secret fingerprint\""))
      #expect(!labels.isEmpty && labels.allSatisfy { page.says($0) })
      #expect(labels.allSatisfy { file.text.contains($0) && !other.text.contains($0) })
    }
  }

  @Test func `a printed report says what its menus have chosen, in its text and its address`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for (address, choice) in [
        ("{eu}/reports/factors?age=old-3", "Second factors: Over 3 years old"),
        (Self.project + "/reports/removals?period=30&tenants=all", "Scope: With tenants"),
      ] {
        let address = address.replacing("{eu}", with: try await world.eu)
        let page = try await ada.get(address)
        #expect(page.says("<span class=\"print\"> · \(choice)</span>"), "\(address)")
        #expect(
          page.says(address.replacing("&", with: "&amp;") + "</bdi></span></span>"), "\(address)")
      }
      let long = try await ada.get("/audit?object=" + String(repeating: "x", count: 500))
      #expect(long.says("/audit?…</bdi>"))
    }
  }
}
