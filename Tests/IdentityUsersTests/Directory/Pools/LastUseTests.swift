import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

struct LastUseTests {
  @Test func `the last use of a key is stored with one write per hour`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.apiKeys
      let key = try #require(try await keys.list(instance.acme.project).first)
      #expect(key.lastUsedAt == nil)
      instance.clock.advance(1_000)
      _ = try await keys.project(for: key.text)
      let recorded = try #require(try await keys.list(instance.acme.project).first).lastUsedAt
      #expect(recorded == FixedClock.noon)
      try await instance.identity.recordUses()
      let writes = instance.database.statistics.writes
      for _ in 0..<100 { _ = try await keys.project(for: key.text) }
      try await instance.identity.recordUses()
      #expect(instance.database.statistics.writes == writes)
      instance.clock.advance(3_600)
      _ = try await keys.project(for: key.text)
      try await instance.identity.purgeExpired()
      let again = try instance.identity()
      let stored = try #require(try await again.apiKeys.list(instance.acme.project).first)
      #expect(stored.lastUsedAt == FixedClock.noon.advanced(bySeconds: 3_600))
    }
  }

  @Test func `the last use of a token is stored; an unknown token stores nothing`() async throws {
    try await withInstance { instance in
      let tokens = instance.identity.serviceTokens
      let created = try await tokens.create(
        project: instance.acme.project, tenant: nil, role: .application, name: "x",
        by: .program(Author(actor: .commandLine))
      ).value
      _ = try await tokens.find(Secret("cst_nothing"))
      _ = try await instance.identity.apiKeys.project(for: "nothing")
      let writes = instance.database.statistics.writes
      try await instance.identity.recordUses()
      #expect(instance.database.statistics.writes == writes)
      _ = try await tokens.find(created.secret)
      try await instance.identity.recordUses()
      let stored = try await instance.identity().serviceTokens.list(instance.acme.project)
      #expect(stored.map(\.lastUsedAt) == [FixedClock.noon])
    }
  }

  @Test func `one call stores the last uses of any number of keys`() async throws {
    try await withInstance { instance in
      let (keys, project) = (instance.identity.apiKeys, instance.acme.project)
      while try await keys.list(project).count < 501 {
        _ = try await keys.create(for: project, by: .program(Instance.boss))
      }
      for key in try await keys.list(project) { _ = try await keys.project(for: key.text) }
      try await instance.identity.recordUses()
      let stored = try await instance.identity().apiKeys.list(project)
      #expect(stored.count { $0.lastUsedAt == FixedClock.noon } == 501)
    }
  }

  @Test func `a failed write of last uses is retried`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.apiKeys
      let key = try #require(try await keys.list(instance.acme.project).first)
      _ = try await keys.project(for: key.text)
      try await instance.database.write { connection in
        try connection.addTrigger("no_use", before: "UPDATE ON api_key")
      }
      await expect("unavailable") { try await instance.identity.recordUses() }
      try await instance.database.write { connection in
        let on = connection.dialect == .sqlite ? "" : "ON api_key"
        try connection.runScript("DROP TRIGGER no_use \(on) /* test */")
      }
      try await instance.identity.recordUses()
      let stored = try await instance.identity().apiKeys.list(instance.acme.project)
      #expect(stored.first?.lastUsedAt == FixedClock.noon)
    }
  }
}
