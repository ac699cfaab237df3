import HTTP
import Identity
import Testing

@testable import Console

/// Tests for the sessions that let a form above 64 KiB be read.
struct LargeFormTests {
  /// Every route of a form, with an address of it.
  private static func forms(_ world: World) async throws -> [(route: ConsoleRoute, address: String)]
  {
    let ofProject = try await Samples(world, ofTenant: false)
    let ofTenant = try await Samples(world, ofTenant: true)
    return world.console.routes.filter { $0.route.method == .post }.compactMap { route in
      let samples = route.route.isOfTenant ? ofTenant : ofProject
      return samples.address(of: route.route).map { (route, $0) }
    }
  }

  /// Checks the refusal of a large form, by its header, at each address.
  private static func check(
    _ forms: [(route: ConsoleRoute, address: String)], _ world: World, _ cookie: String?,
    _ status: (ConsoleRoute.Access) -> Int?
  ) async throws {
    #expect(forms.count > 50)
    for (route, address) in forms {
      let fields: Fields = cookie.map { [.cookie: $0] } ?? [:]
      let request = Request(
        method: .post, target: try #require(Target(address)), fields: fields)
      let refusal = await world.console.refusal(ofLarge: request)
      #expect(refusal?.status.code == status(route.access), "\(route.route)")
    }
  }

  @Test func `only a session admits a large form, to every page`() async throws {
    try await World.withSampleData { world in
      let forms = try await Self.forms(world)
      for cookie in [nil, "__Host-countersign-session=\(String(repeating: "a", count: 43))"] {
        try await Self.check(forms, world, cookie) { $0 == .open ? 413 : 401 }
      }
      let browser = try await Browser.signedIn(world)
      let cookie = browser.cookieField
      try await Self.check(forms, world, cookie) { _ in nil }
      // An expired session's form is kept.
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      try await Self.check(forms, world, cookie) { _ in nil }
      world.clock.advance(seconds: ConsoleSessions.remembered + 86_400)
      let other = try await Browser.signedIn(world)
      let csrf = try await other.get("/projects").csrf
      let last = other.cookieField
      _ = try await other.post("/sign-out", ["csrf": csrf])
      try await Self.check(forms, world, last) { $0 == .open ? 413 : 401 }
    }
  }

  @Test func `a page without a session says how to go on`() async throws {
    try await World.empty { world in
      let request = Request(method: .post, target: try #require(Target("/projects/new")))
      let response = try #require(await world.console.refusal(ofLarge: request))
      let answer = Answer(address: "/projects/new", response: response)
      #expect(answer.status == .unauthorized && answer.says("<h1>Sign in first</h1>"))
      #expect(answer.says("href=\"/sign-in\""))
    }
  }
}
