import HTTP
import Identity
import OpenIDConnect
import Testing
import Text

@testable import Console

/// Identity providers in the console.
@Suite struct ProviderPageTests {
  private static let answers: Form = [
    "id": "oidc.acme", "name": "Acme", "issuer": "https://login.example.com",
    "client": "client-1", "keys": World.publicKey, "enabled": "on",
  ]

  private static func answers(_ name: String, _ value: String) -> Form {
    Form(
      answers.entries.map { entry in
        entry.name == UntrustedText(name) ? Form.Entry(name: name, value: value) : entry
      })
  }

  @Test func `a provider is added, changed, and removed`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/settings/providers"
      let added = try await ada.submit(list + "/new", Self.answers)
      #expect(added.location == list)
      let page = try await ada.get(list)
      #expect(page.says("Provider oidc.acme added."))
      #expect(page.says("<span class=\"chip on\">on</span>"))
      let one = list + "/oidc.acme"
      let seen = try #require(try await ada.get(one).value(of: "seen"))
      let changed = try await ada.submit(
        one,
        [
          "seen": seen, "name": "Acme", "issuer": "https://login.example.com",
          "client": "client-1", "keys": "",
        ])
      #expect(changed.location == one)
      let pool = try await world.euPool
      let provider = try await world.identity.identityProviders.find(pool, "oidc.acme")
      #expect(!provider.settings.isEnabled)
      #expect(provider.settings.keys.count == 0)
      #expect(try await ada.get(one).says("sign-in"))
      let removed = try await ada.submit(one + "/removal", [:])
      #expect(removed.location == list)
      #expect(try await ada.get(one).status == .notFound)
      #expect(try await ada.get(one + "/removal").status == .notFound)
    }
  }

  @Test(arguments: [
    ("id", "acme", "id"), ("id", "saml.acme", "id"), ("id", "oidc.staff", "id"),
    ("issuer", "http://login.example.com", "issuer"), ("issuer", "", "issuer"),
    ("client", "", "client"), ("keys", "nonsense", "keys"),
    ("keys", "-----BEGIN PRIVATE KEY-----", "keys"),
    ("name", String(repeating: "n", count: 257), "name"),
  ])
  func `errors are shown next to their fields, and values stay in the form`(
    name: String, value: String, field: String
  ) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/settings/providers"
      let wrong = try await ada.submit(list + "/new", Self.answers(name, value))
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("<title>Error: "))
      #expect(wrong.says("id=\"\(field)-error\""))
      #expect(wrong.says("href=\"#\(field)\""))
      if field != "issuer" { #expect(wrong.says("https://login.example.com")) }
      Markup.check(wrong)
    }
  }

  @Test func `a change to outdated settings isn't saved`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let pool = try await world.euPool
      let one = try await world.eu + "/settings/providers/oidc.staff"
      let seen = try #require(try await ada.get(one).value(of: "seen"))
      world.clock.advance(seconds: 60)
      try await world.identity.identityProviders.update(
        pool, "oidc.staff", by: .program(Author(actor: .commandLine))
      ) { (settings) throws(ProviderError) in settings.clientID = "other" }
      // A form that doesn't say what it showed is refused as well.
      for seen in [seen, ""] {
        let late = try await ada.submit(
          one,
          [
            "seen": seen, "name": "Late", "issuer": "https://a.example", "client": "c", "keys": "",
          ])
        #expect(late.status == .unprocessableContent)
        #expect(late.says("This provider changed while you were editing."))
      }
      let provider = try await world.identity.identityProviders.find(pool, "oidc.staff")
      #expect(provider.settings.clientID == "other")
    }
  }

  @Test func `a SAML provider's name and state can be changed, and the rest is preserved`()
    async throws
  {
    try await World.withSampleData { world in
      var settings = ProviderSettings()
      settings.members = #"""
        {"idpConfig":{"idpEntityId":"e","ssoUrl":"https://sso.example","idpCertificates":[{"x509Certificate":"C"}]},"spConfig":{"spEntityId":"s"}}
        """#
      let pool = try await world.euPool
      try await world.identity.identityProviders.create(
        in: pool, id: "saml.acme", settings, by: .program(Author(actor: .commandLine)))
      let ada = try await Browser.signedIn(world)
      let one = try await world.eu + "/settings/providers/saml.acme"
      let page = try await ada.get(one)
      Markup.check(page)
      #expect(!page.says("name=\"issuer\""))
      let seen = try #require(page.value(of: "seen"))
      let saved = try await ada.submit(one, ["seen": seen, "name": "Acme SAML", "enabled": "on"])
      #expect(saved.location == one)
      let kept = try await world.identity.identityProviders.find(pool, "saml.acme").settings
      #expect(kept.displayName == "Acme SAML" && kept.isEnabled)
      #expect(kept.members == settings.members)
      #expect(try await ada.get(try await world.eu + "/settings/providers").says("stored only"))
    }
  }

  @Test(arguments: HostileTests.names.indices)
  func `hostile values are escaped`(index: Int) async throws {
    let name = HostileTests.names[index]
    try await World.withSampleData { world in
      var settings = ProviderSettings()
      settings.displayName = name.cut(to: Account.longestName)
      settings.issuer = "https://login.example.com/'<script>"
      settings.clientID = "\"><b>"
      try await world.identity.identityProviders.create(
        in: try await world.euPool, id: "oidc.hostile", settings,
        by: .program(Author(actor: .commandLine)))
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/settings/providers"
      for address in [list, list + "/oidc.hostile", list + "/oidc.hostile/removal"] {
        Markup.check(try await ada.get(address))
      }
      let typed = try await ada.submit(
        list + "/new",
        ["id": name, "name": name, "issuer": name, "client": name, "keys": name, "enabled": name])
      #expect(typed.status == .unprocessableContent)
      Markup.check(typed)
    }
  }
}
