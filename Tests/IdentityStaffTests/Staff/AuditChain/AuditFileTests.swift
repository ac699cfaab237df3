import Database
@testable import Identity
import JSON
import Testing
import Text

@testable import TestIdentity

struct AuditFileTests {
  @Test func `every sealed entry is written once, in order, with the signed heads`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(1_205)
      try await instance.sealAll()
      let total = try await instance.writeEntries(0)
      var position = AuditFilePosition()
      let lines = try await instance.write(from: &position)
      #expect(lines.filter { $0.type == "audit" }.map(\.sequence) == Array(1...total))
      let heads = lines.filter { $0.type == "head" }.map(\.sequence)
      let stored = try await instance.chain.heads().map(\.sequence)
      #expect(heads == stored && heads.contains(1_000))
      // A head follows the entries that it covers.
      #expect(lines.map(\.sequence) == lines.map(\.sequence).sorted())
      #expect(position.places.count < 60)
      #expect(AuditFilePosition(position.text) == position)
    }
  }

  @Test func `entries that aren't sealed yet aren't written`() async throws {
    try await withInstance { instance in
      let part = try await instance.chain.auditFilePart(after: AuditFilePosition())
      #expect(part.lines.isEmpty)
    }
  }

  @Test func `what comes after a position that wasn't stored is repeated`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(10)
      try await instance.sealAll()
      let start = AuditFilePosition()
      let first = try await instance.chain.auditFilePart(after: start, limit: 4)
      let again = try await instance.chain.auditFilePart(after: start, limit: 4)
      #expect(first.lines.map(\.bytes) == again.lines.map(\.bytes) && first.end == again.end)
      let next = try await instance.chain.auditFilePart(after: again.end, limit: 4)
      #expect(next.lines.first?.sequence == 5)
    }
  }

  @Test func `a log is behind the file of a later state until it records a restore`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      var position = AuditFilePosition()
      #expect(try await !instance.chain.isBehind(position))
      _ = try await instance.write(from: &position)
      let end = position
      #expect(try await !instance.chain.isBehind(end))
      try await withInstance { recovered in
        try await recovered.writeEntries(40)
        try await recovered.sealAll()
        let chain = recovered.identity.auditChain
        #expect(try await chain.isBehind(end))
        _ = try await recovered.identity.endTheRestoredPast(
          file: nil, keepsSessions: false, former: nil, by: Author(actor: .commandLine))
        #expect(try await !chain.isBehind(end))
      }
    }
  }

  @Test func `a head that is signed later is written although its entry was`() async throws {
    try await withInstance { instance in
      try await instance.sealAll()
      var position = AuditFilePosition()
      _ = try await instance.write(from: &position)
      try await instance.writeEntries(1)
      _ = try await instance.chain.seal()
      let entry = try await instance.write(from: &position).map(\.type)
      #expect(entry == ["audit"])
      _ = try await instance.chain.seal(signing: true)
      let head = try await instance.write(from: &position).map(\.type)
      #expect(head == ["head"])
    }
  }

  @Test func `entries that retention removed before they were written are a gap`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(20)
      try await instance.sealAll()
      var position = try await instance.chain.auditFilePart(
        after: AuditFilePosition(), limit: 5
      ).end
      instance.clock.advance(400 * 86_400)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
      try await instance.sealAll()
      while try await instance.chain.removeExpired() {}
      let lines = try await instance.write(from: &position, limit: 1)
      let gap = try #require(lines.first)
      #expect(gap.type == "gap" && gap.sequence == 6)
      let through = try #require(try gap.json["through"]?.numberValue?.int64)
      let reason = try gap.json["reason"]?.textValue?.text
      #expect(through > 20 && reason == "expired")
      #expect(lines.dropFirst().first { $0.type == "audit" }?.sequence == through + 1)
    }
  }

  /// The restored log has other links after some entries: of as many entries, of more, or of all.
  @Test(arguments: [(50, 0), (50, 20), (1_000, 0)] as [(Int64, Int)])
  func `after a restore, the entries that the file doesn't have are written`(
    _ lost: Int64, _ added: Int
  ) async throws {
    try await withInstance { instance in
      try await instance.writeEntries(200)
      try await instance.sealAll()
      var position = AuditFilePosition()
      _ = try await instance.write(from: &position, limit: 1)
      let kept = max(0, position.sequence - lost)
      try await instance.database.write { connection in
        try connection.run("DELETE FROM /* test */ audit_link WHERE sequence > \(kept)")
        try connection.run("DELETE FROM /* test */ audit_head WHERE sequence > \(kept)")
      }
      let total = try await instance.writeEntries(added)
      try await instance.sealAll()
      let lines = try await instance.write(from: &position)
      let entries = lines.filter { $0.type == "audit" }.map(\.sequence)
      let first = try #require(entries.first)
      #expect(entries == Array(first...total))
      // Only a little of what was kept is repeated.
      #expect(first <= kept + 1 && first > kept - 60)
      let heads = try await instance.chain.heads()
      #expect(lines.last?.type == "head" && lines.last?.sequence == heads.last?.sequence)
      let rest = try await instance.write(from: &position)
      #expect(rest.isEmpty)
    }
  }
}

extension Instance {
  /// Returns the lines after a position, and advances it.
  func write(from position: inout AuditFilePosition, limit: Int = 500) async throws
    -> [AuditFileLine]
  {
    var lines: [AuditFileLine] = []
    while true {
      let part = try await chain.auditFilePart(after: position, limit: limit)
      guard !part.lines.isEmpty else { return lines }
      lines += part.lines
      position = part.end
    }
  }
}

extension AuditFileLine {
  var json: JSON { get throws { try JSON.parse(bytes) } }

  /// The line's type, such as `audit`.
  var type: String { (try? json["type"]?.textValue?.text) ?? "" }
}
