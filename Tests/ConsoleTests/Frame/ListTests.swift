import HTTP
import Testing

@testable import Console

/// The pages of long lists.
@Suite struct ListTests {
  @Test(arguments: [
    "/?after=~", "/?q=globex&after=~", "/projects/acme-retail/tenants?sort=window&after=9.~",
    "/projects/acme-retail/review?after=~", "/review?after=~", "/review?sort=window&after=99",
    "{eu}/users?factor=totp&after=0", "{eu}/reports/locked?after=0",
    "{eu}/reports/factors?age=old-1&after=1099511627776-0",
    "{eu}/policy/affected?beyond=0&after=0.0",
    "{eu}/bulk-removals?after=0", "/bulk-removals?after=0", "{eu}/messages?show=failed&after=0",
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
}
