import Identity
import JSON
import Synchronization
import Testing

/// The number of statements that calls about a configuration take.
struct ConfigStatementTests {
  private final class Statements: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    /// Returns the statements since the last call, without those that begin and end transactions.
    func take() -> [String] {
      let all = texts.withLock { texts in
        defer { texts = [] }
        return texts
      }
      return all.filter { text in
        ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { text.hasPrefix($0) }
      }
    }
  }

  private static func poolReads(_ statements: [String]) -> Int {
    statements.count { $0.hasPrefix("SELECT") && $0.contains("FROM scope s") }
  }

  @Test func `a configuration is read once per transaction`() async throws {
    let statements = Statements()
    try await TestServer.with(trace: statements.add) { server in
      let tenant = try await server.identity.pools.createTenant(
        in: ID(TestServer.project), PoolEdit(displayName: "eu-shop"),
        by: .program(Author(actor: .commandLine))
      ).value
      let address = "/v2/projects/\(TestServer.project)/tenants/\(tenant.pool.objectID)"
      // The first call also stores when the token was last used.
      _ = try await server.get(TestServer.config)
      _ = statements.take()

      _ = try await server.get(TestServer.config)
      var found = statements.take()
      // The token, and the pool.
      #expect(found.count == 2 && Self.poolReads(found) == 1, "\(found)")
      _ = try await server.get(address)
      found = statements.take()
      // Also whether the project allows tenants.
      #expect(found.count == 3 && Self.poolReads(found) == 1, "\(found)")

      let totp: JSON = ["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 1]]
      for (address, member, count) in [
        (TestServer.config, "mfa", 8), (address, "mfaConfig", 9),
      ] {
        let answer = try await server.patch(
          "\(address)?updateMask=\(member)", .object([member: ["providerConfigs": [totp]]]))
        #expect(answer.status == 200, "\(answer.json)")
        found = statements.take()
        // To authorize the call, and in the transaction that changes it.
        #expect(Self.poolReads(found) == 2, "\(found)")
        #expect(found.count == count, "\(found)")
      }
    }
  }
}
