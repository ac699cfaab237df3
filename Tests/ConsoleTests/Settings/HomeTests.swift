import HTTP
import Identity
import Testing

@testable import Console

/// The warnings on the home page and the overview.
@Suite struct HomeTests {
  @Test func `the home page lists what needs attention, with links to fix it`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let home = try await ada.get("/projects")
      let us = "/projects/acme-retail/tenants/\(try await world.tenantID("us-shop").text)"
      let links = home.values(of: "href")
      for link in [
        us + "/policy", "/projects/acme-retail/review?show=differs",
        "/projects/acme-retail/policy?change=on", "/projects/acme-retail/tenants/new",
        "/projects/acme-retail/review", "/projects?attention=all#attention",
      ] {
        #expect(links.contains(link), "\(link)")
      }
      #expect(home.says("TOTP state is unset (treated as enabled)."))
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get("/projects")
      #expect(!read.says("change=on") && !read.says("change=project") && !read.says("tenants/new"))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(!(try await nadia.get("/projects").says("us-shop")))
    }
  }

  @Test func `the worst and newest items are shown first, each once, and the others on demand`()
    async throws
  {
    try await World.withSampleData { world in
      let (pools, author) = (world.identity.pools, Author(actor: .commandLine))
      for number in 10..<18 {
        _ = try await pools.createProject(
          id: "aaa-\(number)", displayName: "A\(number)", by: .program(author))
        _ = try await pools.createTenant(
          in: ID("aaa-\(number)"),
          PoolEdit(
            displayName: "Tenant",
            configuration: MFAConfiguration(
              totp: TOTPConfiguration(state: .enabled, adjacentIntervals: 9))), by: .program(author)
        )
      }
      _ = try await world.identity.policies.change(try await world.euPool, by: .program(author)) {
        edit throws(PolicyError) in edit.configuration.totp = nil
      }
      let ada = try await Browser.signedIn(world)
      func items(_ page: Answer) -> [Substring] {
        let list = page.text.split(separator: "<ul class=\"alerts\">").dropFirst().first ?? ""
        return list.prefix(upTo: list.firstRange(of: "</ul>")?.lowerBound ?? list.endIndex)
          .split(separator: "<li>").filter { $0.contains("class=\"mk") }
      }
      let first = try await ada.get("/projects")
      #expect(items(first).count == 5 && first.says("View all"))
      #expect(items(first).first?.contains("Warning") == true)
      let all = try await ada.get("/projects?attention=all")
      #expect(items(all).count > 8 && !all.says("View all"))
      #expect(Set(items(all)).count == items(all).count)
      #expect(
        items(all).map { $0.contains("Notice") ? 1 : 0 }
          == items(all).map {
            $0.contains("Notice") ? 1 : 0
          }.sorted())
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await !nadia.get("/projects").says("TOTP is off"), "agents can't change it")
    }
  }

  @Test func `the home page warns once about a pool where TOTP was turned off`() async throws {
    try await World.withSampleData { world in
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { edit throws(PolicyError) in edit.configuration.totp = nil }
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      let home = try await ada.get("/projects")
      #expect(home.says("Policy weakened: TOTP is off. "))
      #expect(!home.says("TOTP is off: 2 users"), "the same item again")
      #expect(home.values(of: "href").contains(eu + "/policy?change=on"))
      #expect(try await ada.get(eu).says("TOTP is off: 2 users with a factor"))
      let tenants = try await ada.get("/projects/acme-retail/tenants")
      #expect(tenants.values(of: "href").contains(eu + "/policy?change=on"))
    }
  }

  @Test func `the overview warns about a wide window, an old policy, and unsupported methods`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        edit throws(PolicyError) in
        edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 8)
      }
      _ = try await world.identity.pools.update(
        project: pool.project, tenant: try await world.euShop,
        by: .program(Author(actor: .commandLine))
      ) { edit throws(PoolError) in
        edit.signIn = SignInMethods(password: false, emailLink: false, anonymous: true)
      }
      world.clock.advance(seconds: 400 * 86_400)
      let page = try await Browser.signedIn(world).get(try await world.eu)
      #expect(page.says("17 valid codes at any moment, each for 8\u{A0}min 30\u{A0}s"))
      #expect(page.says("in more than a year"))
      // The provider of eu-shop supports a second factor, as a password does.
      #expect(!page.says("users can’t enroll") && page.says("anonymous, oidc.staff"))
      #expect(page.says("/users?state=unverified"))
    }
  }

  @Test func `enabled identity providers are methods that support a second factor`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let author = Author(actor: .commandLine)
      func set(_ methods: SignInMethods) async throws {
        _ = try await world.identity.pools.update(
          project: pool.project, tenant: try await world.euShop, by: .program(author)
        ) { edit throws(PoolError) in edit.signIn = methods }
      }
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      try await set(SignInMethods(password: false, emailLink: false, anonymous: true))
      let refused = "No password, email link, or identity provider sign-in is enabled"
      #expect(try await ada.get(eu + "/policy").says(refused) == false)
      _ = try await world.identity.identityProviders.update(
        pool, "oidc.staff", by: .program(author)
      ) {
        $0.isEnabled = false
      }
      let without = try await ada.get(eu)
      #expect(without.says("don’t support a second factor are enabled (anonymous)"))
      #expect(try await ada.get(eu + "/policy").says(refused))
      // SAML providers are stored for API clients, but don't sign users in.
      var saml = ProviderSettings()
      saml.isEnabled = true
      saml.members =
        #"{"idpConfig":{"idpEntityId":"i","ssoUrl":"https://a.example","#
        + #""idpCertificates":[{"x509Certificate":"C"}]},"spConfig":{"spEntityId":"s"}}"#
      _ = try await world.identity.identityProviders.create(
        in: pool, id: "saml.staff", saml, by: .program(author))
      try await set(SignInMethods(password: false, emailLink: false, anonymous: false))
      #expect(try await ada.get(eu).says("No sign-in method is enabled, so users can’t enroll."))
      #expect(try await ada.get(eu + "/policy").says(refused))
    }
  }

  @Test func `each token verification sample rejects tokens of other user pools`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let tenant = try await world.euShop.text
      for (path, script, python, go) in [
        (try await world.eu, "\"\(tenant)\"", "\"\(tenant)\"", "\"\(tenant)\""),
        ("/projects/acme-retail", "undefined", "None", "\"\""),
      ] {
        let overview = try await ada.get(path).text.replacing("&quot;", with: "\"")
          .replacing("&amp;", with: "&")
        for line in [
          "if (payload.firebase.tenant !== \(script))",
          "if claims[\"firebase\"].get(\"tenant\") != \(python):",
          "if err == nil && claims.Firebase.Tenant != \(go) {",
        ] {
          #expect(overview.contains(line), "\(path): \(line)")
        }
      }
    }
  }

  @Test(arguments: HostileTests.names.indices)
  func `hostile names are escaped in settings, keys, and tokens`(index: Int) async throws {
    let name = String(HostileTests.names[index].prefix(100))
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await world.identity.pools.update(
        project: ID("globex"), by: .program(Author(actor: .commandLine))
      ) {
        edit throws(PoolError) in edit.displayName = name
      }
      let base = "/projects/globex/settings"
      let created = try await ada.submit(base + "/tokens/new", ["name": name, "role": "support"])
      Markup.check(created)
      let all = try await world.identity.serviceTokens.list(ID("globex"))
      let token = try #require(all.first).id.text
      for path in [
        "/projects", "/projects/globex", base, base + "/sign-in-methods", base + "/sign-in",
        base + "/keys", base + "/deletion",
        base + "/tokens/\(token)/revocation",
      ] {
        let answer = try await ada.get(path)
        #expect(answer.status == .ok, "\(path)")
        Markup.check(answer)
      }
      let typed: Form = [
        "name": name, "was-name": "x", "was-domains": "", "domains": name, "password": name,
      ]
      let answer = try await ada.submit(base, typed)
      if answer.status != .seeOther { Markup.check(answer) }
      Markup.check(try await ada.submit(base + "/deletion", ["confirmation": name + "x"]))
    }
  }

  @Test(arguments: [
    ("plain", "\"plain\"", "\"plain\"", "\"plain\""),
    ("a\"b\\c", #""a\"b\\c""#, #""a\"b\\c""#, #""a\"b\\c""#),
    ("$x\u{202E}\n", #""$x\u202e\u000a""#, #""\$x\u202e\u000a""#, #""$x\u{202e}\u{a}""#),
    (
      "x'$(touch /tmp/p)'", #""x\u0027$(touch /tmp/p)\u0027""#,
      #""x\u0027\$(touch /tmp/p)\u0027""#, #""x\u{27}$(touch /tmp/p)\u{27}""#
    ),
    ("\\(1)</script>", #""\\(1)</script>""#, #""\\(1)</script>""#, #""\\(1)</script>""#),
  ])
  func `a value is quoted as a literal of the sample's language`(
    text: String, script: String, kotlin: String, swift: String
  ) {
    #expect(Quoted.script(text) == script)
    #expect(Quoted.kotlin(text) == kotlin)
    #expect(Quoted.swift(text) == swift)
  }
}
