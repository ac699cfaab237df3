import Crypto
import Database
@testable import Identity
import JSON
import Testing
import Text

@testable import TestIdentity

struct AuditFileLineTests {
  private func line(
    _ instance: Instance, _ entry: @escaping @Sendable () -> AuditEntry
  ) async throws -> AuditFileLine {
    try await instance.sealAll()
    var position = AuditFilePosition()
    _ = try await instance.write(from: &position)
    let now = instance.now
    try await instance.database.write { connection in
      try entry().record(by: Instance.support, at: now, connection)
    }
    try await instance.sealAll()
    return try #require(
      try await instance.write(from: &position).first { $0.type == "audit" })
  }

  @Test func `an entry has the members that docs/audit-file.md describes`() async throws {
    try await withInstance { instance in
      let acme = instance.east
      let line = try await line(instance) {
        var entry = AuditEntry(.accountChange, .account, "uid-1", name: "Äda", in: acme)
        entry.add(.email, from: .absent, to: .text("new@example.com"))
        entry.add(.disabled, from: .flag(false), to: .flag(true))
        entry.add(.adjacentIntervals, from: .number(5), to: .code("default"))
        entry.add(.password, .secret)
        entry.add(.signsFrom, .instant(Instant(seconds: 1_790_000_000)))
        entry.add(.undoPeriod, lost: .duration(3_600))
        entry.add(.authorizedDomains, .list(["a.example.com", "b.example.com"]))
        entry.add(
          .factors,
          .factors([AuditFactor(id: "f1", kind: .totp, displayName: "Phone", phoneNumber: nil)]))
        entry.reason = "lost"
        entry.note = "by phone"
        entry.ticket = "T-1"
        entry.proof = "called back\nbadge"
        return entry
      }
      var object = try #require(try line.json.objectValue)
      #expect(object["link"]?.textValue?.utf8.count == 64)
      object["link"] = nil
      object["time"] = nil
      object["sequence"] = nil
      object["tenant"] = nil
      let expected = [
        #"{"schema":"countersign-event/1","type":"audit","action":"account.change","#,
        #""actor":{"type":"administrator","id":"desk","name":"Dora Support","address":"198.51.100.7"},"#,
        #""project":"acme-app","resource":{"type":"account","id":"uid-1","name":"Äda"},"#,
        #""changes":[{"field":"email","old":{"none":true},"new":{"text":"new@example.com"}},"#,
        #"{"field":"disabled","old":{"flag":false},"new":{"flag":true}},"#,
        #"{"field":"adjacent-intervals","old":{"number":5},"new":{"code":"default"}},"#,
        #"{"field":"password","new":{"secret":true}},"#,
        #"{"field":"signs-from","new":{"time":"2026-09-21T14:13:20.000000Z"}},"#,
        #"{"field":"undo-period","old":{"seconds":3600}},"#,
        #"{"field":"authorized-domains","new":{"list":["a.example.com","b.example.com"]}},"#,
        #"{"field":"factors","new":{"factors":[{"id":"f1","type":"totp","name":"Phone"}]}}],"#,
        #""reason":"lost","note":"by phone","ticket":"T-1","requestId":"request-1","#,
        #""identityChecks":["called back","badge"]}"#,
      ]
      #expect(
        String(decoding: JSON.object(object).serialized(), as: UTF8.self) == expected.joined())
    }
  }

  @Test func `C12: a line is limited, whatever an entry contains, and says that it's cut`()
    async throws
  {
    try await withInstance { instance in
      let long = String(repeating: "ä\u{1}", count: 100_000)
      let line = try await line(instance) {
        var entry = AuditEntry(.accountChange, .account, "uid-1", name: long)
        entry.add(.claims, from: .text(long), to: .text(long))
        entry.add(.authorizedDomains, .list(Array(repeating: long, count: 50)))
        entry.note = long
        return entry
      }
      let bytes = line.bytes
      #expect(bytes.count <= 262_144)
      #expect(!bytes.contains(10) && !bytes.contains(1))
      let json = try JSON.parse(bytes)
      #expect(json["truncated"]?.boolValue == true)
    }
  }

  @Test func `a head in a line can be verified`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      var position = AuditFilePosition()
      let lines = try await instance.write(from: &position)
      let head = try #require(try lines.first { $0.type == "head" }?.json["head"])
      let parsed = AuditHead(line: head.serialized())
      let result = try await instance.chain.verify(exported: [parsed])
      #expect(result.faults == [] && result.exported?.newest?.sequence == parsed?.sequence)
    }
  }
}
