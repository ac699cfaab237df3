import HTTP
import Identity
import Testing

@testable import Console

/// The pages of long lists.
@Suite struct ListTests {
  @Test(arguments: [
    "/projects?after=~", "/projects?q=globex&after=~",
    "/projects/acme-retail/tenants?sort=window&after=9.~",
    "/projects/acme-retail/review?after=~", "/review?after=~",
    "{eu}/users?factor=totp&after=0", "{eu}/reports/locked?after=0",
    "{eu}/reports/factors?age=old-1&after=1099511627776-0",
    "{eu}/policy/affected?beyond=0&after=0.0",
    "{eu}/bulk-removals?after=0", "{eu}/messages?show=failed&after=0",
    "{eu}/audit?after=1", "/audit?action=policy.widen&after=1",
  ])
  func `a page past the end of a list redirects to the first page, with the same choices`(
    address: String
  ) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = address.replacing("{eu}", with: try await world.eu)
      let page = try await ada.get(address)
      let end = try #require(address.ranges(of: "after=").first).lowerBound
      let first = String(address[..<address.index(before: end)])
      #expect(page.location == first)
      #expect(try await ada.get(first).status == .ok)
    }
  }

  @Test func `the address of a list has the size of its pages, and its links and forms keep it`()
    async throws
  {
    try await World.withSampleData { world in
      let author = Author(actor: .commandLine)
      let globex = try await world.identity.pools.existing(project: ID("globex"))
      for number in 0..<11 {
        _ = try await world.identity.pools.createProject(
          id: "many-\(number)", displayName: "Many \(number)", by: .program(author))
        _ = try await world.identity.pools.createTenant(
          in: ID("globex"), PoolEdit(displayName: "many-\(number)"), by: .program(author))
        var new = NewAccount()
        new.email = "many\(number)@example.com"
        _ = try await world.identity.accounts.create(globex, new, by: .program(author))
      }
      try await world.write(
        [CodeFinding](repeating: CodeFinding(.accepted, distance: 0, step: 1), count: 11),
        of: World.chiara)
      let (ada, eu) = (try await Browser.signedIn(world), try await world.eu)
      let list = (0..<11).map { "nobody\($0)@example.com\n" }.joined() + World.chiara
      let preview = try await ada.submit(
        eu + "/users", ["list": list], to: eu + "/bulk-removals")
      for (address, items) in [
        ("/projects", "projects"), ("/review", "user pools"),
        ("/projects/globex/tenants?sort=changed", "tenants"),
        ("/projects/globex/review?view=policy", "tenants"), ("/users?q=many", "users"),
        ("/audit", "entries"), ("/audit?from=2026-01-01", "entries"),
        (eu + "/activity?factor=totp", "code attempts"),
        (eu + "/users/\(World.chiara)/code-attempts", "code attempts"),
        (try #require(preview.location), "lines"),
      ] {
        #expect(!(try await ada.get(address).says("On this page: 10 \(items)")), "\(address)")
        let page = try await ada.get(Self.address(address, size: 10))
        #expect(page.says("On this page: 10 \(items)"), "\(address)")
        if page.says("<form class=\"filter\"") { #expect(page.value(of: "size") == "10") }
        let links = Self.links(of: page)
        #expect(links.allSatisfy { $0.contains("size=10") }, "\(address): \(links)")
        let next = try #require(links.first { $0.contains("after=") }, "\(address)")
        let second = try await ada.get(next)
        #expect(second.status == .ok && second.says("On this page: "), "\(address)")
        #expect(Self.links(of: second).allSatisfy { $0.contains("size=10") }, "\(address)")
        Markup.check(page)
      }
      for address in [
        eu + "/messages", eu + "/policy/affected?beyond=0", eu + "/reports/factors",
      ] {
        let links = Self.links(of: try await ada.get(Self.address(address, size: 200)))
        #expect(!links.isEmpty && links.allSatisfy { $0.contains("size=200") }, "\(links)")
      }
      for size in [0, 11, 1_000] {
        let page = try await ada.get(Self.address("/audit", size: size))
        #expect(page.says("On this page: 50 entries") && page.value(of: "size") == nil, "\(size)")
        #expect(!Self.links(of: page).contains { $0.contains("size=") }, "\(size)")
      }
    }
  }

  private static func address(_ address: String, size: Int) -> String {
    address + (address.contains("?") ? "&" : "?") + "size=\(size)"
  }

  /// The links of a page of a list to other pages of the list, without those of an audit entry, which
  /// lead to the history of its actor or resource, and those to what needs attention.
  private static func links(of page: Answer) -> [String] {
    let path = page.address.prefix { $0 != "?" } + "?"
    return page.values(of: "href").filter { link in
      link.hasPrefix(path)
        && !["actor=", "kind=", "attention="].contains { link.hasPrefix(path + $0) }
    }
  }
}
