import Crypto
import HTTP
import Identity
import Localization
import Testing

@testable import Console

/// The review of the policies of all projects.
@Suite struct ReviewsPageTests {
  /// The projects of a page's rows, in order.
  private func projects(_ page: Answer) -> [String] {
    page.text.split(separator: "<a class=\"who\" href=\"/projects/").dropFirst()
      .compactMap { $0.split(separator: "/review\"").first.map(String.init) }
      .filter { ["acme-retail", "globex"].contains($0) }
  }

  @Test func `projects are sorted by their headings, and links keep the choice`() async throws {
    try await World.withSampleData { world in
      let globex = try await world.identity.pools.existing(project: ID("globex"))
      _ = try await world.identity.policies.change(globex, by: Author(actor: .commandLine)) {
        $0.configuration = MFAConfiguration(
          totp: TOTPConfiguration(state: .enabled, adjacentIntervals: 1))
      }
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get("/review").says("projects reviewed."))
      let found = try await ada.get("/review?q=acme")
      #expect(found.says("Reviewed: 0 of the 1 project shown."))
      let page = try await ada.get("/review?sort=window")
      #expect(projects(page) == ["globex", "acme-retail"], "off is last")
      #expect(page.says("aria-sort=\"descending\"><a"))
      let links = page.values(of: "href")
      #expect(links.contains("/review?sort=enrolled"))
      #expect(links.contains("/review?show=due&sort=window"))
      #expect(links.contains("/review.csv?sort=window"))
      for sort in ["enrolled", "rejected"] {
        #expect(projects(try await ada.get("/review?sort=\(sort)")) == ["acme-retail", "globex"])
      }
      #expect(projects(try await ada.get("/review?sort=changed")) == ["globex", "acme-retail"])
      for query in ["?sort=window&after=x", "?sort=window&after=-1"] {
        let page = try await ada.get("/review" + query)
        #expect(page.status == .ok && page.says("name=\"after\""), "\(query)")
      }
    }
  }

  @Test func `the pattern is below the enforcement, unless it has its own column`() async throws {
    try await World.withSampleData { world in
      _ = try await world.identity.policies.change(
        try await world.projectPool, by: Author(actor: .commandLine)
      ) { $0.pattern = .account }
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/review")
      Markup.check(page)
      for pattern in ["From the account page", "none"] {
        #expect(page.says("<span class=\"sub\">Pattern: \(pattern)</span>"))
      }
      let both = try await ada.get("/review?column=&column=enforcement&column=pattern")
      #expect(both.says("From the account page") && !both.says("Pattern: "))
    }
  }

  @Test func `the file has every pool, with its effective state and sign-off`() async throws {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      let path = "/projects/acme-retail/review"
      let digest = try #require(try await ada.get(path + "/sign-off").value(of: "digest"))
      let form: Form = [
        "digest": digest, "due": "2027-01-31", "code": try world.code(of: app),
      ]
      #expect(try await ada.submit(path + "/sign-off", form).status == .seeOther)
      let file = try await ada.get("/review.csv")
      let lines = file.text.split(separator: "\r\n")
      #expect(
        lines.count == 6
          && lines[0].hasSuffix("\"due\",\"since sign-off\",\"changes complete\""))
      #expect(lines[1].contains("\"none\",\"reviewed\",\"Ada"))
      #expect(lines[1].hasSuffix(",\"2027-01-31\",\"\",\"\""))
      #expect(lines[2].contains("\"eu-shop\"") && lines[2].contains(",\"codes\",\"reviewed\","))
      #expect(lines[5].hasPrefix("\"globex\"") && lines[5].contains(",\"never\",\"\","))
      let own = try await ada.get(path + ".csv")
      #expect(own.text.split(separator: "\r\n")[1] == lines[1])
      let due = try await ada.get("/review.csv?show=due")
      #expect(due.says("\"globex\"") && !due.says("\"acme-retail\""))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let one = try await nadia.get("/review.csv")
      #expect(one.text.split(separator: "\r\n").count == 2 && one.says("\"eu-shop\""))
      #expect(!one.says(",\"never\","), "an agent of one tenant sees nothing of the project")
    }
  }

  @Test func `the file has the same values in every language`() async throws {
    try await World.withSampleData { world in
      let file = try await Browser.signedIn(world).get("/review.csv").text
      for values in [
        "\"Acme Retail\",\"off\",\"default\",\"0\",\"off\",",
        "\"eu-shop\",\"on\",\"5\",\"11\",\"off\",",
        "\"us-shop\",\"unset\",\"default\",\"11\",\"off\",",
      ] {
        #expect(file.contains(values), "\(values)")
      }
      let pseudo = try world.localized(.pseudo())
      #expect(try await Browser.signedIn(pseudo).get("/review.csv").text == file)
    }
  }

  @Test
  func `projects that were never reviewed or are overdue have a tab, and are on the home page`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      let (path, tab) = ("/projects/acme-retail/review/sign-off", "/review?show=due")
      let never = "This project’s policies have never been signed off."
      #expect(projects(try await ada.get(tab)) == ["acme-retail", "globex"])
      #expect(try await ada.get("/").says(never) == false, "new projects aren't reminded of")
      let digest = try #require(try await ada.get(path).value(of: "digest"))
      let form: Form = [
        "digest": digest, "due": "2027-01-31", "code": try world.code(of: app),
      ]
      #expect(try await ada.submit(path, form).status == .seeOther)
      #expect(projects(try await ada.get(tab)) == ["globex"])
      world.clock.advance(seconds: 91 * 86_400)
      let later = try await Browser.withApp(world, as: World.iris).browser
      #expect(projects(try await later.get(tab)) == ["acme-retail", "globex"])
      let home = try await later.get("/")
      #expect(home.says("The policy review was due on Jan 31, 2027.") && home.says(never))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get("/").says(never) == false)
      #expect(projects(try await nadia.get(tab)).isEmpty)
    }
  }

  @Test func `rejected codes of a project aren't shown to administrators of some tenants`()
    async throws
  {
    try await World.withSampleData { world in
      let cell = "data-label=\"Rejected codes\"><span class=\"num\">"
      let ada = try await (try await Browser.signedIn(world)).get("/review")
      #expect(ada.says(cell) && !ada.says(cell + "</span>"))
      let nadia = try await (try await Browser.signedIn(world, as: World.nadia)).get("/review")
      #expect(nadia.says(cell + "</span>") && !nadia.says(cell + "–"))
    }
  }

  @Test func `readers who can't find users see how many are exempt, in pages and files`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await ada.submit(
        user + "/exemption", ["until": "week", "reason": "other", "note": "Key on order"])
      for (email, grant) in [
        ("pia@example.com", Grant(role: .policy)),
        ("peer@example.com", Grant(role: .policy, project: ID("globex"))),
      ] {
        _ = try await world.identity.administrators.create(
          email: email, displayName: "Pia", password: Secret(World.password), grant: grant,
          by: Author(actor: .commandLine))
      }
      let cell = "data-label=\"Exemptions\"><span>1</span>"
      let pia = try await Browser.signedIn(world, as: "pia@example.com")
      for path in ["/review", "/projects/acme-retail/review"] {
        let page = try await pia.get(path)
        #expect(page.says(cell) && !page.says("Key on order"), "\(path)")
      }
      for path in ["/review.csv", "/projects/acme-retail/review.csv"] {
        let lines = try await pia.get(path).text.split(separator: "\r\n")
          .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let column = try #require(lines[0].firstIndex(of: "\"exemptions\""))
        let exempt = lines.dropFirst().compactMap { Int($0[column].filter(\.isNumber)) }
        #expect(exempt.reduce(0, +) == 1, "\(path)")
      }
      let peer = try await Browser.signedIn(world, as: "peer@example.com")
      #expect(try await !peer.get("/review").says(cell))
    }
  }

  @Test func `without exemptions, pages say so`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for path in ["/review", "/exemptions"] {
        let page = try await ada.get(path)
        #expect(page.says("No exemptions") && !page.says("exempt from MFA, each"), "\(path)")
      }
    }
  }

  @Test func `the preset of the review shows the effective state`() throws {
    for acrossProjects in [false, true] {
      let columns = PoolPreset.review.columns(acrossProjects: acrossProjects)
      #expect(columns.contains(.enforcement))
    }
    #expect(PoolColumn.enforcement.heading.english == "Enforcement")
  }
}
