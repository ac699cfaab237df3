import Crypto
import Foundation
import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Policy changes that a URL proposes, each with a review page.
@Suite struct ProposalTests {
  private func sandbox(_ world: World) async throws -> String {
    "/projects/acme-retail/tenants/\(try await world.tenantID("sandbox").text)/policy"
  }

  private func policy(_ world: World, _ tenant: String) async throws -> Policy {
    let pool = try await world.identity.pools.existing(
      project: ID("acme-retail"), tenant: try await world.tenantID(tenant))
    return try await world.identity.policies.read(pool)
  }

  /// Confirms a change on its review page.
  private func confirm(_ check: Answer, _ browser: Browser, more: Form = [:]) async throws -> Answer
  {
    var form: Form = ["note": "One policy for all tenants."]
    for name in [
      "csrf", "version", "totp", "intervals", "sms", "pattern", "from", "change", "source",
    ] {
      let chosen = name == "intervals" ? check.chosenIntervals : nil
      if let value = check.value(of: name) ?? chosen { form.add(name, value) }
    }
    for entry in more.entries { form.add(entry) }
    return try await browser.post(check.address.prefix { $0 != "?" } + "/changes", form)
  }

  @Test func `TOTP is turned on with one link and one button`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await sandbox(world)
      let check = try await browser.get(address + "?change=on")
      #expect(check.status == .ok && check.says("<h1>Review changes</h1>"))
      #expect(try await policy(world, "sandbox").version == 0)
      #expect(try await confirm(check, browser).location == address)
      let totp = try await policy(world, "sandbox").configuration.totp
      #expect(totp == TOTPConfiguration(state: .enabled, adjacentIntervals: nil))
      let again = try await browser.get(address + "?change=on")
      #expect(again.says("These values are already in effect"))
      #expect(again.says("<h1>MFA policy</h1>"))
    }
  }

  @Test func `turning TOTP back on restores the stored values`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { $0.configuration.totp?.state = .disabled }
      let check = try await browser.get(try await world.eu + "/policy?change=on")
      _ = try await confirm(check, browser)
      let policy = try await world.policy
      #expect(policy.configuration.totp == TOTPConfiguration(state: .enabled, adjacentIntervals: 5))
      #expect(policy.pattern == .account)
    }
  }

  @Test func `a tenant copies the project's policy with one link and one button`() async throws {
    try await World.withSampleData { world in
      let project = try await world.identity.pools.existing(project: ID("acme-retail"))
      _ = try await world.identity.policies.change(
        project, by: .program(Author(actor: .commandLine))
      ) {
        $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: 1)
        $0.configuration.setSMS(true)
        $0.pattern = .mandatory
        $0.mandatoryFrom = Day("2026-12-01")
      }
      let browser = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let check = try await browser.get(address + "?change=project")
      #expect(check.says("<h1>Review changes</h1>") && check.says("Mandatory from Dec 1, 2026"))
      #expect(check.says("2 users (50% of 4) have neither a factor nor an exemption"))
      #expect(check.says("and must enroll by Dec 1, 2026"))
      let edited = try await browser.submit(
        address, ["change": "project", "source": "1", "version": "2"], to: address + "/edit")
      #expect(edited.says("name=\"from\" value=\"2026-12-01\""))
      #expect(try await confirm(check, browser).status == .seeOther)
      let (tenant, owner) = (
        try await world.policy, try await world.identity.policies.read(project)
      )
      #expect(tenant.edit == owner.edit)
      #expect(try await browser.get(address + "?change=project").says("No changes made."))
    }
  }

  @Test func `a project policy that changes during review isn't copied`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.tomas)
      let check = try await browser.get(try await world.eu + "/policy?change=project")
      let project = try await world.identity.pools.existing(project: ID("acme-retail"))
      _ = try await world.identity.policies.change(
        project, by: .program(Author(actor: .commandLine))
      ) {
        $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 2)
      }
      let late = try await confirm(check, browser, more: ["confirmation": "eu-shop"])
      #expect(late.status == .conflict && late.says("policy changed while you were reviewing"))
      #expect(try await world.policy.version == 2)
    }
  }

  @Test func `turning off TOTP by copying the project's policy requires typing the name`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.tomas)
      let check = try await browser.get(try await world.eu + "/policy?change=project")
      #expect(check.says("Turn off TOTP"))
      let refused = try await confirm(check, browser)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.value(of: "change") == "project")
      let done = try await confirm(check, browser, more: ["confirmation": "eu-shop"])
      #expect(done.status == .seeOther)
      #expect(try await world.policy.configuration.isTOTPOn == false)
    }
  }

  @Test func `proposals require permission to change the policy and to read the project's`()
    async throws
  {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let address = try await world.eu + "/policy"
      for query in ["?change=project", "?change=on", "?pattern=mandatory"] {
        #expect(try await iris.get(address + query).says("You have read-only access"))
      }
      _ = try await world.identity.administrators.create(
        email: "tenant@example.com", displayName: "Teo", password: Secret(World.password),
        grant: Grant(role: .policy, project: ID("acme-retail"), tenant: try await world.euShop),
        by: Author(actor: .commandLine))
      let teo = try await Browser.signedIn(world, as: "tenant@example.com")
      let page = try await teo.get(address + "?change=project")
      #expect(page.status == .ok && page.says("<h1>MFA policy</h1>"))
      let sent = try await teo.save(
        address, ["change": "project", "source": "0", "version": "2"])
      #expect(sent.status == .badRequest)
      #expect(try await world.policy.version == 2)
    }
  }

  @Test func `a saved change links to its undo, which is reviewed and restores every value`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let before = try await world.identity.policies.change(
        pool, by: .program(Author(actor: .commandLine))
      ) { $0.configuration.totp?.state = .mandatory }.value.policy
      let browser = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let off = Form.policy(totp: "off", version: before.version, more: ["confirmation": "eu-shop"])
      #expect(try await browser.save(address, off).location == address)
      let saved = try await browser.get(address)
      let undo = address + "?change=undo&version=\(before.version + 1)"
      #expect(saved.says(">Undo</a>") && saved.values(of: "href").contains(undo))
      Markup.check(saved)
      let check = try await browser.get(undo)
      #expect(check.status == .ok && check.says("<h1>Review changes</h1>"))
      #expect(check.value(of: "change") == "undo")
      Markup.check(check)
      #expect(try await world.policy.version == before.version + 1)
      #expect(try await confirm(check, browser).location == address)
      #expect(try await world.policy.edit == before.edit)
    }
  }

  @Test func `the first change of a policy can be undone`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await sandbox(world)
      let before = try await policy(world, "sandbox")
      #expect(before.version == 0)
      #expect(
        try await confirm(try await browser.get(address + "?change=on"), browser).status
          == .seeOther)
      let check = try await browser.get(address + "?change=undo&version=1")
      #expect(
        try await confirm(check, browser, more: ["confirmation": "sandbox"]).status == .seeOther)
      #expect(try await policy(world, "sandbox").edit == before.edit)
    }
  }

  @Test func `an undo after another change says what changed, and changes nothing`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      #expect(try await browser.save(address, .policy(intervals: "3")).status == .seeOther)
      let undo = address + "?change=undo&version=3"
      let check = try await browser.get(undo)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(
        try await tomas.save(address, .policy(intervals: "2", version: 3)).status == .seeOther)
      for late in [try await browser.get(undo), try await confirm(check, browser)] {
        #expect(late.status == .conflict)
        #expect(late.says("<bdi>Tomás R.</bdi> saved these changes on"))
        Markup.check(late)
      }
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 2)
      for version in ["", "9", "-1", "99999999999999999999"] {
        let page = try await browser.get(address + "?change=undo&version=" + version)
        #expect(page.status == .ok && page.says("<h1>MFA policy</h1>"))
      }
      let forged = try await browser.save(address, ["change": "undo", "version": "0"])
      #expect(forged.status == .notFound)
    }
  }

  @Test func `every change goes through the review page, whatever the form claims`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      for form in [
        Form.policy(intervals: "1", pattern: "skippable", more: ["checked": "1"]),
        .policy(intervals: "1", sms: "on", more: ["checked": "1"]),
        .policy(totp: "off", more: ["checked": "1"]), .policy(intervals: "1"),
        .policy(intervals: "1", more: ["checked": "1"]),
      ] {
        #expect(try await browser.submit(address, form).says("<h1>Review changes</h1>"))
      }
      #expect(try await world.policy.version == 2)
      let check = try await browser.submit(address, .policy(intervals: "1"))
      #expect(try await confirm(check, browser).location == address)
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 1)
    }
  }
}

/// The parts of the policy page outside its form.
@Suite struct PolicyPageTests {
  @Test(arguments: [String(Int.min), String(Int.max), "-1", "9999999999", "", "two"])
  func `a version that no policy can have is refused`(version: String) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      for path in ["", "/changes", "/edit"] {
        var form = Form()
        for entry in Form.policy(intervals: "9").entries where entry.name.text != "version" {
          form.add(entry.name.text, entry.value.text)
        }
        form.add("version", version)
        let answer = try await ada.submit(address, form, to: address + path)
        #expect(answer.status == .badRequest, "\(path)")
      }
    }
  }

  @Test func `a mandatory pattern is shown with its start date everywhere`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let form = try await browser.get(address + "?pattern=mandatory")
      #expect(form.says("value=\"mandatory\" selected"))
      #expect(form.says("2 of 4 users have no factor yet."))
      for day in ["2026-02-30", "tomorrow", "1.12.2026"] {
        let answer = try await browser.save(
          address, .policy(pattern: "mandatory", from: day))
        #expect(answer.status == .unprocessableContent && answer.says("href=\"#from\""))
        #expect(answer.says("id=\"from\"") && answer.says("value=\"\(day)\""))
      }
      let check = try await browser.submit(
        address, .policy(pattern: "mandatory", from: "2026-12-01"))
      #expect(check.says("(50% of 4) have neither a factor nor an exemption"))
      #expect(check.says("and must enroll by Dec 1, 2026"))
      let saved = try await browser.post(address + "/changes", try check.confirmation)
      #expect(saved.status == .seeOther)
      for page in [
        try await world.eu, "/projects/acme-retail/tenants", "/projects/acme-retail/review",
      ] {
        #expect(try await browser.get(page).says("Mandatory from Dec 1, 2026"), "\(page)")
      }
      _ = try await browser.save(
        address, .policy(pattern: "step-up", from: "2026-12-01", version: 3))
      let policy = try await world.policy
      #expect(policy.pattern == .stepUp && policy.mandatoryFrom == nil)
    }
  }

  @Test func `turning SMS on or off sets both of its fields`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      _ = try await browser.save(address, .policy(sms: "on"))
      var configuration = try await world.policy.configuration
      #expect(configuration.isSMSOn && configuration.state == .enabled)
      #expect(try await browser.get(address).says("name=\"sms\" value=\"on\" checked"))
      #expect(try await browser.get(address).says("&quot;PHONE_SMS&quot;"))
      _ = try await browser.save(address, .policy(sms: "off", version: 3))
      configuration = try await world.policy.configuration
      #expect(!configuration.isSMSOn && !configuration.smsEnabled)
    }
  }

  @Test func `every version is listed, ten per page`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      for number in 0..<25 {
        _ = try await world.identity.policies.change(
          pool, by: .program(Author(actor: .commandLine))
        ) {
          $0.configuration.totp?.adjacentIntervals = number % 11
        }
      }
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      var (next, seen): (String?, Int) = (try await world.eu + "/policy", 0)
      while let address = next, seen < 100 {
        let page = try await tomas.get(address)
        seen += page.text.components(separatedBy: "<li><span class=\"long\">").count - 1
        next = page.values(of: "href").first { $0.contains("after=") }
          .map { String($0.prefix { $0 != "#" }) }
        #expect(!page.says("audit?action=policy"))
      }
      #expect(seen == 27)
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(try await world.eu + "/policy").says("/audit?action=policy\">"))
    }
  }

  @Test func `the policy page shows which enrollment prerequisites aren't met`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let before = try await browser.get(address)
      #expect(!before.says("No password, email link, or identity provider sign-in is enabled"))
      #expect(before.says("1 user has an unverified address"))
      #expect(before.says("/users?state=unverified\">Show users</a>"))
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get(address).says("state=unverified") == false)
      _ = try await world.identity.pools.update(
        project: ID("acme-retail"), tenant: try await world.euShop,
        by: .program(Author(actor: .commandLine))
      ) { edit throws(PoolError) in
        edit.signIn = SignInMethods(password: false, emailLink: false, anonymous: true)
        edit.disableAuth = true
      }
      _ = try await world.identity.identityProviders.update(
        try await world.euPool, "oidc.staff", by: .program(Author(actor: .commandLine))
      ) { $0.isEnabled = false }
      let after = try await browser.get(address)
      #expect(after.says("No password, email link, or identity provider sign-in is enabled"))
      #expect(after.says("Anonymous sign-in is on."))
      #expect(after.says("Sign-in is turned off for all users."))
      #expect(after.says("/settings/sign-in-methods\">Open settings</a>"))
    }
  }
}
