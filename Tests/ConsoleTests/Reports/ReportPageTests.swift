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

  @Test func `reports about a project and all projects are subscribed to by email`()
    async throws
  {
    try await World.withSampleData(carriesMail: true) { world in
      let ada = try await Browser.signedIn(world)
      let fields: Form = ["report": "removals", "rhythm": "weekly"]
      var whole = fields
      whole.add("tenants", "all")
      let reports = Self.project + "/reports"
      let ofProject = try await ada.submit(reports, whole, to: reports + "/subscription")
      let ofAll = try await ada.submit("/reports", fields, to: "/reports/subscription")
      let list = try await ada.get("/reports")
      let cancellations = Set(list.values(of: "action").filter { $0.hasSuffix("/cancellation") })
      #expect(ofProject.status == .seeOther && ofAll.status == .seeOther)
      #expect(list.values(of: "href").contains(reports + "/removals?tenants=all"))
      #expect(cancellations.count == 2)
      let own = try await ada.get(reports)
      let cancellation = try #require(
        own.values(of: "action").first { $0.hasSuffix("/cancellation") })
      #expect(own.says("<input type=\"hidden\" name=\"at\" value=\"pool\">"))
      let canceled = try await ada.submit(reports, ["at": "pool"], to: cancellation)
      #expect(canceled.location == reports)
      #expect(try await ada.get(reports).says("You no longer get this report by email."))
      let other = try #require(cancellations.subtracting([cancellation]).first)
      #expect(try await ada.submit("/reports", [:], to: other).location == "/reports")
      let locked = try await ada.submit(
        "/reports", ["report": "locked", "rhythm": "weekly"], to: "/reports/subscription")
      #expect(locked.status == .forbidden)
    }
  }

  @Test func `a list of factors says how many there are`() async throws {
    try await World.withSampleData { world in
      world.clock.advance(seconds: 400 * 86_400)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(world.eu + "/reports/factors")
      let count = try await world.identity.reports.countFactors(
        in: try await world.euScope, .unused(days: 90))
      #expect(count > 0 && page.says("\(count) of \(count) row"))
    }
  }

  @Test func `a printed report says what its menus have chosen, in its text and its address`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for (address, choice) in [
        ("{eu}/reports/factors?age=old-3", "Second factors: Over 3 years old"),
        (Self.project + "/reports/removals?period=30&tenants=all", "User pools: With tenants"),
        ("/reports/dormant-administrators?days=180", "Days without use: 180 days"),
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

  @Test func `the access review counts as dormant whom its rows mark so`() async throws {
    try await World.withSampleData { world in
      let line = Author(actor: .commandLine)
      try await world.identity.administrators.revoke(
        Grant(role: .auditor), from: ID(try await world.id(of: World.iris)), by: line)
      world.clock.advance(seconds: 100 * 86_400)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/reports/access")
      let file = try await ada.get("/reports/access.csv")
      let rows = file.text.split(whereSeparator: \.isNewline).filter { $0.contains("\"dormant\"") }
      let dormant = Set(rows.map { $0.split(separator: ",")[1] }).count
      #expect(dormant > 1 && page.says("\(dormant) administrators are dormant"))
      #expect(page.says(">no role</span>"))
    }
  }

  @Test func `the access review is subscribed to by email`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let answer = try await iris.submit(
        "/reports", ["report": "access", "rhythm": "monthly"], to: "/reports/subscription")
      #expect(answer.status == .seeOther)
      let list = try await iris.get("/reports")
      #expect(list.values(of: "href").count { $0 == "/reports/access" } == 2)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let refused = try await tomas.submit(
        "/reports", ["report": "access", "rhythm": "monthly"], to: "/reports/subscription")
      #expect(refused.status == .forbidden)
    }
  }
}
