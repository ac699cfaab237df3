import HTTP
import Identity
import Localization
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
        user + "/erasure", ["confirmation": World.chiara, "reason": "data-request"])
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
  private func exempt(
    _ world: World, _ user: ID<Account> = ID(World.chiara)
  ) async throws -> Instant {
    let (agent, author) = try await world.inSupport()
    let end = world.clock.now.advanced(bySeconds: 20 * 86_400)
    _ = try await world.identity.exemptions.grant(
      try await world.euPool, user, until: end,
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
        (eu + "/reports/enrollment?period=30", 1, eu + "/reports/exemptions"),
        (Self.project + "/reports/enrollment?period=30", 0, Self.project + "/reports/exemptions"),
        (
          Self.project + "/reports/enrollment?period=30&tenants=all", 1,
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
      let own = try await rows(eu + "/reports/enrollment.csv?period=30")
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

  /// The figure and the base line of a card of the index.
  private func card(_ page: Answer, _ name: String) -> [String] {
    guard
      let card = page.text.split(separator: "<li class=\"card report\">").first(where: {
        $0.contains(">\(name)</a></h2>")
      })
    else { return [] }
    func part(_ start: String, _ end: String) -> String {
      card.split(separator: start).last?.split(separator: end).first.map(String.init) ?? ""
    }
    return [part("<strong>", "</strong>"), part("<p class=\"key\">", "</p>")]
  }

  @Test func `the index has a card for each report, whose figure is that of the report`()
    async throws
  {
    try await World.withSampleData { world in
      world.clock.advance(seconds: 100 * 86_400)
      _ = try await exempt(world)
      let ada = try await Browser.signedIn(world)
      let (eu, pool) = (try await world.eu, try await world.euPool)
      _ = try await ada.submit(
        eu + "/users/\(World.chiara)/factors/removal", ["reason": "stolen", "note": "Called."])
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.wrong), count: 10), of: World.chiara)
      let page = try await ada.get(eu + "/reports")
      Markup.check(page)
      let policy = try await world.identity.policies.read(pool)
      let unused = try await world.identity.reports.factors(in: pool, .unused(days: 90)).items.count
      let all = try await world.identity.reports.factors(in: pool, .enrolled(years: 0)).items.count
      let share = Meter.percent(policy.enrolledUsers, of: policy.users)
      for (name, report, figure, base) in [
        (
          "Coverage", "enrollment?period=90", Catalog.english.text(share),
          "\(policy.enrolledUsers) of \(policy.users) user"
        ),
        ("Removals", "removals?period=90", "1", "Stolen or compromised: 1"),
        ("Unused factors", "factors", "\(unused)", "of \(all) factor"),
        ("Locked", "locked", "1", "0 codes not checked"),
        ("Exemptions", "exemptions?period=90", "1", "The next one lasts through"),
      ] {
        #expect(page.says("<h2><a href=\"\(eu)/reports/\(report)\">\(name)</a></h2>"), "\(name)")
        let found = card(page, name)
        #expect(found.first == figure && found.last?.contains(base) == true, "\(name): \(found)")
      }
      let project = try await ada.get(Self.project + "/reports?tenants=all&period=30")
      Markup.check(project)
      #expect(
        project.values(of: "href").contains(
          Self.project + "/reports/enrollment?period=30&tenants=all"))
      #expect(project.says("users outside tenants"))
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let own = try await tomas.get(eu + "/reports")
      #expect(own.says(">Coverage</a>") && !own.says(">Removals</a>") && !own.says(">Locked</a>"))
    }
  }

  /// The cells of the row of a table whose heading links to an address.
  private func row(_ page: Answer, _ address: String) -> [String] {
    let rows = page.text.split(separator: "<tr>").dropFirst()
    guard let row = rows.first(where: { $0.contains("href=\"\(address)\"") }) else { return [] }
    return row.split(separator: "<td").dropFirst().map { cell in
      cell.drop { $0 != ">" }.dropFirst().split(separator: "<").map { part in
        part.split(separator: ">", omittingEmptySubsequences: false).last.map(String.init) ?? ""
      }.joined().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  }

  @Test func `enrollment by tenant has the numbers of each pool, and who acts on it`() async throws
  {
    try await World.withSampleData { world in
      while try await world.identity.activity.fold() {}
      world.clock.advance(seconds: 40 * 86_400)
      let (eu, pool) = (try await world.eu, try await world.euPool)
      func withoutFactor() async throws -> [ID<Account>] {
        try await world.identity.accounts.list(pool, filter: .none, after: nil, limit: 50)
          .items.map(\.id)
      }
      _ = try await exempt(world, try #require(try await withoutFactor().first))
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.project + "/reports/enrollment?tenants=all")
      Markup.check(page)
      #expect(page.says("30 days ago") && page.says("90 days ago") && page.says("All users"))
      let policy = try await world.identity.policies.read(pool)
      let found = row(page, eu + "/reports/enrollment")
      let share = Catalog.english.text(Meter.percent(policy.enrolledUsers, of: policy.users))
      // The exempt user isn't in the list of those without a factor.
      let without = policy.users - policy.enrolledUsers - 1
      #expect(found.count == 6)
      #expect(found.first == "\(policy.users)" && found.dropFirst(2).first == share)
      #expect(found.dropFirst().first?.hasPrefix("\(without)") == true, "\(found)")
      let list = eu + "/users?factor=none"
      #expect(try await withoutFactor().count == without)
      #expect(found.dropFirst(3).first == share && found.dropFirst(4).first == "–", "\(found)")
      let links = page.values(of: "href")
      #expect(links.contains(Self.project + "/reports/enrollment") && links.contains(list))
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let read = try await tomas.get(Self.project + "/reports/enrollment?tenants=all")
      #expect(!read.values(of: "href").contains { $0.contains("/users?factor=none") })
    }
  }

  @Test func `a locked user is listed with cause, time, and the way to unlock the codes`()
    async throws
  {
    try await World.withSampleData { world in
      let locked = world.clock.now
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.wrong), count: 10), of: World.chiara)
      let report = try await world.eu + "/reports/locked"
      let unlock = try await world.eu + "/users/\(World.chiara)/unlock?reason=locked"
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(report)
      Markup.check(page)
      #expect(page.says("10 incorrect codes"))
      #expect(page.values(of: "href").contains(unlock))
      #expect(try await ada.get(unlock).says("<option value=\"locked\" selected>"))
      func since() async throws -> Bool {
        try await ada.download(report + ".csv").text.contains("\"\(locked.rfc3339Milliseconds)\"")
      }
      #expect(try await since())
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(report)
      #expect(read.says("10 incorrect codes"))
      #expect(!read.values(of: "href").contains(unlock), "she only reads")
      // A code that isn't checked doesn't change since when the user is locked.
      world.clock.advance(seconds: 600)
      try await world.write([CodeFinding(.closed)], of: World.chiara)
      #expect(try await since())
    }
  }

  @Test func `a list of factors says how many there are`() async throws {
    try await World.withSampleData { world in
      world.clock.advance(seconds: 400 * 86_400)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(world.eu + "/reports/factors")
      let counts = try await world.identity.reports.factorCounts(
        in: try await world.euPool, [.unused(days: 90), .neverUsed])
      let count = counts[.unused(days: 90)]
      #expect(count > 0 && page.says("\(count) of \(count) row"))
      #expect(page.says("Unused for 90 days (\(count))"))
      #expect(page.says("Never used (\(counts[.neverUsed]))"))
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
        ("{eu}/reports/factors?age=old-3", "Second factors: Over 3 years old (0)"),
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
