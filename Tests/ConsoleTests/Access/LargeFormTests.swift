import HTTP
import Identity
import Testing

@testable import Console

/// Tests for the sessions that let a form above 64 KiB be read.
struct LargeFormTests {
  /// Checks the refusal of a large form, by its header, at every address with a form.
  private static func check(
    _ world: World, _ cookie: String?, _ status: (ConsoleRoute.Access) -> Int?
  ) async throws {
    let samples = try await Samples(world, ofTenant: false)
    let ofTenant = try await Samples(world, ofTenant: true)
    var count = 0
    for route in world.console.routes where route.route.method == .post {
      let samples = route.route.isOfTenant ? ofTenant : samples
      guard let address = samples.address(of: route.route) else { continue }
      let fields: Fields = cookie.map { [.cookie: $0] } ?? [:]
      let request = Request(
        method: .post, target: try #require(Target(address)), fields: fields)
      let refusal = await world.console.refusal(ofLarge: request)
      #expect(refusal?.status.code == status(route.access), "\(route.route)")
      count += 1
    }
    #expect(count > 50)
  }

  @Test func `only a session admits a large form, to every page`() async throws {
    try await World.withSampleData { world in
      for cookie in [nil, "countersign-session=\(String(repeating: "a", count: 43))"] {
        try await Self.check(world, cookie) { $0 == .open ? 413 : 401 }
      }
      let browser = try await Browser.signedIn(world)
      let cookie = browser.cookieField
      try await Self.check(world, cookie) { _ in nil }
      // An expired session's form is kept.
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      try await Self.check(world, cookie) { _ in nil }
      world.clock.advance(seconds: ConsoleSessions.remembered + 86_400)
      let other = try await Browser.signedIn(world)
      let csrf = try await other.get("/projects").csrf
      let last = other.cookieField
      _ = try await other.post("/sign-out", ["csrf": csrf])
      try await Self.check(world, last) { $0 == .open ? 413 : 401 }
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
