import Database
import HTTP
import Identity
import Testing

@testable import Console

/// An owner's session without a recent re-authentication, such as one with a stolen cookie.
@Suite struct ReauthenticationPageTests {
  /// A complete form of an action, and the audit row that it would create.
  private struct Attempt {
    let action: ConsoleAction
    let address: String
    let form: Form
    let row: AuditAction
  }

  private func attempts(_ world: World) async throws -> [Attempt] {
    let (eu, us) = (try await world.eu, try await world.tenantID("us-shop").text)
    let sandbox = try await world.tenantID("sandbox").text
    let settings = "/projects/acme-retail/settings"
    let key = try await world.identity.apiKeys.list(ID("acme-retail")).first?.id.text ?? ""
    let chiara = try #require(
      try await world.identity.accounts.find(try await world.euPool, ID("kT9w2mQxZ0PbV7yL3c8R")))
    var linked = AccountChange()
    linked.link = ProviderLink(provider: "oidc.staff", rawID: "chiara")
    try await world.identity.accounts.update(
      try await world.euPool, chiara.id, linked, by: Author(actor: .commandLine))
    try await world.addMessage(for: chiara, in: try await world.euPool)
    let message = try #require(
      try await world.identity.messages.list(try await world.euPool).items.first)
    _ = try await world.identity.pools.update(
      project: ID("acme-retail"), tenant: ID(us), by: .program(Author(actor: .commandLine))
    ) { edit throws(PoolError) in edit.disableAuth = true }
    let (iris, nadia, tomas) = (
      try await world.id(of: World.iris), try await world.id(of: World.nadia),
      try await world.id(of: World.tomas)
    )
    let version = try await world.identity.policies.read(try await world.euPool).version
    let staff = try await world.identity.identityProviders.find(
      try await world.euPool, "oidc.staff")
    let provider: Form = [
      "name": "Other", "issuer": "https://login.acme.example", "client": "c",
      "keys": World.publicKey, "enabled": "on",
    ]
    var (newProvider, changedProvider) = (provider, provider)
    newProvider.add("id", "oidc.new")
    changedProvider.add("seen", String(staff.changedAt.microseconds))
    return [
      Attempt(
        action: .openMessage, address: "\(eu)/messages/\(message.id)/text", form: [:],
        row: .messageRead),
      Attempt(
        action: .inviteAdministrator, address: "/administrators/new",
        form: ["email": "new@example.com", "name": "New", "role": "owner", "place": "*"],
        row: .administratorInvite),
      Attempt(
        action: .grantRole, address: "/administrators/\(iris)/grants",
        form: ["role": "policy", "place": "*"], row: .administratorGrant),
      Attempt(
        action: .revokeRole, address: "/administrators/\(iris)/grants/removal",
        form: ["role": "auditor", "project": "*", "tenant": ""], row: .administratorRevoke),
      Attempt(
        action: .resetAdministratorFactor, address: "/administrators/\(tomas)/factor-reset",
        form: ["confirmation": World.tomas, "note": "Lost the phone"],
        row: .administratorResetFactor),
      Attempt(
        action: .removeAdministrator, address: "/administrators/\(nadia)/removal",
        form: ["confirmation": World.nadia], row: .administratorRemove),
      Attempt(
        action: .createAPIKey, address: "\(settings)/keys", form: ["confirmed": "yes"],
        row: .apiKeyCreate),
      Attempt(
        action: .revokeAPIKey, address: "\(settings)/keys/\(key)/revocation", form: [:],
        row: .apiKeyRevoke),
      Attempt(
        action: .createServiceToken, address: "\(eu)/settings/tokens/new",
        form: ["name": "Script", "role": "owner"], row: .serviceTokenCreate),
      Attempt(
        action: .registerTokenSigningKey, address: "\(settings)/custom-token-keys/new",
        form: ["issuer": "evil@acme.example", "key": World.publicKey, "key-id": ""],
        row: .trustedTokenKeyAdd),
      Attempt(
        action: .revokeTokenSigningKey,
        address: "\(settings)/custom-token-keys/\(try await world.signer())/revocation", form: [:],
        row: .trustedTokenKeyRevoke),
      Attempt(
        action: .addIdentityProvider, address: "\(eu)/settings/providers/new", form: newProvider,
        row: .providerCreate),
      Attempt(
        action: .changeIdentityProvider, address: "\(eu)/settings/providers/oidc.staff",
        form: changedProvider, row: .providerChange),
      Attempt(
        action: .removeIdentityProvider, address: "\(eu)/settings/providers/oidc.new/removal",
        form: [:], row: .providerDelete),
      Attempt(
        action: .narrowSignIn, address: "\(eu)/settings/sign-in-methods",
        form: ["was-password": "on", "note": "They use the provider."], row: .tenantChange),
      Attempt(
        action: .narrowProvider, address: "\(eu)/settings/providers/oidc.staff/removal",
        form: ["note": "The provider is closed."], row: .providerDelete),
      Attempt(
        action: .exportUsers, address: "\(eu)/users.csv?factor=totp", form: ["confirmed": "yes"],
        row: .accountDownload),
      Attempt(
        action: .weakenSettings, address: "\(eu)/settings/sign-in-methods",
        form: ["was-password": "on", "password": "on", "anonymous": "on"], row: .tenantChange),
      Attempt(
        action: .enableSignIn,
        address: "/projects/acme-retail/tenants/\(us)/settings/sign-in/enabling",
        form: [:], row: .tenantChange),
      Attempt(
        action: .weakenPolicy, address: "\(eu)/policy/changes",
        form: [
          "version": String(version), "totp": "on",
          "intervals": "10", "sms": "off", "pattern": "account", "from": "",
          "note": "Clocks are off.",
        ], row: .policyWiden),
      Attempt(
        action: .deleteTenant,
        address: "/projects/acme-retail/tenants/\(sandbox)/settings/deletion",
        form: ["confirmation": "sandbox"], row: .tenantDelete),
      Attempt(
        action: .deleteProject, address: "/projects/globex/settings/deletion",
        form: ["confirmation": "Globex"], row: .projectDelete),
    ]
  }

  @Test func `C4: actions that require re-authentication are refused until a code is entered`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      _ = try await world.authenticator(of: World.tomas)
      let attempts = try await attempts(world)
      let needing = ConsoleAction.allCases.filter { $0.requirements.reauthentication == .recent }
      #expect(Set(attempts.map(\.action)) == Set(needing))
      let csrf = try await ada.get("/projects").csrf
      for attempt in attempts {
        world.clock.advance(seconds: 900)
        var form = attempt.form
        form.add("csrf", csrf)
        let before = try await world.auditedActions()
        let asked = try await ada.post(attempt.address, form)
        #expect(asked.status == .unprocessableContent, "\(attempt.action)")
        #expect(asked.says("Code from your authenticator app"), "\(attempt.action)")
        #expect(asked.values(of: "href").contains("#code"), "\(attempt.action)")
        Markup.check(asked)
        #expect(try await world.auditedActions() == before, "\(attempt.action)")
        var wrong = form
        wrong.add("code", "000000")
        #expect(try await ada.post(attempt.address, wrong).status == .unprocessableContent)
        #expect(
          try await world.auditedActions() == before + [.administratorCodeRefused],
          "\(attempt.action)")
        var right = form
        right.add("code", try world.code(of: app))
        let done = try await ada.post(attempt.address, right)
        #expect([200, 303].contains(done.status.code), "\(attempt.action): \(done.status)")
        let after = try await world.auditedActions().dropFirst(before.count + 1)
        #expect(after.first == .administratorStepUp, "\(attempt.action)")
        #expect(after.contains(attempt.row), "\(attempt.action): \(after)")
        #expect(
          !(try await ada.get("/administrators/new")).says("Code from your authenticator app"))
      }
    }
  }

  @Test func `a form with a single button asks for the code first, without an error`() async throws
  {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      world.clock.advance(seconds: 900)
      let eu = try await world.eu
      let csrf = try await ada.get("/projects").csrf
      for (address, button) in [
        ("/projects/acme-retail/settings/keys", "Create API key"),
        ("\(eu)/users.csv?factor=totp", "Download as CSV"),
      ] {
        let asked = try await ada.post(address, ["csrf": csrf])
        #expect(asked.status == .ok && asked.says(button))
        #expect(asked.says("id=\"code\"") && !asked.says("id=\"code-error\""))
        #expect(asked.values(of: "action").contains(address))
        Markup.check(asked)
      }
      let code = try world.code(of: app)
      let file = try await ada.post(
        "\(eu)/users.csv?factor=totp", ["csrf": csrf, "confirmed": "yes", "code": code])
      #expect(file.response.fields[.contentType]?.hasPrefix("text/csv") == true)
      #expect(file.says("chiara.bianchi@example.com") && !file.says("jo@example.com"))
    }
  }

  @Test func `the form keeps its values and shows all errors along with the missing code`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      world.clock.advance(seconds: 900)
      let code = try world.code(of: app)
      let form: Form = [
        "email": "x", "name": "Newman", "role": "owner", "place": "*", "code": code,
      ]
      let wrong = try await ada.submit("/administrators/new", form)
      #expect(
        wrong.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" }
          == ["#email", "#code"])
      #expect(wrong.says("value=\"Newman\"") && !wrong.says(code))
      let right = try await ada.submit(
        "/administrators/new",
        ["email": "new@example.com", "name": "Newman", "role": "owner", "place": "*", "code": code])
      #expect(right.status == .ok && right.says("new@example.com"))
    }
  }

  @Test
  func `without a second factor, a recent sign-in is enough and an older one requires setup`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = Browser(world)
      _ = try await ada.givePassword()
      let form: Form = ["name": "Script", "role": "owner"]
      let address = "/projects/acme-retail/settings/tokens/new"
      #expect(try await ada.submit(address, form).status == .ok)
      world.clock.advance(seconds: 900)
      let page = try await ada.get(address)
      #expect(page.says("id=\"reauthentication\"") && !page.says("Create token"))
      #expect(
        page.values(of: "href").contains(ReturnAddress.of("/account/totp", backTo: address)))
      Markup.check(page)
      let before = try await world.auditedActions()
      let refused = try await ada.submit(address, form)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.values(of: "href").contains("#reauthentication"))
      Markup.check(refused)
      #expect(try await world.auditedActions() == before)
    }
  }

  @Test func `a change that weakens nothing requires no re-authentication`() async throws {
    try await World.withSampleData { world in
      let (tomas, _) = try await Browser.withApp(world, as: World.tomas)
      world.clock.advance(seconds: 900)
      let eu = try await world.eu
      let version = try await world.identity.policies.read(try await world.euPool).version
      let narrower = try await tomas.save(
        "\(eu)/policy",
        [
          "version": String(version), "totp": "on",
          "intervals": "1", "sms": "off", "pattern": "account", "from": "",
        ])
      #expect(narrower.status == .seeOther)
      let renamed = try await tomas.submit(
        "\(eu)/settings",
        ["was-name": "eu-shop", "name": "eu-shops", "was-password": "on", "password": "on"])
      #expect(renamed.status == .seeOther)
    }
  }

  @Test func `revoking an invitation or a role requires confirmation`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let link = try await world.invitation("new@example.com", Grant(role: .auditor))
      let list = try await ada.get("/administrators")
      let removal = try #require(
        list.values(of: "href").first { $0.hasPrefix("/invitations/") })
      #expect(!list.values(of: "action").contains(removal))
      let question = try await ada.get(removal)
      try Snapshot.check(question.text, named: "invitation-revocation.html")
      Markup.check(question)
      #expect(try await Browser(world).get(link).status == .ok)
      #expect(try await ada.submit(removal, [:]).location == "/administrators")
      #expect(try await Browser(world).get(link).status == .notFound)
      let iris = "/administrators/\(try await world.id(of: World.iris))"
      let role = try #require(
        try await ada.get(iris).values(of: "href").first { $0.contains("/grants/removal") })
      #expect(role == "\(iris)/grants/removal?role=auditor&project=%2A")
      let asked = try await ada.get(role)
      try Snapshot.check(asked.text, named: "role-revocation.html")
      Markup.check(asked)
      #expect(asked.says("This is their only role."))
      #expect(try await ada.get("\(iris)/grants/removal?role=owner&project=%2A").location == iris)
      let done = try await ada.submit(
        role, ["role": "auditor", "project": "*", "tenant": ""], to: "\(iris)/grants/removal")
      #expect(done.location == iris)
    }
  }

  @Test func `the first owner can create a project, a key, and a token right after setup`()
    async throws
  {
    try await World.empty { world in
      let browser = Browser(world)
      let form = try await browser.get("/setup")
      let done = try await browser.post(
        "/setup",
        [
          "csrf": try form.csrf, "code": world.setupCode, "email": World.ada, "name": "Ada",
          "password": World.password,
        ])
      #expect(done.status == .seeOther)
      let project = try await browser.submit(
        "/projects/new", ["name": "First", "id": "first-project"])
      #expect(project.location == "/projects/first-project")
      let key = try await browser.submit(
        "/projects/first-project/settings/keys", [:])
      #expect(key.location == "/projects/first-project/settings/keys")
      #expect(try await world.identity.apiKeys.list(ID("first-project")).count == 2)
      let token = try await browser.submit(
        "/projects/first-project/settings/tokens/new", ["name": "Script", "role": "owner"])
      #expect(token.status == .ok && token.says("cst_"))
    }
  }
}

extension World {
  /// All audited actions, oldest first.
  func auditedActions() async throws -> [AuditAction] {
    try await database.read { connection in
      try connection.all("SELECT action FROM audit ORDER BY audit_id") {
        try #require(AuditAction(rawValue: try $0.next()))
      }
    }
  }
}
