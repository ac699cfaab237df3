import Database
import Dispatch
@testable import Identity
import Testing

@testable import TestIdentity

struct AuditRetentionTests {
  private static let day: Int64 = 86_400

  /// Writes old and new entries, and sets the retention to a year.
  private func prepared(_ instance: Instance) async throws -> Int64 {
    let old = try await instance.writeEntries(700)
    try await instance.sealAll()
    instance.clock.advance(400 * Self.day)
    let owner = try await instance.agent("olga", role: .owner)
    _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
    try await instance.writeEntries(10)
    try await instance.sealAll()
    return old
  }

  private func removeAll(_ instance: Instance) async throws -> Int {
    var steps = 0
    while try await instance.chain.removeExpired() { steps += 1 }
    return steps
  }

  @Test func `entries are kept forever unless an owner decides otherwise`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      instance.clock.advance(5_000 * Self.day)
      let removed = try await instance.chain.removeExpired()
      #expect(!removed)
      let status = try await instance.chain.status()
      #expect(status.retention == nil)
    }
  }

  @Test func `old entries are removed in batches, and the rest still verifies`() async throws {
    try await withInstance { instance in
      let old = try await prepared(instance)
      let steps = try await removeAll(instance)
      #expect(steps == 2)
      let result = try await instance.chain.verify()
      #expect(result.faults == [])
      #expect(result.removed.count == 1)
      let first = result.removed.first?.first
      let last = try #require(result.removed.first?.last)
      // The evidence key is an entry of that day.
      #expect(first == 1 && last == old + 1)
      let left = try await instance.writeEntries(0)
      #expect(left == result.entries && result.end == last + left)
    }
  }

  @Test func `a server removes entries while another seals, and two remove none twice`()
    async throws
  {
    try await withInstance { instance in
      let old = try await prepared(instance)
      let other = AuditChain(store: instance.chain.store, keys: instance.chain.keys)
      #expect(try await other.removeExpired())
      async let first = instance.chain.removeExpired()
      async let second = other.removeExpired()
      let removed = try await [first, second]
      #expect(removed.filter { $0 }.count == 1)
      while try await other.removeExpired() {}
      let result = try await instance.chain.verify()
      #expect(result.faults == [] && result.removed.first?.last == old + 1)
    }
  }

  @Test func `each day of removal has its own record, and all verify`() async throws {
    try await withInstance { instance in
      _ = try await prepared(instance)
      _ = try await removeAll(instance)
      instance.clock.advance(366 * Self.day)
      try await instance.writeEntries(5)
      try await instance.sealAll()
      _ = try await removeAll(instance)
      let result = try await instance.chain.verify()
      #expect(result.faults == [] && result.removed.count == 2)
    }
  }

  @Test func `a changed entry isn't removed, so that the change stays visible`() async throws {
    try await withInstance { instance in
      _ = try await prepared(instance)
      try await instance.database.write { connection in
        _ = try connection.run("UPDATE /* test */ audit SET note = 'x' WHERE audit_id = 5")
      }
      let steps = try await removeAll(instance)
      #expect(steps == 0)
      let faults = try await instance.chain.verify().faults
      #expect(faults == [.changed(5)])
    }
  }

  @Test func `a record that was changed to hide a deletion is noticed`() async throws {
    try await withInstance { instance in
      _ = try await prepared(instance)
      _ = try await removeAll(instance)
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ audit_tombstone SET last_sequence = last_sequence + 1")
        _ = try connection.run(
          """
          DELETE /* test */ FROM audit_link
          WHERE sequence = (SELECT max(last_sequence) FROM audit_tombstone)
          """)
      }
      let faults = try await instance.chain.verify().faults
      let isNoticed = faults.contains { if case .tombstoneInvalid = $0 { true } else { false } }
      #expect(isNoticed)
    }
  }

  @Test func `heads of removed entries can't be compared, the last one can`() async throws {
    try await withInstance { instance in
      _ = try await prepared(instance)
      let exported = try await instance.chain.heads()
      _ = try await removeAll(instance)
      let result = try await instance.chain.verify(exported: exported)
      #expect(result.faults == [])
      #expect((result.exported?.newest?.sequence ?? 0) > 700)
    }
  }

  @Test func `less than a year is refused, and the change is recorded with its reason`()
    async throws
  {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      await expect("retentionOutOfRange") {
        try await instance.chain.setRetention(days: 364, owner.request(nil, note: "short"))
      }
      let outcome = try await instance.chain.setRetention(
        days: 365, owner.request(nil, note: "a year"))
      #expect(outcome.value)
      let again = try await instance.chain.setRetention(
        days: 365, owner.request(nil, note: "a year"))
      #expect(!again.value)
      let row = try await instance.wholeLog().first
      #expect(row?.action == .auditChangeRetention && row?.note == "a year")
    }
  }

  @Test func `an erased part stays in the chain as a digest`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let audit = instance.identity.audit
      let entry = try #require(try await instance.wholeLog().first { $0.note == "by phone" })
      var erased: [Bool] = []
      for part in [AuditPart.actor, .resource, .texts, .field(0)] {
        erased.append(try await audit.erase(part, of: entry.id))
      }
      #expect(erased == [true, true, true, true])
      let again = try await audit.erase(.actor, of: entry.id)
      #expect(!again)
      let row = try #require(try await instance.wholeLog().first { $0.id == entry.id })
      let texts = [row.actorName, row.address, row.objectID, row.objectName, row.note ?? ""]
      let isBlank = texts.joined().isEmpty
      #expect(isBlank)
      #expect(row.changes.first?.old == nil && row.changes.last?.new != nil)
      let result = try await instance.chain.verify()
      #expect(result.faults == [] && result.erased == 4)
    }
  }

  @Test func `a page that began before an erasure doesn't keep what was erased`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let audit = instance.identity.audit
      let entry = try #require(try await instance.wholeLog().first { $0.note == "by phone" })
      // The page of another server, which has nothing cached.
      let cache = AuditRowCache()
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      let erased = DispatchSemaphore(value: 0)
      let id = entry.id
      async let page = instance.database.read { connection in
        let count: Int? = try connection.first("SELECT count(*) FROM /* test */ audit") {
          try $0.next()
        }
        begin.yield()
        erased.wait()
        return (count, try cache.rows([id], connection))
      }
      for await _ in begun { break }
      #expect(try await audit.erase(.actor, of: id))
      erased.signal()
      #expect(try await page.1.first?.actorName == entry.actorName)
      let next = try await instance.database.read { try cache.rows([id], $0) }
      #expect(next.first?.actorName == "")
    }
  }

  @Test func `values that were written into an erased part are noticed`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let entry = try #require(try await instance.wholeLog().first { $0.note == "by phone" })
      _ = try await instance.identity.audit.erase(.actor, of: entry.id)
      let id = entry.id
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ audit SET actor_name = 'Eve' WHERE audit_id = \(id)")
      }
      let faults = try await instance.chain.verify().faults
      #expect(faults.count == 1)
    }
  }

  @Test func `an entry that isn't sealed yet isn't erased`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(1)
      let entry = try #require(try await instance.wholeLog().first)
      let isErased = try await instance.identity.audit.erase(.actor, of: entry.id)
      #expect(!isErased)
    }
  }
}
