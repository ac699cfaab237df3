import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// Access to pages, and the responses when it's denied.
@Suite struct AccessTests {
  @Test func `only these routes need no session`() async throws {
    try await World.empty { world in
      let open = world.console.routes.filter { $0.access == .open }.map(\.route.description)
      #expect(
        open == [
          "GET /__/auth/enroll", "POST /__/auth/enroll",
          "GET /guides", "GET /guides/{String}", "GET /guides/{String}/build",
          "GET /guides/{String}/operate",
          "GET /invitation", "POST /invitation", "GET /setup", "POST /setup",
          "GET /__/auth/action", "POST /__/auth/action",
          "GET /__/auth/links", "GET /__/auth/not-me", "POST /__/auth/not-me",
          "GET /sign-in/provider", "GET /sign-in/provider/callback",
          "GET /sign-in", "POST /sign-in", "GET /sign-in/code", "POST /sign-in/code",
          "GET /sign-in/passkey", "POST /sign-in/passkey", "GET /sign-in/code/passkey",
          "POST /sign-in/code/passkey",
        ])
    }
  }

  @Test func `no two routes match the same path`() async throws {
    try await World.empty { world in
      let routes = world.console.routes.map(\.route)
      let intended: Set = [
        "/projects/new", "/projects/{String}/tenants/new", "/administrators/new",
        // Administrators and passkeys have UUIDs.
        "/administrators/passkeys", "/administrators/session-limits", "/account/passkeys/new",
        "/administrators/sign-in-provider", "/administrators/sign-in-provider/removal",
        // Provider IDs begin with their protocol, so none is “new”.
        "/projects/{String}/settings/providers/new",
        "/projects/{String}/tenants/{String}/settings/providers/new",
      ]
      for (index, one) in routes.enumerated() {
        for other in routes[(index + 1)...]
        where one.method == other.method && one.overlaps(other) {
          #expect(
            intended.contains(one.pattern) || intended.contains(other.pattern), "\(one), \(other)")
        }
      }
    }
  }

  @Test func `a signed-out visitor signs in and then sees the requested page`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let asked = try await world.eu + "/users?q=chi"
      let away = try await browser.get(asked)
      #expect(away.status == .seeOther)
      let signIn = try #require(away.location)
      #expect(signIn.hasPrefix("/sign-in?next=%2Fprojects%2Facme-retail%2F"))
      let page = try await browser.get(signIn)
      let back = try await browser.post(
        "/sign-in",
        [
          "csrf": try page.csrf, "next": asked, "email": World.ada, "password": World.password,
        ])
      #expect(back.location == asked)
      #expect(try await browser.get(asked).status == .ok)
    }
  }

  @Test func `every private route redirects signed-out visitors to sign in`() async throws {
    try await World.withSampleData { world in
      for route in world.console.routes where route.access != .open {
        let address = route.route.pattern.replacing("{String}", with: "x")
        let answer = try await Browser(world).send(
          route.route.method, address, form: [:],
          fields: [.origin: world.origin, .secFetchSite: "same-origin"])
        #expect(answer.status == .seeOther, "\(route.route)")
        #expect(answer.location?.hasPrefix("/sign-in") == true, "\(route.route)")
      }
    }
  }

  @Test(arguments: [
    "//evil.example/", "https://evil.example/", "/\\evil.example", "/%5Cevil.example/",
    "javascript:1",
    "/sign-out", "/nowhere", "/projects/x/../../..//evil", "", "/\t/evil.example",
  ])
  func `sign-in never redirects to another site`(next: String) async throws {
    try await World.withSampleData { world in
      let answer = try await Browser(world).submit(
        "/sign-in", ["next": next, "email": World.ada, "password": World.password])
      #expect(answer.location == "/")
    }
  }

  @Test func `an inaccessible page gets the same response as a nonexistent one`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let us = "/projects/acme-retail/tenants/\(try await world.tenantID("us-shop").text)"
      let none = try await nadia.get("/projects/acme-retail/tenants/none-12345/users")
      let pages = [
        "/projects/globex", "/projects/globex/policy", "/projects/globex/tenants",
        "/projects/acme-retail", "/projects/acme-retail/users", "/projects/acme-retail/policy",
        us, us + "/policy", us + "/users", us + "/users/\(World.chiara)", us + "/audit",
        "/projects/nothing", "/nothing",
      ]
      for page in pages {
        let answer = try await nadia.get(page)
        #expect(answer.status == .notFound, "\(page)")
        #expect(answer.text == none.text, "\(page)")
        #expect(Array(answer.response.fields) == Array(none.response.fields), "\(page)")
      }
      let foreign = try await nadia.submit(
        try await world.eu + "/users", .policy(), to: us + "/policy")
      #expect(foreign.status == .notFound)
      #expect(foreign.text == none.text)
    }
  }

  @Test func `a user of another tenant is not found`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let us = "/projects/acme-retail/tenants/\(try await world.tenantID("us-shop").text)"
      let factor = try await world.factor(of: World.chiara).text
      #expect(try await ada.get("\(us)/users/\(World.chiara)").status == .notFound)
      let removal = "\(us)/users/\(World.chiara)/factors/\(factor)/removal"
      #expect(try await ada.get(removal).status == .notFound)
      let sent = try await ada.submit("/projects/new", ["reason": "lost"], to: removal)
      #expect(sent.status == .notFound)
      #expect(try await world.factor(of: World.chiara).text == factor)
    }
  }

  @Test func `a denied page names the roles that have access`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let users = try await tomas.get("/projects/acme-retail/users")
      #expect(users.status == .forbidden)
      #expect(users.says("Searching users requires the auditor, support, or owner role."))
      #expect(try await tomas.get("/projects/new").status == .forbidden)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let policy = try await nadia.submit(
        try await world.eu + "/users", .policy(intervals: "1"), to: try await world.eu + "/policy")
      #expect(policy.status == .forbidden)
      let read = try await world.identity.policies.read(try await world.euPool)
      #expect(read.configuration.window.adjacentIntervals == 5)
    }
  }

  @Test func `lists show only accessible projects and tenants`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let projects = try await nadia.get("/projects")
      #expect(!projects.says("Globex"))
      #expect(!projects.says("50%"))
      #expect(projects.values(of: "href").contains("/projects/acme-retail/tenants"))
      let tenants = try await nadia.get("/projects/acme-retail/tenants")
      #expect(tenants.says("eu-shop"))
      #expect(!tenants.says("us-shop"))
      #expect(!tenants.says("New tenant"))
    }
  }

  @Test func `an idle session expires`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      #expect(try await browser.get("/projects").status == .seeOther)
      _ = try await browser.submit("/sign-in", ["email": World.ada, "password": World.password])
      #expect(try await browser.get("/projects").status == .ok)
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      #expect(try await browser.get("/").location == "/sign-in")
    }
  }
}

extension Route {
  /// Returns whether a URL can match both routes' paths, regardless of method.
  func overlaps(_ other: Route) -> Bool {
    components.count == other.components.count
      && zip(components, other.components).allSatisfy { one, other in
        switch (one, other) {
        case (.literal(let one), .literal(let other)): one == other
        case (.parameter(let suffix), .literal(let text)),
          (.literal(let text), .parameter(let suffix)):
          text.hasSuffix(suffix) && text.utf8.count > suffix.utf8.count
        case (.parameter(let one), .parameter(let other)):
          one.hasSuffix(other) || other.hasSuffix(one)
        }
      }
  }
}
