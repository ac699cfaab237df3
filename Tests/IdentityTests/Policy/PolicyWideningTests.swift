@testable import Identity
import Testing

struct PolicyWideningTests {
  /// The pools listed under “Needs attention” for a window that was widened.
  private func listed(_ instance: Instance) async throws -> [Int] {
    let owner = Administrator(
      id: ID("y"), email: "y@example.com", displayName: "Y", grants: [Grant(role: .owner)])
    return try await instance.identity.scopes.warnings(visibleTo: owner, limit: 10).compactMap {
      if case .widened(let widening) = $0.reason { widening.to.adjacentIntervals } else { nil }
    }
  }

  @Test func `a wider window is an audit fact of its own, and listed until it is narrowed back`()
    async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      try await instance.setWindow(1)
      #expect(try await policies.ground(instance.acme).widening == nil)
      instance.clock.advance(60)
      try await instance.setWindow(3)
      let rows = try await instance.log()
      #expect(rows.first?.action == "policy.widen")
      #expect(rows.first?.from == "adjacent intervals: 1")
      #expect(rows.first?.to == "adjacent intervals: 3")
      let widening = try #require(try await policies.ground(instance.acme).widening)
      #expect((widening.from.codes, widening.to.codes) == (3, 7))
      #expect(widening.at == instance.now && widening.by == "Bo the boss")
      #expect(try await listed(instance) == [3])
      try await instance.setWindow(2)
      #expect(try await listed(instance) == [3], "it is still wider than it was")
      try await instance.setWindow(1)
      #expect(try await policies.ground(instance.acme).widening == nil)
      #expect(try await listed(instance) == [])
    }
  }

  @Test func `unset intervals that take the place of fewer than five widen the window`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(4)
      try await instance.setWindow(nil)
      #expect(try await instance.log().first?.action == "policy.widen")
      #expect(try await listed(instance) == [5])
      try await instance.setWindow(5)
      #expect(try await instance.log().first?.action == "policy.change")
    }
  }

  @Test func `a window widened while TOTP is off is told as well`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(0)
      for intervals in [0, 10] {
        _ = try await instance.identity.policies.change(instance.acme, by: Instance.boss) {
          $0.configuration.totp = TOTPConfiguration(state: .disabled, adjacentIntervals: intervals)
        }
      }
      #expect(try await instance.log().first?.action == "policy.widen")
      _ = try await instance.identity.policies.change(instance.acme, by: Instance.boss) {
        $0.configuration.totp = nil
      }
      #expect(try await listed(instance) == [], "without an entry no code is accepted")
    }
  }

  @Test func `a widening is listed for 30 days, to those who may see the pool`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      try await instance.setWindow(2)
      let globex = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [Grant(role: .policy, project: instance.globex.project)])
      let scopes = instance.identity.scopes
      #expect(try await scopes.warnings(visibleTo: globex, limit: 10).isEmpty)
      instance.clock.advance(30 * 86_400 - 1)
      #expect(try await listed(instance) == [2])
      instance.clock.advance(2)
      #expect(try await listed(instance) == [])
    }
  }
}
