import HTTP
import Identity
import IdentityToolkitClient
import OTP
import Testing
import Text

@testable import Console

/// Tries each route with each role and each grant.
@Suite struct WhoMayTests {
  @Test(arguments: TestRole.all)
  func `C8: every route responds as its permission and the role require`(testRole: TestRole)
    async throws
  {
    let routes = try await Self.routes()
    var rest = routes.filter { $0.route.method == .get }
    rest += routes.filter { $0.route.method != .get }
    // Even an empty form can take effect; the routes after it get a new world.
    while !rest.isEmpty {
      try await World.withSampleData { world in
        let tester = try await RouteTester(world, testRole)
        while let route = rest.first {
          rest.removeFirst()
          if try await tester.attempt(route) { break }
        }
      }
    }
  }

  private static func routes() async throws -> [ConsoleRoute] {
    var routes: [ConsoleRoute] = []
    try await World.empty { routes = $0.console.routes.filter { $0.access != .open } }
    return routes
  }

  private struct RouteTester {
    let testRole: TestRole
    let grant: Grant?
    let browser: Browser
    let csrf: String
    let ofProject: Samples
    let ofTenant: Samples

    init(_ world: World, _ testRole: TestRole) async throws {
      self.testRole = testRole
      ofProject = try await Samples(world, ofTenant: false)
      ofTenant = try await Samples(world, ofTenant: true)
      grant = try await testRole.grant(in: world)
      browser = try await testRole.browser(in: world)
      csrf = try await browser.get("/projects").csrf
    }

    /// Sends one request, and returns true if it may have changed the world.
    func attempt(_ route: ConsoleRoute) async throws -> Bool {
      let samples = route.route.isOfTenant ? ofTenant : ofProject
      guard let address = samples.address(of: route.route) else {
        Issue.record("\(route.route) has a parameter without a sample")
        return false
      }
      let segments = (Target(address)?.segments.map(\.text) ?? []) + ["", "", "", ""]
      let isOfProject = segments[0] == "projects" && route.route.components.count > 1
      // What only connected projects have isn't found in a hosted one.
      let isOffered =
        PoolKind.hosted.offers(at: .read).contains(route.needs)
        || !route.route.components.starts(with: ["projects", nil])
      let expected =
        isOffered
        ? ExpectedAccess(
          route.access, grant, project: isOfProject ? segments[1] : nil,
          tenant: route.route.isOfTenant ? segments[3] : nil) : .notFound
      let isReading = route.route.method == .get
      let answer =
        isReading ? try await browser.get(address) : try await browser.post(address, ["csrf": csrf])
      let name = "\(testRole.testDescription): \(route.route.method) \(address)"
      switch expected {
      case .notFound: #expect(answer.status == .notFound, "\(name)")
      case .notAllowed: #expect(answer.status == .forbidden, "\(name)")
      case .passes where route.route.pattern.hasPrefix("/account/passkeys/{"):
        // Another administrator's.
        #expect(answer.status == .notFound || answer.status.code == 422, "\(name)")
      case .passes where isReading:
        #expect([200, 303].contains(answer.status.code), "\(name)")
      case .passes:
        #expect([200, 303, 400, 409, 422].contains(answer.status.code), "\(name)")
      }
      #expect(answer.location?.hasPrefix("/sign-in?next=") != true, "\(name)")
      return !isReading && [200, 303].contains(answer.status.code)
    }
  }

  @Test func `a tenant's objects are not found in another tenant`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let csrf = try await ada.get("/projects").csrf
      let other = try await world.tenantID("us-shop").text
      let samples = try await Samples(world, ofTenant: true)
      var count = 0
      let offered = PoolKind.hosted.offers(at: .read)
      for route in world.console.routes.filter({ offered.contains($0.needs) }).map(\.route)
      where route.isOfTenant && route.objectCount > 0 {
        let own = try #require(samples.address(of: route))
        let foreign = try #require(samples.address(of: route, tenant: other))
        let none = try #require(samples.address(of: route, tenant: other, objects: "no-such-thing"))
        if route.method == .get { #expect(try await ada.get(own).status == .ok, "\(own)") }
        let form: Form? = route.method == .get ? nil : ["csrf": csrf]
        let fields: Fields = [.origin: world.origin, .secFetchSite: "same-origin"]
        let found = try await ada.send(route.method, foreign, form: form, fields: fields)
        let missing = try await ada.send(route.method, none, form: form, fields: fields)
        #expect(found.status == .notFound, "\(route.method) \(foreign)")
        #expect(found.text == missing.text, "\(route.method) \(foreign)")
        #expect(Array(found.response.fields) == Array(missing.response.fields), "\(foreign)")
        count += 1
      }
      #expect(count > 2)
    }
  }

  @Test func `an inaccessible tenant looks like a nonexistent one`() async throws {
    try await World.withSampleData { world in
      let testRole = TestRole(role: .owner, reach: .otherTenant)
      let browser = try await testRole.browser(in: world)
      let csrf = try await browser.get("/projects").csrf
      let samples = try await Samples(world, ofTenant: true)
      for route in world.console.routes.map(\.route) where route.isOfTenant {
        let theirs = try #require(samples.address(of: route))
        let none = try #require(
          samples.address(of: route, tenant: "no-such-tenant", objects: "no-such-thing"))
        let form: Form? = route.method == .get ? nil : ["csrf": csrf]
        let fields: Fields = [.origin: world.origin, .secFetchSite: "same-origin"]
        let found = try await browser.send(route.method, theirs, form: form, fields: fields)
        let missing = try await browser.send(route.method, none, form: form, fields: fields)
        #expect(found.status == .notFound && missing.status == .notFound, "\(theirs)")
        #expect(found.text == missing.text, "\(theirs)")
      }
    }
  }

  @Test func `a denied page names the required role and other administrators who have it`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let eu = try await world.eu
      let alone = try await nadia.get(eu + "/audit")
      #expect(alone.status == .forbidden)
      #expect(alone.says("Viewing the audit log requires the auditor or owner role."))
      #expect(alone.says("Granting it requires the owner role on the instance."))
      #expect(!alone.says("Ada M.") && !alone.says("Iris W."))
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let colleague = try await tomas.submit("/projects", [:], to: "/projects/acme-retail/policy")
      #expect(colleague.status != .forbidden)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let csrf = try await iris.get("/projects").csrf
      let denied = try await iris.post(eu + "/policy", ["csrf": csrf])
      #expect(denied.status == .forbidden)
      #expect(denied.says("\u{2068}Tomás R.\u{2069} and Ada M. can do this here"))
      Markup.check(denied)
      Markup.check(alone)
    }
  }
}
