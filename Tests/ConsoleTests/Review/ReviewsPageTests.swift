import Crypto
import HTTP
import Identity
import Localization
import OTP
import Testing

@testable import Console

/// The review of the policies of all projects.
@Suite struct ReviewsPageTests {
  /// The addresses of the policies of a page's rows, in order.
  private func pools(_ page: Answer) -> [String] {
    page.text.split(separator: "<a class=\"who\" href=\"").dropFirst()
      .map { String($0.prefix { $0 != "\"" }) }.filter { $0.hasSuffix("/policy") }
  }

  /// The projects of a page's reviews due.
  private func due(_ page: Answer) -> [String] {
    page.values(of: "href").filter { $0.hasSuffix("/review?queue=1") }
  }

  @Test func `the pools of every project are listed, a page at a time`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/review")
      Markup.check(page)
      let all = pools(page)
      #expect(all.first == "/projects/acme-retail/policy" && all.count == 5)
      let eu = try await world.eu + "/policy"
      #expect(all.last == "/projects/globex/policy" && all.contains(eu))
      let policies = try await ada.get("/projects/acme-retail/review?view=policy")
      #expect(policies.says("codes: server") && policies.says("enrollment: none"))
      #expect(pools(try await ada.get("/review?q=globex")) == ["/projects/globex/policy"])
      #expect(!pools(try await ada.get("/review?show=off")).contains(eu))
      #expect(!pools(try await ada.get("/review?show=differs")).contains("/projects/globex/policy"))
      let nothing = try await ada.get("/review?q=nothing-like-it")
      #expect(nothing.says("No matching user pools") && pools(nothing).isEmpty)

      let author = Author(actor: .commandLine)
      for number in 10..<20 {
        _ = try await world.identity.pools.createTenant(
          in: ID("globex"), PoolEdit(displayName: "shop-\(number)"), by: .program(author))
      }
      var (found, next) = ([String](), "/review?size=10" as String?)
      while let address = next {
        let page = try await ada.get(address)
        found += pools(page)
        next = page.values(of: "href").first { $0.contains("after=") }
          .map { $0.replacing("&amp;", with: "&") }
      }
      #expect(found.count == 15 && Set(found).count == 15)
    }
  }

  @Test func `agents of one tenant see only its policy, and not whether it differs`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      for query in ["", "?q=shop"] {
        let page = try await nadia.get("/review" + query)
        #expect(pools(page) == [try await world.eu + "/policy"] && !page.says("differs</span>"))
        #expect(!page.says("Reviews due"))
      }
      #expect(pools(try await nadia.get("/review?show=differs")).isEmpty)
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

  /// Signs off a review, and returns where that leads.
  private func signOff(
    _ review: String, of world: World, _ ada: Browser, _ app: OneTimePassword
  ) async throws -> String? {
    let page = try await ada.get(review)
    let sign = try #require(
      page.values(of: "href").first { $0.contains("/review/sign-off?queue=1") })
    let form = try await ada.get(sign.replacing("&amp;", with: "&"))
    #expect(!form.says("without viewing"))
    let fields: Form = [
      "digest": try #require(form.value(of: "digest")), "due": "2027-01-31", "queue": "1",
      "code": try world.code(of: app), "csrf": try form.csrf,
    ]
    world.clock.advance(seconds: 30)
    return try await ada.post(String(sign.prefix { $0 != "?" }), fields).location
  }

  @Test func `signing off leads through the reviews due, and the home page lists overdue ones`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      let (acme, globex) = (
        "/projects/acme-retail/review?queue=1", "/projects/globex/review?queue=1"
      )
      let never = "This project’s policies have never been signed off."
      #expect(due(try await ada.get("/review")).contains(acme))
      #expect(try await ada.get("/projects").says(never) == false, "new projects aren't listed")

      #expect(try await ada.get(acme).values(of: "href").contains(globex), "it can be skipped")
      #expect(try await signOff(acme, of: world, ada, app) == globex)
      #expect(due(try await ada.get("/review")).contains(acme) == false)
      #expect(try await signOff(globex, of: world, ada, app) == "/review")
      #expect(try await ada.get("/review").says("Every project is signed off."))

      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { $0.pattern = .stepUp }
      #expect(Set(due(try await ada.get("/review"))) == [acme])
      world.clock.advance(seconds: 91 * 86_400)
      let later = try await Browser.withApp(world, as: World.iris).browser
      #expect(Set(due(try await later.get("/review"))) == [acme, globex])
      #expect(
        try await later.get("/projects?attention=all")
          .says("The policy review was due on Jan 31, 2027."))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get("/projects").says(never) == false)
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
      let page = try await pia.get("/projects/acme-retail/review")
      #expect(page.says(cell) && !page.says("Key on order"))
      for path in ["/review.csv", "/projects/acme-retail/review.csv"] {
        let lines = try await pia.get(path).text.split(separator: "\r\n")
          .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let column = try #require(lines[0].firstIndex(of: "\"exemptions\""))
        let exempt = lines.dropFirst().compactMap { Int($0[column].filter(\.isNumber)) }
        #expect(exempt.reduce(0, +) == 1, "\(path)")
      }
      #expect(try await !pia.get("/review").says("factor=none"))
      let peer = try await Browser.signedIn(world, as: "peer@example.com")
      #expect(try await !peer.get("/review").says("Key on order"))
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

  @Test func `the effective state has a column or is below the state of TOTP`() throws {
    #expect(!PoolPreset.everyPool.contains(.enforcement))
    #expect(PoolPreset.policy.columns.contains(.enforcement))
    #expect(PoolColumn.enforcement.heading.english == "Enforcement")
    for preset in PoolPreset.allCases {
      #expect(preset.columns.contains(.policy), "\(preset)")
    }
  }
}
