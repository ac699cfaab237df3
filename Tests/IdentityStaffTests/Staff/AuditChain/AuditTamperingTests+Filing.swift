import Database
@testable import Identity
import Testing

@testable import TestIdentity

extension AuditTamperingTests {
  /// Inserts an entry, as someone could who can write to the database.
  private static func forge(_ number: Int64, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      INSERT INTO /* test */ audit (audit_id, at, actor_kind, actor_id, actor_name, action,
        object_kind, object_id, object_name, address, request_id)
      VALUES (\(number), 0, 'server', '', 'Eve', 'factor.remove', 'account', '', '', '', '')
      """)
  }

  @Test(arguments: [0, -5] as [Int64])
  func `C12: an entry with a number before the first one is noticed`(number: Int64) async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { try Self.forge(number, $0) }
      #expect(faults == [.inserted(before: 1)])
      let step = try await instance.chain.check(after: 0)
      #expect(step?.faults == [.inserted(before: 1)])
      #expect(try await instance.chain.status().fault == 1)
    }
  }

  @Test func `a field with a number before the first entry is noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run(
          "INSERT INTO /* test */ audit_change (audit_id, position, field) VALUES (0, 0, 'email')")
      }
      #expect(faults == [.inserted(before: 1)])
    }
  }

  @Test func `an entry with the number of a removed one is noticed`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      instance.clock.advance(400 * 86_400)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
      try await instance.writeEntries(3)
      try await instance.sealAll()
      while try await instance.chain.removeExpired() {}
      let before = try await instance.chain.verify()
      let last = try #require(before.removed.last?.last)
      #expect(before.faults == [] && last > 5)
      try await instance.database.write { try Self.forge(5, $0) }
      let faults = try await instance.chain.verify().faults
      #expect(faults == [.inserted(before: last + 1)])
      let step = try await instance.chain.check(after: 0)
      #expect(step?.faults == [.inserted(before: last + 1)])
    }
  }

  /// The entries that a filtered log lists.
  private func filtered(_ instance: Instance, _ pool: Pool?) async throws -> Int {
    var filter = AuditFilter(pool: pool)
    if pool == nil { filter.action = .any([.accountChange]) }
    return try await instance.identity.audit.search(filter, limit: 200).rows.count
  }

  @Test(arguments: ["audit", "audit_change"])
  func `C12: entries hidden from filters are noticed, and shown again`(table: String) async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      while try await instance.identity.audit.file() {}
      let complete = try await (filtered(instance, nil), filtered(instance, instance.acme))
      let intact = try await instance.chain.verify().faults
      #expect(intact == [])
      try await instance.database.write { connection in
        for statement: SQL in [
          "UPDATE /* test */ audit SET filed = 0 WHERE audit_id IN (5, 6)",
          "UPDATE /* test */ audit_change SET filed = 2 WHERE audit_id IN (5, 6)",
        ] where statement.text.contains("\(table) SET") {
          _ = try connection.run(statement)
        }
      }
      let faults = try await instance.chain.verify().faults
      let links = try await instance.links().filter { [5, 6].contains($0.entry) }
      let expected: [Fault] = links.map { .hidden($0.sequence) }
      #expect(faults == expected && expected.count == 2)
      let step = try await instance.chain.check(after: 0)
      #expect(step?.faults == expected)
      #expect(try await instance.chain.status().fault == links.first?.sequence)
      let repaired = try await instance.chain.verify().faults
      #expect(repaired == [])
      let shown = try await (filtered(instance, nil), filtered(instance, instance.acme))
      #expect(shown == complete)
    }
  }

  @Test func `C12: later entries hidden from filters are noticed, and shown again`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      while try await instance.identity.audit.file() {}
      let end = try #require(try await instance.links().last).sequence
      _ = try await instance.chain.check(after: 0)
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ instance SET value = '1000000000' WHERE name = 'audit_filed_to'")
      }
      let before = try await filtered(instance, instance.acme)
      try await instance.writeEntries(3)
      let hidden = try await filtered(instance, instance.acme)
      #expect(hidden == before)
      let faults = try await instance.chain.verify().faults
      #expect(faults == [.hiding(after: end)])
      // The step of each minute, which has nothing else to verify.
      let step = try await instance.chain.check(after: end)
      #expect(step?.faults == [.hiding(after: end)])
      #expect(try await instance.chain.check(after: end) == nil)
      #expect(try await instance.chain.status().fault == end)
      let shown = try await filtered(instance, instance.acme)
      #expect(shown == before + 3)
      while try await instance.identity.audit.file() {}
      try await instance.sealAll()
      let filed = try await filtered(instance, instance.acme)
      #expect(filed == before + 3)
      let later = try await instance.chain.verify().faults
      #expect(later == [])
    }
  }

  @Test func `entries that aren't sealed yet are counted, whatever their numbers`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(5)
      try await instance.sealAll()
      try await instance.writeEntries(2)
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ audit SET audit_id = audit_id + 10000000
          WHERE audit_id = (SELECT max(audit_id) FROM audit)
          """)
      }
      #expect(try await instance.chain.verify().unsealed == 2)
      #expect(try await instance.chain.status().unsealed == 2)
    }
  }
}
