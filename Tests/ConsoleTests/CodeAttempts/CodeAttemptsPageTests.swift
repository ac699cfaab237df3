import HTTP
import Identity
import Testing

@testable import Console
@testable import Identity

/// The page with all stored code attempts of a user.
@Suite struct CodeAttemptsPageTests {
  private func user(_ world: World) async throws -> String {
    try await world.eu + "/users/\(World.chiara)"
  }

  private func right(_ count: Int) -> [CodeFinding] {
    [CodeFinding](repeating: CodeFinding(.accepted, distance: 0, step: 1), count: count)
  }

  @Test func `the user's page shows the newest attempts in one row and links the page`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      try await world.write(right(20), of: World.chiara)
      let page = try await nadia.get(user)
      #expect(page.values(of: "href").contains(user + "/code-attempts"))
      #expect(page.says("View all code attempts") && page.says("20 accepted codes<span"))
    }
  }

  @Test func `attempts are listed 50 per page, with the retention period`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      var settings = SupportRules()
      settings.codeAttemptDays = 30
      try await world.identity.support.change(
        try await world.euPool, to: settings, by: .program(Author(actor: .commandLine)))
      try await world.write(
        [
          CodeFinding(.late, distance: -8, step: 100), CodeFinding(.wrong),
          CodeFinding(.accepted, distance: -2, step: 107),
        ] + right(116), of: World.chiara,
        agent: "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")
      var (address, counts, last) = (try await user(world) + "/code-attempts", [Int](), "")
      while true {
        let page = try await nadia.get(address)
        #expect(page.status == .ok && page.says("Entries are deleted after 30 days."))
        Markup.check(page)
        counts.append(page.text.ranges(of: "data-label=\"Time\"").count)
        last = page.text
        guard page.says("rel=\"next\"") else { break }
        address = try #require(
          page.values(of: "href").first { $0.contains("/code-attempts?after=") })
      }
      #expect(counts == [50, 50, 20])
      #expect(last.contains("Expired: 8 intervals late (limit 5)"))
      #expect(
        last.contains("Accepted: 2 intervals late, clock about 60\u{A0}s slow"))
      #expect(last.contains("203.0.113.9") && last.contains("Firefox on Linux"))
      #expect(last.contains("class=\"hit\"") && last.contains("First page"))
      let oldest = try await nadia.get(address)
      try Snapshot.check(oldest.text, named: "code-attempts-oldest.html")
    }
  }

  @Test func `an empty log says so, and an invalid position redirects to the newest attempts`()
    async throws
  {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let user = try await user(world)
      let empty = try await iris.get(
        try await world.eu + "/users/u77TnC0aPzQ4hW1sGv9M/code-attempts")
      #expect(empty.says("No code attempts in the last 90 days"))
      try Snapshot.check(empty.text, named: "code-attempts-empty.html")
      try await world.write(right(2), of: World.chiara)
      for after in ["0", "x", "-9223372036854775809", "%3Cscript%3E"] {
        let page = try await iris.get("\(user)/code-attempts?after=\(after)")
        #expect(page.location == user + "/code-attempts", "\(after)")
      }
      #expect(try await iris.get("\(user)/code-attempts?after=").says("3 code attempts"))
    }
  }

  @Test func `another tenant's user gets the same response as a nonexistent one`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (eu, us) = (
        try await world.eu,
        "/projects/acme-retail/tenants/\(try await world.tenantID("us-shop").text)"
      )
      let ada = try await Browser.signedIn(world)
      let foreign = try await ada.get("\(us)/users/\(World.chiara)/code-attempts")
      let never = try await ada.get("\(us)/users/nobody-at-all-like-this/code-attempts")
      #expect(foreign.status == .notFound && foreign.text == never.text)
      #expect(try await nadia.get("\(us)/users/\(World.chiara)/code-attempts").status == .notFound)
      #expect(try await nadia.get("\(eu)/users/\(World.chiara)/code-attempts").status == .ok)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get("\(eu)/users/\(World.chiara)/code-attempts").status == .forbidden)
    }
  }

  @Test(arguments: HostileTests.names.indices)
  func `hostile user agents are escaped`(index: Int) async throws {
    let name = HostileTests.names[index]
    try await World.withSampleData { world in
      try await world.write(
        [CodeFinding(.wrong)], of: World.chiara, agent: name, address: name)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await user(world) + "/code-attempts")
      Markup.check(page)
      #expect(page.status == .ok && page.says("Incorrect code"))
    }
  }
}
