import Crypto
import Database
@testable import Identity
import Testing

@testable import TestIdentity

struct AuditChainTests {
  @Test func `every entry gets a link in order, without gaps`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(30)
      try await instance.sealAll()
      let links = try await instance.links()
      let total = try await instance.writeEntries(0)
      let sequences = links.map(\.sequence)
      #expect(sequences == Array(1...total))
      let isOrdered = zip(links, links.dropFirst()).allSatisfy { $0.entry < $1.entry }
      #expect(isOrdered)
      let distinct = Set(links.map(\.salts)).count
      #expect(distinct == links.count)
    }
  }

  @Test func `a verified log says how many entries, and through which signature`() async throws {
    try await withInstance { instance in
      let total = try await instance.writeEntries(20) + 1
      try await instance.sealAll()
      let result = try await instance.chain.verify()
      #expect(result.faults == [])
      #expect(result.entries == total && result.end == total && result.unsealed == 0)
      #expect(result.head?.sequence == total)
      try await instance.writeEntries(3)
      let later = try await instance.chain.verify()
      #expect(later.unsealed == 3 && later.faults == [])
    }
  }

  @Test func `the newest link is signed within a minute, and not again without new entries`()
    async throws
  {
    try await withInstance { instance in
      try await instance.sealAll()
      let first = try await instance.chain.heads().count
      try await instance.writeEntries(1)
      _ = try await instance.chain.seal()
      let soon = try await instance.chain.heads().count
      #expect(soon == first)
      instance.clock.advance(AuditChain.headSeconds)
      _ = try await instance.chain.seal()
      instance.clock.advance(AuditChain.headSeconds)
      _ = try await instance.chain.seal()
      let later = try await instance.chain.heads().count
      #expect(later == first + 1)
    }
  }

  @Test func `each 1,000th entry is signed, and at most 500 are sealed at once`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(2_100)
      try await instance.sealAll()
      let heads = try await instance.chain.heads().map(\.sequence)
      #expect(heads.contains(1_000) && heads.contains(2_000))
      let steps = try await instance.chain.heads().count
      #expect(steps <= 4)
      let result = try await instance.chain.verify(width: 2)
      #expect(result.faults == [])
    }
  }

  @Test func `only the process that holds the lease seals`() async throws {
    try await withInstance { instance in
      try await instance.sealAll()
      let other = try instance.identity().auditChain
      try await instance.writeEntries(2)
      let isSealed = try await other.seal()
      #expect(!isSealed)
      let result = try await instance.chain.verify()
      #expect(result.unsealed == 2)
      // The holder was stopped.
      instance.clock.advance(16)
      let isTaken = try await other.seal()
      #expect(isTaken)
      let mine = try await instance.chain.seal()
      #expect(!mine)
    }
  }

  @Test func `a server that stops seals what's left, and the next one needn't wait`()
    async throws
  {
    try await withInstance { instance in
      try await instance.sealAll()
      let total = try await instance.writeEntries(2)
      try await instance.chain.finish()
      let result = try await instance.chain.verify()
      #expect(result.unsealed == 0 && result.head?.sequence == total)
      try await instance.writeEntries(1)
      let isTaken = try await instance.identity().auditChain.seal()
      #expect(isTaken)
    }
  }

  @Test func `a lease from a clock that was set back is taken over`() async throws {
    try await withInstance { instance in
      instance.clock.advance(86_400)
      try await instance.sealAll()
      instance.clock.advance(-86_400)
      try await instance.writeEntries(1)
      let other = try instance.identity().auditChain
      let isTaken = try await other.seal()
      #expect(isTaken)
    }
  }

  @Test func `the background check stores how far the log is verified`() async throws {
    try await withInstance { instance in
      let total = try await instance.writeEntries(20) + 1
      let before = try await instance.chain.status()
      #expect(before.verified == nil && before.unsealed == total - 1)
      try await instance.sealAll()
      let step = try await instance.chain.check(after: 0)
      #expect(step?.through == total)
      let next = try await instance.chain.check(after: total)
      #expect(next == nil)
      let status = try await instance.chain.status()
      #expect(status.verified == total && status.fault == nil && status.unsealed == 0)
      #expect(status.checkedAt == instance.now)
    }
  }

  @Test func `the background check reports a change until it's undone`() async throws {
    try await withInstance { instance in
      _ = try await instance.faults { connection in
        try connection.run(
          """
          UPDATE /* test */ audit SET note = 'by mail'
          WHERE audit_id = (SELECT min(audit_id) FROM audit WHERE note = 'by phone')
          """)
      }
      let step = try await instance.chain.check(after: 0)
      #expect(step?.faults.isEmpty == false)
      let broken = try await instance.chain.status().fault
      #expect(broken != nil)
      // Every server can tell, whichever checked.
      let stored = try await instance.identity().auditChain.storedFault()
      #expect(stored?.position == broken && stored?.checkedAt == instance.now)
      #expect(try await instance.identity.measurements().hasAuditFault)
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ audit SET note = 'by phone' WHERE note = 'by mail'")
      }
      _ = try await instance.chain.check(after: 0)
      let status = try await instance.chain.status()
      #expect(status.fault == nil && status.verified != nil)
      #expect(try await instance.chain.storedFault() == nil)
      #expect(try await !instance.identity.measurements().hasAuditFault)
    }
  }

  @Test func `sealing is late once an entry has waited for a minute`() async throws {
    try await withInstance { instance in
      try await instance.sealAll()
      #expect(try await instance.identity.measurements().unsealedSince == nil)
      try await instance.writeEntries(1)
      let written = instance.now
      instance.clock.advance(AuditChain.longestDelay)
      #expect(try await instance.chain.delay() == nil)
      #expect(try await instance.identity.measurements().unsealedSince == written)
      instance.clock.advance(1)
      let delay = try await instance.chain.delay()
      #expect(delay?.since == written && delay?.holders == [])
      try await instance.sealAll()
      #expect(try await instance.chain.delay() == nil)
    }
  }

  @Test func `the oldest entry that a file lacks is found, sealed or not`() async throws {
    try await withInstance { instance in
      try await instance.sealAll()
      var position = AuditFilePosition()
      while true {
        let part = try await instance.chain.auditFilePart(after: position)
        position = part.end
        if part.lines.isEmpty { break }
      }
      #expect(try await position.oldestUnwritten(in: instance.database) == nil)
      instance.clock.advance(10)
      try await instance.writeEntries(1)
      let written = instance.now
      #expect(try await position.oldestUnwritten(in: instance.database) == written)
      let empty = try await instance.chain.auditFilePart(after: position)
      #expect(empty.lines.isEmpty && empty.unsealedSince == written)
      instance.clock.advance(10)
      try await instance.sealAll()
      #expect(try await position.oldestUnwritten(in: instance.database) == written)
    }
  }

  @Test func `C12: reading a log is recorded once an hour for each administrator and log`()
    async throws
  {
    try await withInstance { instance in
      let audit = instance.identity.audit
      for _ in 0..<3 { try await audit.recordReading(instance.acme, by: Instance.support) }
      try await audit.recordReading(nil, by: Instance.support)
      try await audit.recordReading(instance.acme, by: Instance.boss)
      var reads = try await instance.wholeLog().count { $0.action == .auditRead }
      #expect(reads == 3)
      instance.clock.advance(3_600)
      try await audit.recordReading(instance.acme, by: Instance.support)
      reads = try await instance.wholeLog().count { $0.action == .auditRead }
      #expect(reads == 4)
    }
  }
}
