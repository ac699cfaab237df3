import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Searches in which many users match a part.
struct CrowdedSearchTests {
  /// Creates six people with a common name, of whom the oldest is the only disabled and the only
  /// suspended one.
  private func commonPeople(_ instance: Instance) async throws {
    for number in 0..<6 {
      var new = NewAccount()
      new.localID = number == 0 ? "needle" : "common\(number)"
      new.email = "\(new.localID ?? "")@big.test"
      new.displayName = "Common Person"
      new.disabled = number == 0
      let account = try await instance.identity.accounts.create(
        instance.east, new, by: .program(Instance.boss)
      ).value
      guard number == 0 else { continue }
      try await instance.addSuspendedFactor(
        to: account, in: instance.east, until: instance.now.advanced(bySeconds: 600))
    }
  }

  @Test func `a filter or a short word finds a user behind many that match the other words`()
    async throws
  {
    try await withInstance { instance in
      try await commonPeople(instance)
      let (east, now) = (instance.east, instance.now)
      func find(
        _ text: String, _ filter: Accounts.Filter = .all, in pool: Pool?
      ) async throws -> (hits: [String], isCut: Bool) {
        let query = try #require(SearchQuery(text))
        return try await instance.database.read { connection in
          var search = AccountSearch(
            query: query, filter: filter, most: 200, at: now, examining: 2)
          try search.run(in: east.accountKeys, pool, connection)
          return (search.counted.map(\.account.id.text), search.isCut)
        }
      }
      for text in ["common", "big.test", "common ne"] {
        for filter in [Accounts.Filter.disabled, .suspended] {
          let found = try await find(text, filter, in: east)
          #expect(found.hits == ["needle"] && !found.isCut, "\(text) \(filter)")
        }
      }
      for pool in [east, nil] {
        for text in ["common ne", "ne big.test"] {
          let found = try await find(text, in: pool)
          #expect(found.hits == ["needle"] && !found.isCut, "\(text)")
        }
        // Many accounts have each word, so the rest isn't searched, and the search says so.
        let cut = try await find("big.test co", .unverified, in: pool)
        #expect(cut.hits.count <= 2 && cut.isCut)
      }
      let none = try await find("bogus", .disabled, in: east)
      #expect(none.hits.isEmpty && !none.isCut)
    }
  }

  @Test func `more than 200 partial matches don't hide an exact one from a search of all pools`()
    async throws
  {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      var new = NewAccount()
      new.localID = "exact"
      (new.email, new.phoneNumber) = ("ann@corp.test", "+16505550101")
      _ = try await accounts.create(instance.globex, new, by: .program(Instance.boss))
      for number in 0...Accounts.mostHits {
        var copy = NewAccount()
        copy.displayName = "ann@corp.test exact 6505550101 \(number)"
        _ = try await accounts.create(instance.globex, copy, by: .program(Instance.boss))
      }
      for text in ["ann@corp.test", "ANN@corp.test", "+16505550101", "exact"] {
        for grant in [Grant(role: .owner), Grant(role: .support, project: instance.globex.project)]
        {
          let found = try await accounts.search(
            everywhere: text, visibleTo: Administrator(grants: [grant]))
          #expect(found.hits.first?.account.id.text == "exact", "\(text)")
          #expect(found.hits.first?.pool == instance.globex)
        }
      }
    }
  }
}
