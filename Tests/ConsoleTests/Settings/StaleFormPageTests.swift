import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Forms of settings that someone else changed after they were opened.
@Suite struct StaleFormPageTests {
  /// The form as a page with these rules sends it.
  private static func form(_ rules: SupportRules, _ csrf: String, version: String?) -> Form {
    var form = SupportRulesForm(rules).form
    form.add("csrf", csrf)
    if let version { form.add(SettingsConflict.field, version) }
    return form
  }

  /// Turns on the approval of a user's last factor, as someone else.
  private func requireApproval(_ world: World) async throws -> SupportRules {
    let pool = try await world.euPool
    var rules = try await world.identity.support.settings(pool)
    rules.approvalForLastFactor = true
    try await world.identity.support.change(
      pool, to: rules, by: .program(Author(actor: .commandLine)))
    return rules
  }

  @Test(arguments: [true, false])
  func `stale support rules are shown next to the present ones, and nothing is saved`(
    hasVersion: Bool
  ) async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let (pool, address) = (try await world.euPool, try await world.eu + "/settings/support")
      let page = try await tomas.get(address)
      let version = try #require(page.value(of: SettingsConflict.field))
      var entered = try await world.identity.support.settings(pool)
      entered.undoHours = 25
      let strict = try await requireApproval(world)
      let late = try await tomas.post(
        address, Self.form(entered, try page.csrf, version: hasVersion ? version : nil))
      #expect(late.status == .conflict)
      Markup.check(late)
      #expect(late.says("These support rules changed while you were editing."))
      #expect(late.says("data-label=\"Current value\"><span>On</span>"))
      #expect(late.says("data-label=\"In your form\"><span>Off</span>"))
      #expect(late.says("data-label=\"In your form\"><span>25 hours</span>"))
      #expect(late.values(of: "href").contains(address))
      // What was entered stays in the form.
      #expect(
        late.says("value=\"25\"")
          && late.says("\"approval-for-last-factor\" value=\"off\" checked")
      )
      #expect(try await world.identity.support.settings(pool) == strict)
      var both = strict
      both.undoHours = 25
      let present = try #require(late.value(of: SettingsConflict.field))
      let again = try await tomas.post(
        address, Self.form(both, try late.csrf, version: present))
      #expect(again.location == address)
      #expect(try await world.identity.support.settings(pool) == both)
    }
  }

  @Test func `a stale form with an error is still stale once the error is corrected`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let (pool, address) = (try await world.euPool, try await world.eu + "/settings/support")
      let page = try await tomas.get(address)
      let version = try #require(page.value(of: SettingsConflict.field))
      var entered = try await world.identity.support.settings(pool)
      entered.undoHours = -1
      let strict = try await requireApproval(world)
      let wrong = try await tomas.post(
        address, Self.form(entered, try page.csrf, version: version))
      #expect(wrong.status == .unprocessableContent)
      let kept = try #require(wrong.value(of: SettingsConflict.field))
      entered.undoHours = 25
      let late = try await tomas.post(address, Self.form(entered, try wrong.csrf, version: kept))
      #expect(late.status == .conflict)
      #expect(try await world.identity.support.settings(pool) == strict)
    }
  }

  @Test func `a form that's kept while its session expires is compared when it's sent again`()
    async throws
  {
    try await World.withSampleData { world in
      let (tomas, app) = try await Browser.withApp(world, as: World.tomas)
      let (pool, address) = (try await world.euPool, try await world.eu + "/settings/support")
      let page = try await tomas.get(address)
      let version = try #require(page.value(of: SettingsConflict.field))
      var entered = try await world.identity.support.settings(pool)
      entered.undoHours = 25
      let strict = try await requireApproval(world)
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      _ = try await tomas.post(address, Self.form(entered, try page.csrf, version: version))
      _ = try await tomas.givePassword(World.tomas)
      _ = try await tomas.submit("/sign-in/code", ["code": try world.code(of: app)])
      let review = try await tomas.get(Drafts.address(Drafts.mark(of: address)))
      let kept = try #require(review.value(of: SettingsConflict.field))
      #expect(kept == version)
      let late = try await tomas.post(address, Self.form(entered, try review.csrf, version: kept))
      #expect(late.status == .conflict)
      #expect(try await world.identity.support.settings(pool) == strict)
    }
  }

  @Test func `stale session limits are shown next to the present ones`() async throws {
    try await World.withSampleData { world in
      let address = "/administrators/session-limits"
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let page = try await ada.get(address)
      let version = try #require(page.value(of: SettingsConflict.field))
      let strict: Form = ["idle": "60", "hours": "12", "second-factor": "on"]
      #expect(try await ada.submit(address, strict).location == "/instance-settings")
      for version in [version, ""] {
        let late = try await ada.post(
          address,
          [
            "csrf": try page.csrf, SettingsConflict.field: version, "idle": "30", "hours": "12",
          ])
        #expect(late.status == .conflict)
        Markup.check(late)
        #expect(late.says("These limits changed while you were editing."))
        #expect(late.says("data-label=\"Current value\"><span>60</span>"))
        #expect(late.says("data-label=\"In your form\"><span>30</span>"))
        #expect(late.says("data-label=\"Current value\"><span>on</span>"))
        #expect(late.says("value=\"30\"") && !late.says("value=\"on\" checked"))
        #expect(try await world.identity.consoleSessions.limits().requiresSecondFactor)
      }
    }
  }

  @Test func `a stale provider form doesn't restore a group's role`() async throws {
    try await World.withSampleData { world in
      let address = "/administrators/sign-in-provider"
      let ada = try await SignInProviderPageTests.setUp(world)
      let page = try await ada.get(address)
      let version = try #require(page.value(of: SettingsConflict.field))
      let opened = SignInProviderPageTests.form
      var fewer = Form(opened.entries.filter { $0.name != "roles" })
      fewer.add("roles", "")
      #expect(try await ada.submit(address, fewer).location == address)
      let providers = world.identity.consoleProviders
      for version in [version, ""] {
        var stale = Form(opened.entries.filter { $0.name != "name" })
        for (name, value) in [
          ("name", "Renamed ID"), ("csrf", try page.csrf), (SettingsConflict.field, version),
        ] {
          stale.add(name, value)
        }
        let late = try await ada.post(address, stale)
        #expect(late.status == .conflict)
        Markup.check(late)
        #expect(late.says("This provider changed while you were editing."))
        #expect(late.says("data-label=\"Current value\"><span><bdi>Example ID</bdi></span>"))
        #expect(late.says("data-label=\"Current value\"><span>None</span>"))
        #expect(late.says("value=\"Renamed ID\"") && late.says(">admins: owner *</textarea>"))
        #expect(try await providers.find()?.roles.isEmpty == true)
        #expect(try await providers.find()?.name == "Example ID")
      }
    }
  }
}
