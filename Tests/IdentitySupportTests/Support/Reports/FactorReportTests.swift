import Crypto
import Testing

@testable import Identity
@testable import TestIdentity

/// The report of second factors that are worth a look; ``ReportTests`` compares it with a recount.
struct FactorReportTests {
  private func users(
    _ instance: Instance, _ condition: FactorCondition, in pool: Pool? = nil
  ) async throws -> [String] {
    let (reports, pool) = (instance.identity.reports, pool ?? instance.acme)
    let found = try await reports.factors(in: pool, condition).items.map(\.account.text)
    let counts = try await reports.factorCounts(in: pool, [condition, .unused(days: 1)])
    #expect(counts[condition] == found.count && !counts.isCut)
    return found
  }

  @Test func `counting ends at a number, which is then a lower bound`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      _ = try await instance.enrolled(.bob)
      let reports = instance.identity.reports
      for (limit, all, isCut) in [(1, 1, true), (2, 2, false)] {
        let counts = try await reports.factorCounts(
          in: instance.acme, [.neverUsed, .enrolled(years: 1)], limit: limit)
        #expect(counts.all == all && counts.isCut == isCut, "\(limit)")
        #expect(counts[.neverUsed] == all && counts[.enrolled(years: 1)] == 0, "\(limit)")
      }
    }
  }

  @Test func `factors of users who are gone at another server aren't listed`() async throws {
    try await withInstance { instance in
      for name in ["a", "b"] { instance.remote.set(TestRemote.user(name, totp: true)) }
      let pool = try await instance.connect()
      try await instance.sync(pool)
      #expect(try await users(instance, .neverUsed, in: pool) == ["a", "b"])
      instance.remote.remove("b")
      try await instance.sync(pool)
      #expect(try await users(instance, .neverUsed, in: pool) == ["a"])
    }
  }

  @Test func `a factor is listed as never used from its enrollment until it signs in`() async throws
  {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      instance.clock.advance(86_400)
      let both = try await users(instance, .neverUsed)
      #expect(both == [alice.account.id.text, bob.account.id.text])
      let code = try bob.code(at: instance.now)
      _ = try await instance.finalize(bob, try await instance.pending(.bob), code: code)
      #expect(try await users(instance, .neverUsed) == [alice.account.id.text])
      #expect(try await users(instance, .neverUsed, in: instance.east) == [])
    }
  }

  @Test func `users of a pool whose apps have one imported secret are listed, and no others`()
    async throws
  {
    try await withInstance { instance in
      let secret = ImportedFactor.secret
      try await instance.importApps([(.alice, secret), (.bob, secret)])
      try await instance.importApps(
        [(.mallory, Secret(Array("09876543210987654321".utf8)))])
      // The same secret in another pool.
      try await instance.importApps([(.mallory, secret)], in: instance.east)
      _ = try await instance.enrolled(.bob, in: instance.east)
      #expect(try await users(instance, .sharedSecret) == ["uid-alice", "uid-bob"])
      #expect(try await users(instance, .sharedSecret, in: instance.east) == [])
      let reports = instance.identity.reports
      let shared = try await reports.factors(in: instance.acme, .sharedSecret).items
      #expect(Set(shared.map(\.secretFingerprint)).count == 1)
      let all = try await reports.factors(in: instance.acme, .neverUsed).items
      #expect(Set(all.compactMap(\.secretFingerprint)).count == 2)
    }
  }
}
