import Database
import HTTP
import Identity
import Testing

@testable import Console

/// What has changed since a sign-off, and since the review page from which the form was opened.
@Suite struct SignOffChangesTests {
  private static let review = "/projects/acme-retail/review"
  private static let form = review + "/sign-off"

  /// The link to the form on the review page.
  private func link(_ browser: Browser) async throws -> String {
    try #require(
      try await browser.get(Self.review).values(of: "href").first {
        $0.hasPrefix(Self.form + "?seen=")
      })
  }

  /// The fields of a form to sign off, as its page has them.
  private func fields(_ page: Answer, due: String = "2027-01-31") throws -> Form {
    var form: Form = ["csrf": try page.csrf, "due": due]
    for name in ["digest", "last-sign-off", "seen"] {
      if let value = page.value(of: name) { form.add(name, value) }
    }
    return form
  }

  private func signOff(_ browser: Browser, due: String = "2027-01-31") async throws {
    let form = try fields(try await browser.get(try await link(browser)), due: due)
    #expect(try await browser.post(Self.form, form).location == Self.review)
  }

  private func turnOff(_ world: World) async throws {
    _ = try await world.identity.policies.change(
      try await world.euPool, by: .program(Author(actor: .commandLine))
    ) { $0.configuration.totp?.state = .disabled }
    world.clock.advance(seconds: 60)
  }

  @Test
  func `a form from a review that's out of date says what has changed, and then signs it off`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let link = try await link(ada)
      let fresh = try await ada.get(link)
      #expect(!fresh.says("Changes since") && !fresh.says("without viewing the policy review"))
      Markup.check(fresh)
      world.clock.advance(seconds: 60)
      try await turnOff(world)
      let page = try await ada.get(link)
      Markup.check(page)
      #expect(page.says("A policy or tenant has changed since you opened the policy review."))
      #expect(page.says("Changes since you opened the policy review") && page.says("eu-shop"))
      #expect(page.says("<strong>off</strong>"))
      #expect(try await ada.post(Self.form, try fields(page)).location == Self.review)
      #expect(try await ada.get(Self.review).says("Review signed off."))
    }
  }

  @Test func `a change while the form is open is listed before it can be signed off`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let opened = try await ada.get(try await link(ada))
      world.clock.advance(seconds: 60)
      try await turnOff(world)
      let refused = try await ada.post(Self.form, try fields(opened))
      Markup.check(refused)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("A policy or tenant changed while you were reviewing."))
      #expect(refused.says("Changes since you opened the policy review"))
      #expect(refused.says("<strong>off</strong>"))
      // What has changed since the review is still listed after another error.
      let other = try await ada.post(Self.form, try fields(refused, due: "never"))
      #expect(
        other.says("Enter a date") && other.says("Changes since you opened the policy review"))
      #expect(try await ada.post(Self.form, try fields(other)).location == Self.review)
    }
  }

  @Test(arguments: ["", "?seen=", "?seen=x.1", "?seen=00.1"])
  func `a form that was opened without the review says so, and works`(query: String)
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let page = try await ada.get(Self.form + query)
      Markup.check(page)
      #expect(page.says("You opened this form without viewing the policy review."))
      world.clock.advance(seconds: 60)
      try await turnOff(world)
      let refused = try await ada.post(Self.form, try fields(page))
      #expect(refused.says("Changes since you opened the policy review"))
      #expect(try await ada.post(Self.form, try fields(refused)).location == Self.review)
    }
  }

  @Test func `created and deleted tenants are named on every page and in every file`() async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      try await signOff(ada)
      world.clock.advance(seconds: 60)
      let author = Author(actor: .commandLine)
      let project = ID<Project>("acme-retail")
      let tenant = try #require(try await world.euPool.tenant)
      _ = try await world.identity.pools.delete(
        project: project, tenant: tenant, by: .program(author))
      let created = try await world.identity.pools.createTenant(
        in: project, PoolEdit(displayName: "North"), by: .program(author)
      ).value
      let form = try await link(ada)
      for address in [Self.review, Self.review + "/evidence", form] {
        let page = try await ada.get(address)
        Markup.check(page)
        #expect(page.says("Changes since the last sign-off"), "\(address)")
        #expect(page.says("<bdi>eu-shop</bdi>") && page.says("Tenant deleted"), "\(address)")
        #expect(page.says("<bdi>North</bdi>") && page.says("Tenant created"), "\(address)")
      }
      for address in [Self.review + ".csv", "/review.csv"] {
        let lines = try await ada.get(address).text.split(separator: "\r\n")
        let columns = lines.map { $0.split(separator: "\",\"", omittingEmptySubsequences: false) }
        #expect(columns.allSatisfy { $0.count == columns[0].count }, "\(address)")
        let deleted = lines.first { $0.contains("\"\(tenant.text)\"") }
        #expect(deleted?.contains("\"changed\"") == true, "\(address)")
        #expect(deleted?.hasSuffix(",\"deleted\",\"yes\"") == true, "\(address)")
        let north = lines.first { $0.contains("\"\(created.pool.objectID)\"") }
        #expect(north?.hasSuffix(",\"created\",\"yes\"") == true, "\(address)")
      }
      let narrowed = try await ada.get(Self.review + ".csv?q=North")
      #expect(!narrowed.says(tenant.text))
      let evidence = try await ada.get(Self.review + "/evidence.json")
      #expect(evidence.says("\"change\":\"deleted\"") && evidence.says("\"change\":\"created\""))
    }
  }

  @Test func `the page and the files agree on a list of changes that isn't complete`() async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      try await signOff(ada)
      world.clock.advance(seconds: 60)
      let (key, now) = (try await world.euPool.key, world.clock.now.microseconds)
      try await world.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ scope SET policy_version = policy_version + 1, totp_intervals = 7,
            policy_changed_at = \(now)
          WHERE scope_key = \(key)
          """)
      }
      let page = try await ada.get(Self.review)
      Markup.check(page)
      #expect(page.says("earlier values not recorded") && page.says("There may be more changes"))
      for address in [Self.review + ".csv", "/review.csv"] {
        let lines = try await ada.get(address).text.split(separator: "\r\n")
        let changed = lines.filter { $0.contains(",\"changed\",") }
        let known = changed.filter { $0.contains("\"eu-shop\"") }
        #expect(known.count == 1, "\(address)")
        #expect(known.first?.hasSuffix(",\"unknown\",\"no\"") == true, "\(address)")
        // The others may have changed too.
        let others = changed.filter { !$0.contains("\"eu-shop\"") }
        #expect(!others.isEmpty && others.allSatisfy { $0.hasSuffix(",\"\",\"no\"") })
        #expect(!lines.contains { $0.contains(",\"reviewed\",") }, "\(address)")
      }
    }
  }

  @Test func `a tenant that was created and deleted leaves a sign-off as it is`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      try await signOff(ada)
      world.clock.advance(seconds: 60)
      let (author, project) = (Author(actor: .commandLine), ID<Project>("acme-retail"))
      let created = try await world.identity.pools.createTenant(
        in: project, PoolEdit(displayName: "North"), by: .program(author)
      ).value
      _ = try await world.identity.pools.delete(
        project: project, tenant: created.pool.tenant, by: .program(author))
      let page = try await ada.get(Self.review)
      #expect(page.says("The policies and tenants are still the same."))
      #expect(!page.says("Changes since the last sign-off"))
    }
  }

  @Test
  func `a second sign-off with the same answers is stored, and a repeated one says who's later`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let first = try fields(try await ada.get(try await link(ada)), due: "2027-02-01")
      #expect(try await ada.post(Self.form, first).location == Self.review)
      try await signOff(ada, due: "2027-11-01")
      try await signOff(ada, due: "2027-02-01")
      let reviews = world.identity.reviews
      let signOffs = try await reviews.signOffs(of: ID("acme-retail"))
      #expect(signOffs.map(\.dueOn.description) == ["2027-02-01", "2027-11-01", "2027-02-01"])
      try await signOff(ada, due: "2027-03-01")
      #expect(try await ada.post(Self.form, first).location == Self.review)
      let page = try await ada.get(Self.review)
      #expect(page.says("You already signed off with this form."))
      #expect(page.says("The next review is due on Mar 1, 2027."))
      #expect(!page.says("Review signed off."))
    }
  }
}
