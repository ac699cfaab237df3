import Crypto
import Database
@testable import Identity
import JSON
import Testing
import Text

struct StreamEventTests {
  private func event(
    _ instance: Instance, _ entry: @escaping @Sendable () -> AuditEntry
  ) async throws -> StreamEvent {
    let stream = try await instance.addStream(fromStart: false)
    try await instance.sealAll()
    _ = try await instance.deliverAll(stream)
    let now = instance.now
    try await instance.database.write { connection in
      try entry().record(by: Instance.support, at: now, connection)
    }
    try await instance.sealAll()
    return try #require(try await instance.deliverAll(stream).first { $0.content == .entry })
  }

  @Test func `an entry has the members that docs/events.md describes`() async throws {
    try await withInstance { instance in
      let acme = instance.east
      let event = try await event(instance) {
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
      var object = try #require(event.json.objectValue)
      #expect(object["link"]?.textValue?.utf8.count == 64)
      object["link"] = nil
      object["time"] = nil
      object["sequence"] = nil
      object["tenant"] = nil
      #expect(
        String(decoding: JSON.object(object).serialized(), as: UTF8.self)
          == #"{"schema":"countersign-event/1","type":"audit","action":"account.change","#
          + #""actor":{"type":"administrator","id":"desk","name":"Dora Support","address":"198.51.100.7"},"#
          + #""project":"acme-app","resource":{"type":"account","id":"uid-1","name":"Äda"},"#
          + #""changes":[{"field":"email","old":{"none":true},"new":{"text":"new@example.com"}},"#
          + #"{"field":"disabled","old":{"flag":false},"new":{"flag":true}},"#
          + #"{"field":"adjacent-intervals","old":{"number":5},"new":{"code":"default"}},"#
          + #"{"field":"password","new":{"secret":true}},"#
          + #"{"field":"signs-from","new":{"time":"2026-09-21T14:13:20.000000Z"}},"#
          + #"{"field":"undo-period","old":{"seconds":3600}},"#
          + #"{"field":"authorized-domains","new":{"list":["a.example.com","b.example.com"]}},"#
          + #"{"field":"factors","new":{"factors":[{"id":"f1","type":"totp","name":"Phone"}]}}],"#
          + #""reason":"lost","note":"by phone","ticket":"T-1","requestId":"request-1","#
          + #""identityChecks":["called back","badge"]}"#)
    }
  }

  @Test func `C12: an event is limited, whatever an entry contains, and says that it's cut`()
    async throws
  {
    try await withInstance { instance in
      let long = String(repeating: "ä\u{1}", count: 100_000)
      let event = try await event(instance) {
        var entry = AuditEntry(.accountChange, .account, "uid-1", name: long)
        entry.add(.claims, from: .text(long), to: .text(long))
        entry.add(.authorizedDomains, .list(Array(repeating: long, count: 50)))
        entry.note = long
        return entry
      }
      let bytes = event.json.serialized()
      #expect(bytes.count <= 262_144)
      #expect(!bytes.contains(10) && !bytes.contains(1))
      let json = try JSON.parse(bytes)
      #expect(json["truncated"]?.boolValue == true)
    }
  }

  @Test func `an exported head in an event can be verified`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let events = try await instance.deliverAll(stream)
      let head = try #require(events.first { $0.content == .head }?.json["head"])
      let parsed = ExportedHead(line: head.serialized())
      let result = try await instance.chain.verify(exported: [parsed])
      #expect(result.faults == [] && result.exported?.newest?.sequence == parsed.head?.sequence)
    }
  }

  @Test func `the names of all actions fit in the message ID of syslog`() {
    for action in AuditAction.allCases {
      #expect(action.rawValue.utf8.count <= 32, "\(action)")
    }
  }
}
