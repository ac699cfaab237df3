import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// The settings of a project and of a tenant.
@Suite struct SettingsTests {
  private static let project = "/projects/acme-retail/settings"
  private static let signIn = project + "/sign-in-methods"
  private static let keys = project + "/keys"

  @Test func `only edited settings are changed`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let saved = try await ada.submit(
        Self.project,
        [
          "name": "Acme", "was-name": "Acme Retail", "password": "on", "was-password": "on",
          "anonymous": "on", "privacy": "on", "was-privacy": "on", "was-domains": "localhost",
          "domains": "localhost\r\nApp.Example.com, app.example.com",
        ])
      #expect(saved.location == Self.project)
      let project = try await world.identity.pools.existingSettings(project: ID("acme-retail"))
      #expect(project.displayName == "Acme")
      #expect(project.signIn.password && project.signIn.anonymous && !project.signIn.emailLink)
      #expect(project.project?.authorizedDomains == ["localhost", "app.example.com"])
      #expect(project.hidesUsers)
      // A form opened before the change edits one setting and reverts nothing.
      let late = try await ada.submit(
        Self.project,
        [
          "name": "Acme Retail", "was-name": "Acme Retail", "password": "on", "was-password": "on",
          "was-privacy": "on", "was-domains": "localhost", "domains": "localhost",
        ])
      #expect(late.status == .seeOther)
      let after = try await world.identity.pools.existingSettings(project: ID("acme-retail"))
      #expect(after.displayName == "Acme" && after.signIn.anonymous && !after.hidesUsers)
      #expect(after.project?.authorizedDomains.count == 2)
      let page = try await ada.get(Self.project)
      #expect(page.says("Settings saved."))
      #expect(page.says("email enumeration protection on → off"))
    }
  }

  @Test(arguments: [false, true])
  func `phone sign-in says that no phone receives a code without a gateway`(
    carriesText: Bool
  ) async throws {
    try await World.withSampleData(carriesText: carriesText) { world in
      let page = try await Browser.signedIn(world).get(Self.signIn)
      let hint = "Not available for tenants."
      #expect(page.says(hint + " There is no SMS gateway, so no phone receives") != carriesText)
      #expect(page.says(hint + "</span>") == carriesText)
    }
  }

  @Test func `a password policy is saved, shown, and enforced`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let settings = try await world.filled("{eu}/settings/sign-in-methods")
      let saved = try await ada.submit(
        settings,
        [
          "password": "on", "was-password": "on", "was-password-shortest": "6",
          "password-shortest": "10", "password-enforced": "on",
          "password-uppercase": "on", "password-symbol": "on", "password-uncommon": "on",
          "was-user-sign-up": "on",
          "user-sign-up": "on", "was-user-deletion": "on",
        ])
      #expect(saved.status == .seeOther)
      let tenant = try await world.identity.pools.existingSettings(
        project: ID("acme-retail"), tenant: try await world.euShop)
      #expect(
        tenant.passwords
          == PasswordPolicy(
            isEnforced: true, shortest: 10, classes: [.uppercase, .symbol], refusesCommon: true))
      #expect(tenant.userPermissions == UserPermissions(signUp: true, deletion: false))
      let page = try await ada.get(settings)
      #expect(page.says("Settings saved."))
      let history = try await ada.get(try await world.filled("{eu}/settings"))
      #expect(history.says("minimum password length not set → 10"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(settings)
      #expect(
        read.says(
          """
          at least 10 characters, an uppercase character, a non-alphanumeric character, no common \
          passwords
          """))
      let refused = try await ada.submit(
        try await world.filled("{eu}/new-user"),
        ["email": "new@example.com", "password": "too weak"])
      #expect(refused.status == .unprocessableContent)
      #expect(
        refused.says(
          "Passwords must have: at least 10 characters, an uppercase character, a non-alphanumeric character."
        ))
    }
  }

  @Test func `a password policy can notify instead of being enforced`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let settings = try await world.filled("{eu}/settings/sign-in-methods")
      func save(_ enforcement: String, wasEnforced: Bool, length: String) async throws {
        var form: Form = [
          "password": "on", "was-password": "on", "was-password-shortest": "6",
          "password-shortest": length, "password-enforced": enforcement,
          "was-user-sign-up": "on", "user-sign-up": "on", "was-user-deletion": "on",
          "user-deletion": "on",
        ]
        if wasEnforced { form.add("was-password-enforced", "on") }
        let answer = try await ada.submit(settings, form)
        #expect(answer.status == .seeOther)
      }
      func checked() async throws -> [String] {
        try await ada.get(settings).text.split(separator: "<input ")
          .filter {
            $0.hasPrefix("type=\"radio\"") && $0.contains("name=\"password-enforced\"")
              && $0.prefix { $0 != ">" }.contains(" checked")
          }
          .map { String($0.prefix { $0 != ">" }) }
      }
      try await save("on", wasEnforced: false, length: "10")
      #expect(try await checked().map { $0.contains("id=\"password-enforced\"") } == [true])
      try await save("off", wasEnforced: true, length: "6")
      #expect(try await checked().map { $0.contains("id=\"password-enforced-off\"") } == [true])
      let tenant = try await world.identity.pools.existingSettings(
        project: ID("acme-retail"), tenant: try await world.euShop)
      #expect(tenant.passwords == PasswordPolicy(isEnforced: false, shortest: 10))
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(try await iris.get(settings).says("at least 10 characters, not enforced (Notify)"))
      let accepted = try await ada.submit(
        try await world.filled("{eu}/new-user"),
        ["email": "new@example.com", "password": "too weak"])
      #expect(accepted.status == .seeOther)
    }
  }

  @Test(arguments: ["5", "31", "", "ten", "６", "9999999999999999999999", "-6", "6.5"])
  func `an invalid password length is rejected and stays in the form`(
    typed: String
  ) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let answer = try await ada.submit(
        Self.signIn,
        [
          "was-password-shortest": "6",
          "password-shortest": typed, "password-digit": "on",
        ])
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("Enter a number from 6 to 30."))
      #expect(answer.text.contains("value=\"\(typed)\""))
      let project = try await world.identity.pools.existingSettings(project: ID("acme-retail"))
      #expect(project.passwords == nil)
    }
  }

  @Test func `concurrent changes to the authorized domains are merged`() async throws {
    try await World.withSampleData { world in
      let page = Self.project
      let ada = try await Browser.signedIn(world)
      func domains(_ was: [String], _ now: [String]) async throws -> [String] {
        let answer = try await ada.submit(
          page,
          [
            "name": "Acme Retail", "was-name": "Acme Retail", "password": "on",
            "was-password": "on", "was-domains": was.joined(separator: "\n"),
            "domains": now.joined(separator: "\n"),
          ])
        #expect(answer.status == .seeOther)
        return try await world.identity.pools.existingSettings(project: ID("acme-retail"))
          .project?.authorizedDomains ?? []
      }
      let start = ["localhost", "old.example.com", "stolen.example.com"]
      #expect(try await domains(["localhost"], start) == start)
      // One form removes a domain; another, opened before, adds one and removes a third.
      #expect(try await domains(start, ["localhost", "old.example.com"]).count == 2)
      let late = ["localhost", "stolen.example.com", "new.example.com"]
      #expect(try await domains(start, late) == ["localhost", "new.example.com"])
      // A domain that both add is stored once.
      #expect(
        try await domains(["localhost"], ["localhost", "new.example.com"])
          == ["localhost", "new.example.com"])
    }
  }

  @Test func `errors are shown next to their fields, and values stay in the form`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let wrong = try await ada.submit(
        Self.project,
        [
          "name": "Acme Retail", "was-name": "Acme Retail", "was-domains": "localhost",
          "domains": "localhost\nhttps://app.example.com", "password": "on", "was-password": "on",
        ])
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("https://app.example.com isn’t a valid hostname"))
      #expect(wrong.says("localhost\nhttps://app.example.com</textarea>"))
      Markup.check(wrong)
      let tenant = try await world.eu + "/settings"
      let name = try await ada.submit(tenant, ["name": "1", "was-name": "eu-shop"])
      #expect(name.status == .unprocessableContent)
      #expect(name.says("id=\"name-error\""))
      let same = try await ada.submit(tenant, ["name": "eu-shop", "was-name": "eu-shop"])
      #expect(same.status == .ok && same.says("These settings are already in effect."))
    }
  }

  @Test func `sign-in can be turned off and on for a whole pool`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let page = try await world.eu + "/settings/sign-in"
      #expect(try await tomas.get(page).says("This affects 4 users."))
      let off = try await tomas.submit(page, [:], to: page + "/disabling")
      #expect(off.status == .seeOther)
      #expect(try await world.euPool.isDisabled)
      #expect(try await tomas.get(try await world.eu).says("Turn on sign-in…"))
      _ = try await tomas.submit(page, [:], to: page + "/enabling")
      #expect(try await !world.euPool.isDisabled)
    }
  }

  @Test func `API keys are created and revoked, with a warning for the last one`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let keys = world.identity.apiKeys
      let first = try #require(try await keys.list(ID("acme-retail")).first)
      let address = "\(Self.project)/keys/\(first.id.text)/revocation"
      #expect(try await ada.get(address).says("the only key of this project"))
      _ = try await ada.submit(Self.keys, [:])
      #expect(try await keys.list(ID("acme-retail")).count == 2)
      #expect(!(try await ada.get(address).says("the only key of this project")))
      #expect(try await ada.submit(address, [:]).location == Self.keys)
      #expect(try await keys.project(for: first.text) == nil)
      #expect(try await ada.get(address).status == .notFound)
      let foreign = "/projects/globex/settings/keys/\(first.id.text)/revocation"
      #expect(try await ada.get(foreign).status == .notFound)
    }
  }

  @Test func `a token is shown once and has no more permissions than its creator`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let new = try await world.eu + "/settings/tokens/new"
      let form = try await tomas.get(new)
      #expect(form.says("value=\"policy\"") && !form.says("value=\"application\""))
      let beyond = try await tomas.submit(new, ["name": "x", "role": "owner"])
      #expect(beyond.status == .unprocessableContent)
      #expect(beyond.says("A token can’t have more permissions than its creator"))
      #expect(try await tomas.submit(new, ["name": "x"]).says("Select a role."))
      let created = try await tomas.submit(new, ["name": "<deploy>", "role": "policy"])
      #expect(created.status == .ok)
      #expect(created.response.fields[.cacheControl] == "no-store")
      #expect(created.says(">I’ve saved the token</a>"))
      let text = try #require(created.text.firstMatch(of: /cst_[A-Za-z0-9_-]{43}/)?.output)
      let token = try #require(try await world.identity.serviceTokens.find(Secret(String(text))))
      #expect(try await token.tenant == world.euShop)
      let list = try await tomas.get(try await world.eu + "/settings/keys")
      #expect(list.says("&lt;deploy&gt;") && !list.says(String(text)))
      let us = "/projects/acme-retail/tenants/\(try await world.tenantID("us-shop").text)"
      let elsewhere = "\(us)/settings/tokens/\(token.id.text)/revocation"
      #expect(try await tomas.get(elsewhere).status == .notFound)
      let revocation = try await world.eu + "/settings/tokens/\(token.id.text)/revocation"
      #expect(try await tomas.submit(revocation, [:]).status == .seeOther)
      #expect(try await world.identity.serviceTokens.find(Secret(String(text))) == nil)
    }
  }

  @Test func `all revoked tokens are counted, and the newest 20 are listed`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let tokens = world.identity.serviceTokens
      for number in 1...21 {
        world.clock.advance(seconds: 1)
        let (token, _) = try await tokens.create(
          project: ID("acme-retail"), tenant: nil, role: .support, name: "old-\(number)",
          by: .program(Author(actor: .commandLine))
        ).value
        try await tokens.revoke(
          token.id, of: token.project, by: .program(Author(actor: .commandLine)))
        guard number >= 20 else { continue }
        let page = try await ada.get(Self.keys)
        Markup.check(page)
        #expect(page.says("<summary>\(number) revoked tokens</summary>"))
        #expect(page.says("Showing the newest 20.") == (number == 21))
        #expect(page.says("<bdi>old-1</bdi>") == (number == 20))
        #expect(page.says("<bdi>old-\(number)</bdi>"))
      }
    }
  }

  @Test func `each key and token links to its history`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let tenant = try await world.eu + "/settings"
      for (page, name) in [(Self.project, "of-project"), (tenant, "of-tenant")] {
        _ = try await ada.submit(page + "/tokens/new", ["name": name, "role": "support"])
      }
      let revoked = try #require(
        try await world.identity.serviceTokens.list(ID("acme-retail"), tenant: world.euShop).first)
      _ = try await ada.submit(tenant + "/tokens/\(revoked.id.text)/revocation", [:])
      _ = try await ada.submit(Self.keys, [:])
      let page = try await ada.get(Self.keys)
      #expect(page.text.split(separator: "History<span class=\"visually-hidden\"> of").count == 5)
      let links = page.values(of: "href").filter { $0.contains("object=") }
      // The first key was created with its project, in one entry.
      #expect(links.contains { $0.hasSuffix("kind=project&object=acme-retail") })
      #expect(links.count(where: { $0.contains("kind=api%20key") }) == 1)
      #expect(links.count(where: { $0.contains("kind=service%20token") }) == 2)
      for link in links {
        let log = try await ada.get(link)
        #expect(log.says(" created</span>") || log.says("API key created"), "\(link)")
        #expect(
          log.says("<span class=\"who\">Service token revoked") == link.contains(revoked.id.text))
      }
      // Roles that can't read the audit log don't see links to it.
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      _ = try await tomas.submit(tenant + "/tokens/new", ["name": "mine", "role": "policy"])
      let own = try await tomas.get(tenant + "/keys")
      #expect(own.says("mine") && !own.says("object="))
    }
  }

  @Test func `deleting a project requires typing its name and removes its pages`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = Self.project + "/deletion"
      let page = try await ada.get(address)
      #expect(page.says("4 users, 2 of them with a second factor") && page.says("3 tenants"))
      let wrong = try await ada.submit(address, ["confirmation": "Acme"])
      #expect(wrong.status == .unprocessableContent)
      let eu = try await world.eu
      let gone = try await ada.submit(address, ["confirmation": "Acme Retail"])
      #expect(gone.location == "/projects")
      for path in ["/projects/acme-retail", eu, eu + "/users", Self.project] {
        #expect(try await ada.get(path).status == .notFound, "\(path)")
      }
      let home = try await ada.get("/projects")
      #expect(!home.says("/projects/acme-retail") && home.says("Globex"))
      #expect(try await ada.get("/audit").says("Project deleted"))
      let again = try await ada.submit("/projects/new", ["name": "A", "id": "acme-retail"])
      #expect(again.status == .unprocessableContent)
    }
  }

  @Test func `deleting a tenant requires permission in its project`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let eu = try await world.eu
      let address = eu + "/settings/deletion"
      #expect(try await tomas.get(eu + "/settings").values(of: "href").contains(address))
      let gone = try await tomas.submit(address, ["confirmation": "eu-shop"])
      #expect(gone.location == "/projects/acme-retail/tenants")
      #expect(try await tomas.get(eu).status == .notFound)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get(eu).status == .notFound)
    }
  }

  @Test func `a tenant inherits email enumeration protection until it sets its own`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let settings = try await world.filled("{eu}/settings/sign-in-methods")
      let tenant = try await world.euShop
      let pool = try await world.identity.pools.find(project: ID("acme-retail"), tenant: tenant)
      func save(_ fields: [(String, String)]) async throws {
        let saved = try await ada.submit(
          settings,
          Form(
            ([("was-password-shortest", "6"), ("password-shortest", "6")] + fields).map {
              Form.Entry(name: $0.0, value: $0.1)
            }))
        #expect(saved.status == .seeOther)
      }
      #expect(try await ada.get(settings).text.contains(#"name="was-privacy" value="on""#))
      _ = try await world.identity.pools.update(
        project: ID("acme-retail"), by: .program(Author(actor: .commandLine))
      ) { $0.emailPrivacy = false }
      #expect(try await !world.identity.pools.hidesUsers(pool))
      #expect(try await ada.get(settings).text.contains(#"name="was-privacy" value="off""#))
      try await save([("privacy", "on")])
      #expect(try await world.identity.pools.hidesUsers(pool))
      try await save([("was-privacy", "on")])
      let edit = try await world.identity.pools.existingSettings(
        project: ID("acme-retail"), tenant: tenant
      )
      .edit
      #expect(edit.emailPrivacy == false)
    }
  }
}
