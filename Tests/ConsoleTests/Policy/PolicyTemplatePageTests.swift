import HTTP
import Identity
import Testing

@testable import Console

/// What the preview of a policy template says and asks for.
@Suite struct PolicyTemplatePageTests {
  private static let list = "/projects/acme-retail/policy-templates"

  @Test func `the breadcrumb leads to the MFA policy`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let policy = "<li><a href=\"/projects/acme-retail/policy\"><bdi>MFA policy</bdi></a></li>"
      for address in [Self.list, Self.list + "/strict"] {
        let page = try await ada.get(address)
        #expect(page.says(policy), "\(address)")
        #expect(page.says("<bdi>Policy templates</bdi>") == (address != Self.list))
      }
    }
  }

  @Test func `a template that turns off TOTP says for how many users, and the name is typed`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let project = try await world.identity.scopes.find(project: ID("acme-retail"), tenant: nil)
      _ = try await world.identity.policies.change(project, by: Author(actor: .commandLine)) {
        $0.configuration = .initial
      }
      #expect(try await ada.submit(Self.list, ["name": "Off"]).status == .seeOther)
      let number = try #require(
        try await ada.get(Self.list).values(of: "href").first {
          $0.hasPrefix(Self.list + "/") && Int($0.dropFirst(Self.list.count + 1)) != nil
        })
      let tenant = try await world.euScope.objectID
      let preview = number + "?step=preview&tenant=" + tenant
      let page = try await ada.get(preview)
      Markup.check(page)
      #expect(page.says("2 enrolled users will sign in without a second factor."))
      #expect(page.says("1 policy will become weaker, affecting "))
      #expect(page.says("To turn off TOTP, type") && page.says("class=\"destroy\""))
      #expect(page.values(of: "href").contains(number + "?tenant=" + tenant))
      let again = try await ada.get(number + "?tenant=" + tenant)
      #expect(again.says("value=\"\(tenant)\" checked"), "chosen before")
      let version = try await world.policy.version
      var form: Form = ["tenant": "\(tenant):\(version)", "note": "Moved elsewhere."]
      let refused = try await ada.submit(preview, form, to: number + "/application")
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("Enter the name as shown above, or the ID."))
      Markup.check(refused)
      #expect(try await world.policy.version == version)
      form.add("confirmation", "acme-retail")
      let done = try await ada.submit(preview, form, to: number + "/application")
      #expect(done.location == Self.list)
      #expect(try await world.policy.configuration.isTOTPOn == false)
    }
  }

  @Test func `a template that turns off SMS under enforcement says what the server does`()
    async throws
  {
    try await World.withSampleData { world in
      let (scope, author) = (try await world.euScope, Author(actor: .commandLine))
      var new = NewAccount()
      new.email = "phone.only@example.com"
      new.emailVerified = true
      let account = try await world.identity.accounts.create(scope, new, by: author)
      var change = AccountChange()
      change.factors = .replace([FactorEntry(phoneNumber: "+15555550101")])
      _ = try await world.identity.accounts.update(scope, account.id, change, by: author)
      _ = try await world.identity.policies.change(scope, by: author) {
        $0.configuration.setSMS(true)
      }
      let project = try await world.identity.scopes.find(project: ID("acme-retail"), tenant: nil)
      let day = try #require(Day("2026-12-01"))
      _ = try await world.identity.policies.change(project, by: author) {
        $0.configuration.setSMS(false)
        $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: nil)
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.claim, from: day, graceDays: 0)
      }
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.submit(Self.list, ["name": "Apps"]).status == .seeOther)
      let number = try #require(
        try await ada.get(Self.list).values(of: "href").first {
          $0.hasPrefix(Self.list + "/") && Int($0.dropFirst(Self.list.count + 1)) != nil
        })
      let page = try await ada.get(number + "?step=preview&tenant=" + scope.objectID)
      Markup.check(page)
      #expect(
        page.says(
          "1 enrolled user loses their second factor. From Dec 1, 2026, the ID tokens of users"))
      #expect(!page.says("will sign in without a second factor"))
    }
  }

  @Test func `a policy that becomes weaker is counted, also if no users are affected`()
    async throws
  {
    try await World.withSampleData { world in
      let tenant = try await world.identity.pools.createTenant(
        in: ID("globex"), UserPoolEdit(displayName: "zone"), by: Author(actor: .commandLine))
      _ = try await world.identity.policies.change(tenant.scope, by: Author(actor: .commandLine)) {
        $0.configuration.setSMS(true)
      }
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(
        "/projects/globex/policy-templates/strict?step=preview&tenant=" + tenant.scope.objectID)
      Markup.check(page)
      #expect(page.says("weaker than now") && !page.says("No policy will become weaker."))
      #expect(page.says("1 policy will become weaker. No users are affected."))
    }
  }

  @Test(arguments: [false, true])
  func `the preview warns once about a past start date and SMS without a gateway`(
    carriesText: Bool
  ) async throws {
    try await World.withSampleData(carriesText: carriesText) { world in
      let project = try await world.identity.scopes.find(project: ID("acme-retail"), tenant: nil)
      let day = try #require(Day("2020-02-29"))
      _ = try await world.identity.policies.change(project, by: Author(actor: .commandLine)) {
        $0.configuration.setSMS(true)
        $0.pattern = .mandatory
        $0.mandatoryFrom = day
      }
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.submit(Self.list, ["name": "Copied"]).status == .seeOther)
      let number = try #require(
        try await ada.get(Self.list).values(of: "href").first {
          $0.hasPrefix(Self.list + "/") && Int($0.dropFirst(Self.list.count + 1)) != nil
        })
      let tenants = [
        try await world.euScope.objectID, try await world.tenantID("us-shop").text,
      ]
      let query = tenants.map { "&tenant=" + $0 }.joined()
      func count(_ sentence: String, _ page: Answer) -> Int {
        page.text.ranges(of: sentence).count
      }
      let page = try await ada.get(number + "?step=preview" + query)
      Markup.check(page)
      #expect(count("The start date, Feb 29, 2020, is in the past: ", page) == 1)
      #expect(count("There is no SMS gateway", page) == (carriesText ? 0 : 1))
      let strict = try await ada.get(Self.list + "/strict?step=preview" + query)
      #expect(count("is in the past", strict) + count("There is no SMS gateway", strict) == 0)
    }
  }

  @Test func `the preview says which scheduled change a template outdates`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let time = world.clock.now.advanced(bySeconds: 86_400).rfc3339Milliseconds.prefix(16)
      let scheduled = try await ada.save(
        world.eu + "/policy", .policy(intervals: "1", more: ["apply-at": String(time)]))
      #expect(scheduled.status == .seeOther)
      let page = try await ada.get(
        Self.list + "/strict?step=preview&tenant=" + world.euScope.objectID)
      #expect(page.says("won’t be applied.") && !page.says("To turn off TOTP, type"))
    }
  }

  @Test func `tenants with a template are listed among any number of others`() async throws {
    try await World.withSampleData { world in
      let project = try await world.identity.scopes.find(project: ID("globex"), tenant: nil)
      var last: UserPool?
      for number in 0..<(PolicyTemplates.mostTenants + 2) {
        last = try await world.identity.pools.createTenant(
          in: project.project, UserPoolEdit(displayName: "zone-\(number)"),
          by: Author(actor: .commandLine))
      }
      let ada = try await Browser.signedIn(world)
      let tenants = try await world.identity.policyTemplates.tenants(of: project.project)
      #expect(tenants.next != nil && last != nil)
      let end = try await world.identity.policyTemplates.tenants(
        of: project.project, after: tenants.next)
      let tenant = try #require(end.items.last?.policy)
      let list = "/projects/globex/policy-templates"
      let done = try await ada.submit(
        list + "/strict?step=preview&tenant=" + tenant.scope.objectID,
        ["tenant": "\(tenant.scope.objectID):\(tenant.version)"], to: list + "/strict/application")
      #expect(done.location == list)
      #expect(try await ada.get(list).says(tenant.scope.name))
    }
  }

  @Test func `tenants chosen on several pages of the list are all previewed`() async throws {
    try await World.withSampleData { world in
      for number in 0..<(PolicyTemplates.mostTenants + 2) {
        _ = try await world.identity.pools.createTenant(
          in: ID("globex"), UserPoolEdit(displayName: "zone-\(number)"),
          by: Author(actor: .commandLine))
      }
      let ada = try await Browser.signedIn(world)
      let address = "/projects/globex/policy-templates/strict"
      let first = try await ada.get(address)
      let tenants = try await world.identity.policyTemplates.tenants(of: ID("globex"))
      let (chosen, next) = (tenants.items[3].policy.scope, try #require(tenants.next))
      #expect(first.says("name=\"after\" value=\"\(next)\""))
      // What the browser sends for the button of the next page.
      let second = try await ada.get(
        "\(address)?step=preview&tenant=\(chosen.objectID)&after=\(next)")
      Markup.check(second)
      #expect(second.says("1 tenant on another page is selected, too."))
      #expect(
        second.says("<input type=\"hidden\" name=\"tenant\" value=\"\(chosen.objectID)\">"))
      let back = try await ada.get("\(address)?step=preview&tenant=\(chosen.objectID)&after=")
      #expect(back.says("value=\"\(chosen.objectID)\" checked"))
    }
  }

  @Test func `without a tenant, the error describes the tenants and links to the first`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.list + "/strict?step=preview")
      Markup.check(page)
      #expect(page.status == .unprocessableContent && page.says("<a href=\"#tenants\">"))
      #expect(page.says("<input type=\"checkbox\" id=\"tenants\" name=\"tenant\""))
      #expect(page.says("<label for=\"tenants\">"))
      #expect(page.says("<fieldset aria-describedby=\"tenants-error tenants-hint\">"))
      #expect(page.says("<p class=\"error\" id=\"tenants-error\">"))
    }
  }

  @Test func `a tenant that was deleted since the preview is named, and the others stay selected`()
    async throws
  {
    try await World.withSampleData { world in
      let project = try await world.identity.scopes.find(project: ID("globex"), tenant: nil).project
      var (tenants, version) = ([String](), 0)
      for name in ["tenant-one", "tenant-two"] {
        let pool = try await world.identity.pools.createTenant(
          in: project, UserPoolEdit(displayName: name), by: Author(actor: .commandLine))
        tenants.append(pool.scope.objectID)
        version = pool.policy.version
      }
      let ada = try await Browser.signedIn(world)
      let address = "/projects/globex/policy-templates/strict"
      let preview = address + "?step=preview&tenant=\(tenants[0])&tenant=\(tenants[1])"
      var form: Form = ["tenant": "\(tenants[0]):\(version)", "note": "Audit."]
      form.add("tenant", "\(tenants[1]):\(version)")
      try await world.identity.pools.delete(
        project: project, tenant: ID(tenants[0]), by: Author(actor: .commandLine))
      let again = try await ada.get(preview)
      for page in [try await ada.submit(address, form, to: address + "/application"), again] {
        #expect(page.status == .unprocessableContent)
        #expect(page.says(", so it’s no longer selected. Nothing was saved."))
        #expect(page.says(tenants[0]))
        #expect(
          page.says("value=\"\(tenants[1]):\(version)\"") && !page.says("value=\"\(tenants[0]):"))
        Markup.check(page)
      }
      try await world.identity.pools.delete(
        project: project, tenant: ID(tenants[1]), by: Author(actor: .commandLine))
      let none = try await ada.get(preview)
      #expect(none.status == .unprocessableContent && none.says(", so it’s no longer"))
      Markup.check(none)
    }
  }

  @Test func `a template is deleted after a question, and policies stay`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.submit(Self.list, ["name": "<b>Ours</b>"]).status == .seeOther)
      let removal = try #require(
        try await ada.get(Self.list).values(of: "href").first { $0.hasSuffix("/removal") })
      let question = try await ada.get(removal)
      Markup.check(question)
      #expect(question.says("Delete “<bdi>&lt;b&gt;Ours&lt;/b&gt;</bdi>”?"))
      #expect(try await ada.submit(removal, [:]).location == Self.list)
      #expect(try await ada.get(Self.list).values(of: "href").contains(removal) == false)
      #expect(try await ada.get(removal).status == .notFound)
      #expect(try await ada.get("\(Self.list)/strict/removal").status == .notFound)
    }
  }

  @Test(arguments: ["Strict", "default", "Ours"])
  func `a template isn't named like a built-in one`(name: String) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let answer = try await ada.submit(Self.list, ["name": name])
      #expect(answer.status == (name == "Ours" ? .seeOther : .unprocessableContent))
    }
  }

  @Test func `a template's name can't reverse the title around it`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      #expect(try await ada.submit(Self.list, ["name": "\u{202E}evil"]).status == .seeOther)
      let removal = try #require(
        try await ada.get(Self.list).values(of: "href").first { $0.hasSuffix("/removal") })
      let template = String(removal.dropLast("/removal".count))
      let page = try await ada.get(template)
      #expect(page.text.contains("<title>\u{2068}evil\u{2069} · "), "\(template)")
    }
  }
}
