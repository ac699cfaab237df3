import HTTP
import Identity
import Testing

@testable import Console

/// Phone factors in the console.
@Suite struct PhonePageTests {
  private static let number = "+12025550143"

  /// Adds a phone factor to a user of the tenant, whose address becomes verified.
  private func addPhone(
    _ world: World, _ uid: String = World.chiara, name: String? = "Mobile"
  ) async throws {
    var change = AccountChange()
    change.emailVerified = true
    change.factors = .replace([FactorEntry(displayName: name, phoneNumber: Self.number)])
    try await world.identity.accounts.update(
      try await world.euPool, ID(uid), change, by: Author(actor: .commandLine))
  }

  private func setSMS(_ world: World, _ isOn: Bool) async throws {
    _ = try await world.identity.policies.change(
      try await world.euPool, by: .program(Author(actor: .commandLine))
    ) { edit throws(PolicyError) in edit.configuration.setSMS(isOn) }
  }

  @Test func `a user's page distinguishes apps from phones`() async throws {
    try await World.withSampleData { world in
      try await addPhone(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(page.says("2 factors"))
      #expect(page.says("<span class=\"sub\">TOTP"))
      #expect(page.says("Phone <bdi>\(Self.number)</bdi>"))
      let users = try await world.eu + "/users"
      let list = try await nadia.get(users + "?factor=phone")
      #expect(list.says("chiara") && list.says("Phone (1)") && list.says("TOTP (2)"))
      // The list doesn't show numbers of second factors, so it says why the user was found.
      for path in [users, "/users"] {
        let found = try await nadia.get(path + "?q=2025550143")
        #expect(found.says("chiara") && found.says("Second factor “"))
        #expect(!(try await nadia.get(path + "?q=chiara").says("Second factor “")))
      }
      let ada = try await Browser.signedIn(world)
      let file = try await ada.download(try await world.eu + "/users.csv?factor=phone")
      #expect(file.says("\"TOTP, phone\"") || file.says("TOTP, phone"))
    }
  }

  @Test func `a list without phone numbers says which one matches`() async throws {
    try await World.withSampleData { world in
      var change = AccountChange()
      change.phoneNumber = .set(Self.number)
      try await world.identity.accounts.update(
        try await world.euPool, ID(World.chiara), change, by: Author(actor: .commandLine))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let users = try await world.eu + "/users"
      let reason = "Phone number \(Self.number) matches"
      for path in [users, "/users"] {
        for query in ["2025550143", "202-555-0143"] {
          let found = path + "?q=\(query)"
          let shown = try await nadia.get(found + "&column=&column=phone")
          #expect(shown.says("chiara") && !shown.says(reason))
          let hidden = try await nadia.get(found + "&column=")
          #expect(hidden.says("chiara") && hidden.says(reason))
        }
        #expect(!(try await nadia.get(path + "?q=chiara&column=").says(reason)))
      }
    }
  }

  @Test func `an empty list explains how users enroll phones`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let list = try await nadia.get(try await world.eu + "/users?factor=phone")
      #expect(list.says("Phone (0)"))
      #expect(list.says("if the policy enables SMS"))
    }
  }

  @Test(arguments: ["‮<script>alert(1)</script>", "📱", nil])
  func `support can remove a phone, whatever its name`(name: String?) async throws {
    try await World.withSampleData { world in
      try await addPhone(world, name: name)
      let account = try #require(
        try await world.identity.accounts.find(try await world.euPool, ID(World.chiara)))
      let phone = try #require(account.factors.last)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await nadia.get("\(user)/factors/\(phone.id.text)/removal")
      #expect(page.says(Self.number) && page.says("<dd>Phone</dd>"))
      #expect(page.says("Email isn’t set up. The user won’t be notified."))
      #expect(!page.says("<script>alert"))
      let answer = try await nadia.submit(
        "\(user)/factors/\(phone.id.text)/removal", ["reason": "lost"])
      #expect(answer.location == user)
      let after = try await nadia.get(user)
      #expect(after.says("1 other factor remains.") && !after.says("Phone <bdi>"))
    }
  }

  @Test func `the sign-in simulator shows which factors are required`() async throws {
    try await World.withSampleData { world in
      try await addPhone(world)
      let ada = try await Browser.signedIn(world)
      let address = "/sign-in-simulator?q=chiara.bianchi@example.com"
      let without = try await ada.get(address)
      #expect(without.says("SMS is off: 1 factor isn’t required"))
      try await setSMS(world, true)
      let with = try await ada.get(address)
      #expect(with.says("Mobile") && !with.says("not asked for"))
    }
  }

  @Test func `turning SMS on or off shows who is affected`() async throws {
    try await World.withSampleData { world in
      try await addPhone(world, "u77TnC0aPzQ4hW1sGv9M")
      let ada = try await Browser.signedIn(world)
      let policy = try await world.eu + "/policy"
      #expect(try await ada.get(policy).says("Users can enroll a phone"))
      let home = try await ada.get("/projects?attention=all")
      #expect(home.says("SMS codes are off: 1 user with a phone isn’t asked for codes."))
      #expect(
        try await ada.get(try await world.eu).says(
          "SMS codes are off: 1 user with a phone isn’t asked for codes."))
      let on = try await ada.submit(policy, .policy(sms: "on"))
      #expect(on.says("1 user already has a phone and will be asked for an SMS code"))
      try await setSMS(world, true)
      let off = try await ada.submit(policy, .policy(sms: "off", version: 3))
      #expect(off.says("1 user with a phone will sign in without a second factor."))
    }
  }

  @Test
  func `settings control phone sign-in and whether changes of sign-in require a second factor`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let project = "/projects/acme-retail/settings"
      let page = try await ada.get(project)
      #expect(page.says("id=\"factor-for-changes\""))
      let methods = "/sign-in-methods"
      #expect(try await ada.get(project + methods).says("id=\"phone\""))
      let saved = try await ada.submit(
        project,
        [
          "name": "Acme Retail", "was-name": "Acme Retail", "password": "on", "was-password": "on",
          "phone": "on", "was-factor-for-changes": "on", "privacy": "on", "was-privacy": "on",
          "domains": "localhost", "was-domains": "localhost",
        ])
      #expect(saved.location == project)
      let acme = try await world.identity.pools.existingSettings(project: ID("acme-retail"))
      #expect(acme.signIn.phone && !acme.changesNeedFactor)
      let after = try await ada.get(project)
      #expect(after.says("phone sign-in off → on"))
      #expect(after.says("changes of sign-in require a second factor yes → no"))
      let tenant = try await world.eu + "/settings"
      #expect(!(try await ada.get(tenant + methods).says("id=\"phone\"")))
      let changed = try await ada.submit(
        tenant,
        [
          "name": "eu-shop", "was-name": "eu-shop", "password": "on", "was-password": "on",
          "was-factor-for-changes": "on",
        ])
      #expect(changed.location == tenant)
      let found = try await world.identity.pools.existingSettings(
        project: ID("acme-retail"), tenant: try await world.euShop)
      #expect(!found.changesNeedFactor)
      let tomas = try await Browser.signedIn(world, as: World.iris)
      #expect(try await tomas.get(tenant).says("unrestricted"))
    }
  }
}
