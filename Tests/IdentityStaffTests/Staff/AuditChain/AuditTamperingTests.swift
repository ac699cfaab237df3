import Crypto
import Database
@testable import Identity
import Testing

@testable import TestIdentity

/// Tests that verification notices each way to change the log, with SQL on the same database.
struct AuditTamperingTests {
  @Test func `C12: a changed entry is noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run("UPDATE /* test */ audit SET actor_name = 'Eve' WHERE audit_id = 5")
      }
      #expect(faults == [.changed(5)])
    }
  }

  @Test func `a changed field is noticed`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(1)
      let faults = try await instance.faults { connection in
        try connection.run(
          """
          UPDATE /* test */ audit_change SET new_value = 'eve@example.com'
          WHERE position = 0 AND audit_id = (SELECT max(audit_id) FROM audit) - 3
          """)
      }
      #expect(faults.count == 1)
    }
  }

  @Test func `an added or removed field is noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run(
          """
          DELETE /* test */ FROM audit_change
          WHERE position = 1 AND audit_id = (SELECT max(audit_id) FROM audit) - 3
          """)
        try connection.run(
          """
          INSERT /* test */ INTO audit_change (audit_id, position, field)
          VALUES ((SELECT max(audit_id) FROM audit) - 5, 9, 'email')
          """)
      }
      #expect(faults.count == 2)
    }
  }

  @Test func `a changed entry with a new link is noticed at the next entry`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run("UPDATE /* test */ audit SET note = 'x' WHERE audit_id = 5")
        let before = try #require(try ChainLink.find(4, connection))
        let old = try #require(try ChainLink.find(5, connection))
        let parts = try AuditParts.read(
          after: old.entry - 1, through: old.entry, limit: 1, connection)
        let new = ChainLink(parts[0], sequence: 5, after: before.link, .system)
        try connection.run(
          """
          UPDATE /* test */ audit_link SET link = \(new.link), salts = \(new.salts)
          WHERE sequence = 5
          """)
      }
      #expect(faults == [.changed(6)])
    }
  }

  /// Computes all links again, as someone could who can write to the database.
  private static func relink(_ connection: borrowing Connection) throws {
    try connection.run("DELETE /* test */ FROM audit_link")
    var (link, sequence): ([UInt8], Int64) = (ChainLink.origin, 0)
    for entry in try AuditParts.read(after: 0, through: .max, limit: .max, connection) {
      sequence += 1
      let next = ChainLink(entry, sequence: sequence, after: link, .system)
      link = next.link
      try connection.run(
        """
        INSERT /* test */ INTO audit_link (sequence, audit_id, salts, link)
        VALUES (\(next.sequence), \(next.entry), \(next.salts), \(next.link))
        """)
    }
  }

  @Test func `a chain that was computed again isn't as it was signed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run("UPDATE /* test */ audit SET note = 'x' WHERE audit_id = 5")
        try Self.relink(connection)
      }
      let isSigned = faults.allSatisfy { if case .headDiffers = $0 { true } else { false } }
      #expect(!faults.isEmpty && isSigned)
    }
  }

  @Test func `C12: a deleted entry is noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run("DELETE /* test */ FROM audit WHERE audit_id = 5")
      }
      #expect(faults == [.deleted(5)])
    }
  }

  @Test func `an entry deleted with its link is noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run("DELETE /* test */ FROM audit WHERE audit_id = 5")
        try connection.run("DELETE /* test */ FROM audit_link WHERE sequence = 5")
      }
      #expect(faults == [.linksDeleted(5, 5)])
    }
  }

  @Test func `entries that swapped places are noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults { connection in
        try connection.run("UPDATE /* test */ audit_link SET sequence = -5 WHERE sequence = 5")
        try connection.run("UPDATE /* test */ audit_link SET sequence = 5 WHERE sequence = 6")
        try connection.run("UPDATE /* test */ audit_link SET sequence = 6 WHERE sequence = -5")
      }
      #expect(faults.contains(.reordered(6)))
    }
  }

  @Test func `an inserted entry is noticed`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      let last = try #require(try await instance.links().last)
      try await instance.database.write { connection in
        // An entry in the gap that a rolled-back number leaves.
        _ = try connection.run(
          "UPDATE /* test */ audit SET audit_id = \(last.entry + 10) WHERE audit_id = \(last.entry)"
        )
        _ = try connection.run(
          """
          UPDATE /* test */ audit_link SET audit_id = \(last.entry + 10)
          WHERE sequence = \(last.sequence)
          """)
        _ = try connection.run(
          """
          INSERT INTO /* test */ audit (audit_id, at, actor_kind, actor_id, actor_name, action,
            object_kind, object_id, object_name, address, request_id)
          VALUES (\(last.entry), 0, 'server', '', '', 'account.change', 'account', '', '', '', '')
          """)
      }
      let found = try await instance.chain.verify().faults
      #expect(found.contains(.inserted(before: last.sequence)))
    }
  }

  @Test func `a deleted head at a 1,000th entry is noticed`() async throws {
    try await withInstance { instance in
      let faults = try await instance.faults(after: 1_000) { connection in
        try connection.run("DELETE /* test */ FROM audit_head WHERE sequence = 1000")
      }
      #expect(faults == [.headDeleted(1_000)])
    }
  }

  @Test func `a changed head is noticed, wherever it is`() async throws {
    try await withInstance { instance in
      for _ in 0..<3 {
        try await instance.writeEntries(3)
        try await instance.sealAll()
      }
      let heads = try await instance.chain.heads()
      #expect(heads.count == 3)
      for head in heads {
        let changes: [SQL] = [
          "signature = \(Array(head.signature.reversed()))",
          "signed_at = \(head.at.microseconds + 1)", "key_id = \("x")",
        ]
        for change in changes {
          try await instance.database.write { connection in
            _ = try connection.run(
              "UPDATE /* test */ audit_head SET \(change) WHERE sequence = \(head.sequence)")
          }
          let faults = try await instance.chain.verify().faults
          #expect(faults == [.headInvalid(head.sequence)])
          try await instance.database.write { connection in
            _ = try connection.run(
              """
              UPDATE /* test */ audit_head SET signature = \(head.signature),
                signed_at = \(head.at), key_id = \(head.keyID)
              WHERE sequence = \(head.sequence)
              """)
          }
        }
      }
      #expect(try await instance.chain.verify().faults == [])
    }
  }

  @Test func `every exported head is verified, and must be in the database`() async throws {
    try await withInstance { instance in
      for _ in 0..<3 {
        try await instance.writeEntries(3)
        try await instance.sealAll()
      }
      let heads = try await instance.chain.heads()
      for (index, head) in heads.enumerated() {
        var exported: [AuditHead?] = heads
        let other = heads[(index + 1) % heads.count]
        let line = String(decoding: head.line, as: UTF8.self).replacing(
          Base64URL.encodeStandard(head.signature), with: Base64URL.encodeStandard(other.signature))
        exported[index] = AuditHead(line: Array(line.utf8))
        let forged = try await instance.chain.verify(exported: exported).faults
        #expect(forged == [.exportInvalid(line: index + 1)])
      }
      let deleted = heads[1].sequence
      try await instance.database.write { connection in
        _ = try connection.run("DELETE /* test */ FROM audit_head WHERE sequence = \(deleted)")
      }
      #expect(try await instance.chain.verify().faults == [])
      let faults = try await instance.chain.verify(exported: heads).faults
      #expect(faults == [.headDeleted(deleted)])
    }
  }

  @Test func `a head of another key isn't valid`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let stranger = try Ed25519PrivateKey(seed: Secret(RandomSource.system.bytes(32))).publicKey
      let result = try await instance.chain.verify(trusting: [stranger])
      #expect(result.faults.count == 1 && result.head == nil)
    }
  }

  /// Deletes the newest entries with their links and heads.
  private func truncate(_ instance: Instance, to end: Int64) async throws {
    let entry = try #require(try await instance.links().first { $0.sequence == end }).entry
    try await instance.database.write { connection in
      _ = try connection.run("DELETE /* test */ FROM audit_link WHERE sequence > \(end)")
      _ = try connection.run("DELETE /* test */ FROM audit_head WHERE sequence > \(end)")
      _ = try connection.run("DELETE /* test */ FROM audit_change WHERE audit_id > \(entry)")
      _ = try connection.run("DELETE /* test */ FROM audit WHERE audit_id > \(entry)")
    }
  }

  @Test func `C12: a truncated log verifies alone, but not against exported heads`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      let exported = try await instance.chain.heads().map { AuditHead(line: $0.line) }
      let end = try #require(exported.last??.sequence)
      let proven = try await instance.chain.verify(exported: exported)
      #expect(proven.faults == [] && proven.exported?.newest?.sequence == end)
      try await truncate(instance, to: 10)
      let alone = try await instance.chain.verify()
      #expect(alone.faults == [] && alone.exported == nil)
      let faults = try await instance.chain.verify(exported: exported).faults
      #expect(faults.contains(.truncated(end)))
    }
  }

  @Test func `entries that follow a truncation differ from exported heads`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      let exported = try await instance.chain.heads()
      let end = try #require(exported.last?.sequence)
      try await truncate(instance, to: 10)
      try await instance.writeEntries(30)
      try await instance.sealAll()
      let alone = try await instance.chain.verify().faults
      #expect(alone == [])
      let faults = try await instance.chain.verify(exported: exported).faults
      #expect(faults.contains(.headDiffers(end)))
    }
  }

  @Test func `the background check notices a truncation of what it verified`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      _ = try await instance.chain.check(after: 0)
      try await truncate(instance, to: 10)
      let faults = try await instance.chain.check(after: 30)?.faults ?? []
      #expect(faults.count == 1)
      let fault = try await instance.chain.status().fault
      #expect(fault == 11)
    }
  }

  @Test func `an exported line that no known key signed is no evidence`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let head = try #require(try await instance.chain.heads().last)
      let forged = String(decoding: head.line, as: UTF8.self)
        .replacing("\"sequence\":\(head.sequence)", with: "\"sequence\":9000")
      let lines = [
        head, AuditHead(line: Array(forged.utf8)), AuditHead(line: Array("{}".utf8)),
      ]
      let faults = try await instance.chain.verify(exported: lines).faults
      #expect(faults == [.exportInvalid(line: 2), .exportInvalid(line: 3)])
    }
  }
}
