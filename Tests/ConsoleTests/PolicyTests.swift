import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Changing a policy: form, review, and save.
@Suite struct PolicyTests {
  @Test func `a change is reviewed, saved, and reported once`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let check = try await browser.submit(
        address, .policy(intervals: "default", pattern: "step-up"))
      #expect(check.status == .ok)
      #expect(check.says("Review changes</h1>"))
      #expect(try await world.policy.version == 2)
      let saved = try await browser.post(address + "/changes", try check.confirmation)
      #expect(saved.status == .seeOther && saved.location == address)
      let policy = try await world.policy
      #expect(policy.version == 3)
      #expect(
        policy.configuration.totp == TOTPConfiguration(state: .enabled, adjacentIntervals: nil))
      #expect(policy.pattern == .stepUp)
      #expect(policy.changedBy == "Tomás R.")
      let after = try await browser.get(address)
      #expect(after.says("Saved: adjacent intervals 5 → 5 (default)"))
      #expect(try await browser.get(address).says("Saved:") == false)
      let row = try #require(
        try await world.identity.policies.history(try await world.euPool).first)
      #expect(row.requestID == "00000000" + "04K7" && row.address == "192.0.2.9")
    }
  }

  @Test(arguments: ["11", "-1", "5.5", "abc", "", "5 5", "１", "+5", "999999999999999999999", "0x5"])
  func `an invalid number is rejected and the other values are kept`(typed: String) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      for target in [address, address + "/changes"] {
        let answer = try await browser.submit(
          address, .policy(intervals: typed, pattern: "mandatory"), to: target)
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("<title>Error: MFA policy"))
        #expect(answer.says("<a href=\"#intervals-default\">Select the default or 0 to 10"))
        #expect(!answer.says("name=\"intervals\" checked"))
        #expect(answer.says("value=\"mandatory\" selected"))
      }
      #expect(try await world.policy.version == 2)
    }
  }

  @Test(arguments: ["0", "10", " 3 "])
  func `every number from 0 to 10 is accepted`(typed: String) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let answer = try await browser.save(
        address, .policy(intervals: typed))
      #expect(answer.status == .seeOther)
      let expected = Int(typed.replacing(" ", with: ""))
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == expected)
    }
  }

  @Test(arguments: [
    ("totp", "maybe"), ("totp", ""), ("intervals", ""), ("intervals", "wide"),
    ("pattern", ""), ("pattern", "always"), ("sms", ""), ("sms", "yes"),
  ])
  func `a value that the form doesn't offer is rejected`(
    field: String, value: String
  ) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let form = Form(
        Form.policy().entries.map {
          Form.Entry(
            name: $0.name, value: $0.name == UntrustedText(field) ? UntrustedText(value) : $0.value)
        })
      let answer = try await browser.save(try await world.eu + "/policy", form)
      #expect(answer.status == .unprocessableContent)
      for link in answer.values(of: "href") where link.hasPrefix("#") && link != "#main" {
        #expect(answer.says("id=\"\(link.dropFirst())\""), "\(link)")
      }
      let name = field == "intervals" ? "intervals-default" : field
      #expect(answer.says("<p class=\"error\" id=\"\(name)-error\">"))
      #expect(answer.says("aria-describedby=\"\(name)-error"))
      #expect(try await world.policy.version == 2)
    }
  }

  @Test func `turning off TOTP requires typing the tenant's name`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let check = try await browser.submit(address, .policy(totp: "off"))
      #expect(check.says("2 enrolled users will sign in without a second factor."))
      for typed in ["", "eu", "EU-SHOP", "acme-retail"] {
        var form = try check.confirmation
        form.add("confirmation", typed)
        let answer = try await browser.post(address + "/changes", form)
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("<a href=\"#confirmation\">Enter the name"))
        #expect(answer.says("value=\"\(typed)\""))
      }
      #expect(try await world.policy.configuration.isTOTPOn)
      var form = try check.confirmation
      form.add("confirmation", " eu-shop ")
      #expect(try await browser.post(address + "/changes", form).status == .seeOther)
      let policy = try await world.policy
      #expect(!policy.configuration.isTOTPOn)
      #expect(policy.configuration.totp?.adjacentIntervals == 5)
    }
  }

  @Test func `a conflicting change is shown, and the form keeps its values`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let check = try await browser.submit(address, .policy(intervals: "1"))
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      _ = try await tomas.save(address, .policy(intervals: "7"))
      let late = try await browser.post(address + "/changes", try check.confirmation)
      #expect(late.status == .conflict)
      #expect(late.says("<bdi>Tomás R.</bdi> saved these changes on"))
      #expect(late.says("adjacent intervals 5 → 7"))
      #expect(late.says("value=\"1\" checked"))
      #expect(late.value(of: "version") == "3")
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 7)
      let again = try await browser.save(
        address, .policy(intervals: "1", version: 3))
      #expect(again.status == .seeOther)
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 1)
    }
  }

  @Test func `only one of several concurrent confirmations is saved`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let token = try await browser.get(address).csrf
      let statuses = try await withThrowingTaskGroup(of: Status.self) { group in
        for number in 0..<8 {
          group.addTask {
            var form = Form.policy(intervals: String(number % 2))
            form.add("csrf", token)
            return try await browser.post(address + "/changes", form).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == .seeOther } == 1)
      #expect(statuses.count { $0 == .conflict } == 7)
      #expect(try await world.policy.version == 3)
    }
  }

  @Test func `an unset TOTP state is set to enabled in one click`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.tomas)
      let tenant = try await world.tenantID("us-shop")
      let address = "/projects/acme-retail/tenants/\(tenant.text)/policy"
      #expect(try await browser.get(address).says("on (state unset)"))
      let page = try await browser.get(address)
      let answer = try await browser.post(
        address + "/totp-state",
        ["csrf": try page.csrf, "version": page.value(of: "version") ?? ""])
      #expect(answer.status == .seeOther)
      let pool = try await world.identity.pools.existing(
        project: ID("acme-retail"), tenant: tenant)
      let totp = try await world.identity.policies.read(pool).configuration.totp
      #expect(totp == TOTPConfiguration(state: .enabled, adjacentIntervals: nil))
      let after = try await browser.get(address)
      #expect(after.says("Nothing changes for users") && !after.says("Set to Enabled"))
    }
  }

  @Test func `going back from the review keeps the form's values`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let answer = try await browser.submit(
        address, .policy(intervals: "3", pattern: "skippable"), to: address + "/edit")
      #expect(answer.status == .ok)
      #expect(answer.says("value=\"3\" checked"))
      #expect(answer.says("value=\"skippable\" selected"))
    }
  }

  @Test func `values that the form doesn't show are preserved`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        edit throws(PolicyError) in
        edit.configuration.state = .enabled
        edit.configuration.smsEnabled = true
        edit.configuration.totp?.state = .mandatory
      }
      let browser = try await Browser.signedIn(world)
      _ = try await browser.save(
        try await world.eu + "/policy",
        .policy(intervals: "4", sms: "on", version: 3))
      let configuration = try await world.policy.configuration
      #expect(configuration.state == .enabled && configuration.smsEnabled)
      #expect(configuration.totp == TOTPConfiguration(state: .mandatory, adjacentIntervals: 4))
    }
  }
}

extension World {
  /// The policy of eu-shop.
  var policy: Policy {
    get async throws { try await identity.policies.read(try await euPool) }
  }
}

extension Answer {
  /// The form that the review page's confirm button sends.
  var confirmation: Form {
    get throws {
      var form: Form = [
        "csrf": try csrf, "note": "TOTP moves to another server.",
      ]
      for name in ["version", "totp", "intervals", "sms", "pattern", "from"] {
        guard let value = value(of: name) ?? (name == "intervals" ? chosenIntervals : nil) else {
          throw Missing("\(name) on the review page")
        }
        form.add(name, value)
      }
      for name in ["enforcement", "enforced-from", "grace"] {
        if let value = value(of: name) { form.add(name, value) }
      }
      return form
    }
  }
}
