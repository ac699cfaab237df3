import HTTP
import Identity
import JSON
import Testing

@testable import Console

/// Sign-off of reviews, evidence, exemptions, and comparisons in the console.
@Suite struct SignOffPageTests {
  private static let review = "/projects/acme-retail/review"

  @Test func `a reviewer signs off with a code, and a later change makes it out of date`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      #expect(try await ada.get(Self.review).says("policies have never been signed off."))
      let form = try await ada.get(Self.review + "/sign-off")
      let digest = try #require(form.value(of: "digest"))
      let wrong = try await ada.submit(
        Self.review + "/sign-off", ["digest": digest, "due": "yesterday", "note": "Q4"])
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("Enter a date within the next 366 days."))
      #expect(wrong.says("Q4") && wrong.says("yesterday"), "the entered values are kept")
      Markup.check(wrong)
      world.clock.advance(seconds: 900)
      let refused = try await ada.submit(
        Self.review + "/sign-off",
        ["digest": digest, "due": "2027-01-31", "code": "000000"])
      #expect(refused.status == .unprocessableContent)
      #expect(refused.values(of: "href").contains("#code"))
      let done = try await ada.submit(
        Self.review + "/sign-off",
        ["digest": digest, "due": "2027-01-31", "code": try world.code(of: app), "note": "Q4"])
      #expect(done.location == Self.review)
      let after = try await ada.get(Self.review)
      #expect(after.says("Review signed off. The next one is due on Jan 31, 2027."))
      #expect(
        after.says("The policies and tenants are still the same.") && after.says("<bdi>Q4</bdi>"))
      Markup.check(after)
      let project = try await world.identity.pools.existing(project: ID("acme-retail"))
      _ = try await world.identity.policies.change(
        project, by: .program(Author(actor: .commandLine))
      ) {
        $0.pattern = .account
      }
      #expect(try await ada.get(Self.review).says("but a policy or tenant has changed since then"))
      let stale = try await ada.submit(
        Self.review + "/sign-off", ["digest": digest, "due": "2027-01-31"])
      #expect(stale.says("A policy or tenant changed while you were reviewing."))
    }
  }

  @Test func `a sign-off that is out of date and overdue says both`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let form = try await ada.get(Self.review + "/sign-off")
      let entered: Form = [
        "digest": try #require(form.value(of: "digest")), "due": "2027-01-31", "note": "Q4",
      ]
      #expect(try await ada.submit(Self.review + "/sign-off", entered).location == Self.review)
      world.clock.advance(seconds: 1)
      let project = try await world.identity.pools.existing(project: ID("acme-retail"))
      _ = try await world.identity.policies.change(
        project, by: .program(Author(actor: .commandLine))
      ) {
        $0.pattern = .account
      }
      let next = try #require(Day("2027-02-01")).start
      world.clock.advance(seconds: next.seconds - world.clock.now.seconds)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let page = try await iris.get(Self.review)
      Markup.check(page)
      #expect(page.says("has changed since then. The next review was due on"))
      #expect(page.says(">changed since review</span>") && page.says(">overdue</span>"))
      let all = try await iris.get("/review?view=review")
      #expect(all.says(">changed since review</span>") && all.says(">overdue</span>"))
      let file = try await iris.get(Self.review + ".csv")
      #expect(file.says("\"changed, overdue\""))
    }
  }

  @Test func `a form that is submitted twice leads to the same page and is one sign-off`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let form = try await ada.get(Self.review + "/sign-off")
      let entered: Form = [
        "digest": try #require(form.value(of: "digest")), "due": "2027-01-31", "note": "Only once",
        "last-sign-off": try #require(form.value(of: "last-sign-off")),
      ]
      for _ in 1...2 {
        #expect(try await ada.submit(Self.review + "/sign-off", entered).location == Self.review)
      }
      let after = try await ada.get(Self.review)
      #expect(after.says("Review signed off. The next one is due on Jan 31, 2027."))
      #expect(
        try await world.identity.reviews.signOffs(of: ID("acme-retail")).map(\.note) == [
          "Only once"
        ])
    }
  }

  @Test func `a reviewer without a second factor is told to set one up, not to sign in again`()
    async throws
  {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let path = Self.review + "/sign-off"
      world.clock.advance(seconds: 900)
      let page = try await iris.get(path)
      #expect(page.says("This action requires a second factor.") && !page.says("sign out"))
      #expect(
        page.values(of: "href").contains(ReturnAddress.of("/account/totp", backTo: path)))
      let digest = try #require(page.value(of: "digest"))
      let refused = try await iris.submit(path, ["digest": digest, "due": "2027-01-31"])
      #expect(refused.says("Set up a second factor in your account. Then try again."))
      // A new sign-in is enough for actions that don't insist on a second factor.
      let ada = try await Browser.signedIn(world)
      world.clock.advance(seconds: 900)
      #expect(
        try await ada.get("/projects/acme-retail/settings/deletion").says(
          "or sign out and sign in again"))
    }
  }

  @Test func `the evidence file is signed with the key that the review shows`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let answer = try await iris.get(Self.review + "/evidence.json")
      #expect(answer.response.fields[.contentType] == "application/json")
      let key = try await world.identity.evidenceKeys.current()
      let result = EvidenceFile.verify(Array(answer.text.utf8), with: [key.publicKey])
      guard case .valid(let project, _) = result else {
        Issue.record("\(result)")
        return
      }
      #expect(project == "acme-retail")
      #expect(try await iris.get(Self.review).says(key.id))
      let page = try await iris.get(Self.review + "/evidence")
      #expect(page.says(key.id) && page.says("eu-shop"))
      Markup.check(page)
    }
  }

  @Test func `a support agent can't download evidence or sign off`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      for path in ["/sign-off", "/evidence", "/evidence.json"] {
        let answer = try await nadia.get(Self.review + path)
        #expect(answer.status == .notFound || answer.status == .forbidden, "\(path)")
      }
      let page = try await nadia.get(Self.review)
      #expect(
        !page.says("never been signed off"), "an agent of one tenant sees nothing of the project")
    }
  }

  @Test func `the details of an exemption can't reverse the text after them`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let user = try await world.eu + "/users/\(World.chiara)"
      let details: Form = ["until": "week", "reason": "other", "note": "\u{202E}gnp.yek"]
      #expect(try await ada.submit(user + "/exemption", details).location == user)
      for path in [user, "/exemptions", try await world.eu + "/audit"] {
        let page = try await ada.get(path)
        #expect(page.says("\u{2068}gnp.yek\u{2069}") && !page.says("\u{202E}"), "\(path)")
      }
    }
  }

  @Test func `an exemption is shown on the user's page, in the review, in the list, and as CSV`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let user = try await world.eu + "/users/\(World.chiara)"
      let done = try await ada.submit(
        user + "/exemption", ["until": "week", "reason": "other", "note": "Key on order"])
      #expect(done.location == user)
      let page = try await ada.get(user)
      #expect(page.says("Exempted from MFA by") && page.says("Key on order"))
      #expect(page.values(of: "href").contains(user + "/exemption/end"))
      #expect(!page.values(of: "href").contains(user + "/exemption"), "not by the same person")
      let own = try await ada.get(user + "/exemption")
      #expect(own.says("You granted this user’s last exemption."))
      for path in ["/review", "/exemptions", "/exemptions?project=acme-retail"] {
        let list = try await ada.get(path)
        #expect(list.says("Key on order"), "\(path)")
        Markup.check(list)
      }
      for path in [try await world.eu + "/users", "/users?q=chiara"] {
        #expect(try await ada.get(path).says("<span class=\"sub\">exempt through "), "\(path)")
      }
      #expect(try await ada.get("/exemptions?project=globex").says("No exemptions"))
      let csv = try await ada.download("/exemptions.csv")
      #expect(csv.says("\"acme-retail\"") && csv.says("\"Key on order\""))
      #expect(
        try await ada.get(Self.review).values(of: "href").contains(
          "/exemptions?project=acme-retail"))
      _ = try await ada.submit(user + "/exemption/end", ["reason": "mistake"])
      #expect(try await ada.get("/exemptions").says("No exemptions"))
    }
  }

  @Test func `a comparison finds the same differences as the review`() async throws {
    try await World.withSampleData { world in
      let (project, author) = (
        try await world.identity.pools.existing(project: ID("acme-retail")),
        Author(actor: .commandLine)
      )
      let edit = PolicyEdit(
        configuration: MFAConfiguration(
          state: .enabled, totp: TOTPConfiguration(state: .enabled, adjacentIntervals: nil)),
        pattern: nil)
      _ = try await world.identity.policies.change(project, by: .program(author)) { $0 = edit }
      _ = try await world.identity.policies.change(try await world.euPool, by: .program(author)) {
        $0 = edit
        $0.configuration.state = .mandatory
        $0.configuration.totp?.adjacentIntervals = 5
      }
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy/comparison?with=acme-retail"
      let page = try await tomas.get(address)
      #expect(page.says("Both policies have the same effect.") && !page.says("class=\"differs\""))
      #expect(page.says("API state") && page.says("mandatory"))
      #expect(page.text.split(separator: "<th scope=\"row\">").count - 1 == 6)
      _ = try await world.identity.policies.change(project, by: .program(author)) {
        $0.configuration.totp?.adjacentIntervals = 4
      }
      #expect(try await tomas.get(address).says("1 of 6 fields differs."))
    }
  }

  @Test func `policies of two pools and of a past date are compared`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy/comparison"
      let page = try await tomas.get(address + "?with=acme-retail")
      #expect(page.says("of 6 fields differ") && page.says("class=\"differs\""))
      Markup.check(page)
      for query in ["?with=nowhere", "?on=2999-01-01", "?on=today", "?on=1999-01-01"] {
        let wrong = try await tomas.get(address + query)
        #expect(wrong.status == .unprocessableContent, "\(query)")
        Markup.check(wrong)
      }
    }
  }
}
