import Identity
import Testing

@testable import TestIdentity

private let long = String(repeating: "word ", count: 200)

struct PoolGuidanceTests {
  private func write(
    _ text: String, over version: Int = 0, in pool: Pool? = nil, _ instance: Instance
  ) async throws -> Int {
    try await instance.identity.guidance.write(
      pool ?? instance.acme, text, expecting: version, by: .program(Instance.boss)
    ).value
  }

  @Test func `each save creates a version, and all versions are preserved`() async throws {
    try await withInstance { instance in
      let guidance = instance.identity.guidance
      let none = try await guidance.read(instance.acme)
      #expect(none == nil)
      #expect(try await write("Call back.", instance) == 1)
      instance.clock.advance(60)
      #expect(try await write("Call back twice.", over: 1, instance) == 2)
      let newest = try #require(try await guidance.read(instance.acme))
      #expect(newest.text == "Call back twice." && newest.version.number == 2)
      #expect(newest.version.writtenBy == "Bo the boss" && newest.version.writtenAt == instance.now)
      let first = try await guidance.read(instance.acme, version: 1)
      #expect(first?.text == "Call back.")
      for number in [0, 3, -1, Int.max] {
        let missing = try await guidance.read(instance.acme, version: number)
        #expect(missing == nil, "\(number)")
      }
      let versions = try await guidance.versions(instance.acme, limit: 1)
      #expect(versions.items.map(\.number) == [2])
      let older = try await guidance.versions(instance.acme, after: versions.next)
      #expect(older.items.map(\.number) == [1] && older.next == nil)
    }
  }

  @Test func `a save writes one audit row with the length but not the text`() async throws {
    try await withInstance { instance in
      _ = try await write("Call back.", instance)
      _ = try await write("", over: 1, instance)
      let rows = try await instance.log().prefix(2)
      #expect(rows.map(\.action) == [.guidanceChange, .guidanceChange])
      #expect(rows.map { $0.old(.version) } == [.number(1), .absent])
      #expect(
        rows.map { $0.new(.bytes) } == [.number(0), .number(10)])
    }
  }

  @Test func `saving the same text changes nothing, whatever its line endings`() async throws {
    try await withInstance { instance in
      let first = try await write("One\r\nTwo\rThree\n", instance)
      let second = try await write("One\nTwo\r\nThree\r\n", over: 1, instance)
      #expect(first == 1 && second == 1)
      let text = try await instance.identity.guidance.read(instance.acme)?.text
      #expect(text == "One\nTwo\nThree\n")
      #expect(try await instance.log().map(\.action).tally[.guidanceChange] == 1)
    }
  }

  @Test func `saving over a newer version is refused`() async throws {
    try await withInstance { instance in
      _ = try await write("NewerVersion", instance)
      await expect("changedMeanwhile") { try await write("Mine", instance) }
      #expect(try await instance.identity.guidance.read(instance.acme)?.text == "NewerVersion")
    }
  }

  @Test func `exactly one of several concurrent saves succeeds`() async throws {
    try await withInstance { instance in
      let guidance = instance.identity.guidance
      let acme = instance.acme
      let outcomes = try await concurrently(8) { number in
        await outcome {
          try await guidance.write(
            acme, "Text \(number)", expecting: 0, by: .program(Instance.support))
        }
      }
      #expect(outcomes.tally == ["done": 1, "changedMeanwhile": 7])
      let versions = try await guidance.versions(acme)
      #expect(versions.items.count == 1)
    }
  }

  @Test func `a text has at most 64 KiB`() async throws {
    try await withInstance { instance in
      let longest = PoolGuidance.longest
      _ = try await write(String(repeating: "a", count: longest), instance)
      let long = String(repeating: "ü", count: longest / 2) + "a"
      await expect("tooLong") { try await write(long, over: 1, instance) }
      _ = try await write(String(repeating: "\r\n", count: longest), over: 1, instance)
    }
  }

  @Test(
    arguments: [
      ("", nil, nil),
      ("Short.", "Short.", true),
      (
        String(repeating: "word ", count: 40) + "\n\n" + String(repeating: "more ", count: 200),
        String(repeating: "word ", count: 40), false
      ),
      (
        String(repeating: "word ", count: 300), String(repeating: "word ", count: 119) + "word…",
        false
      ),
      ("# Calls\n\nAsk.\n\n## Staff\n\n" + long, "# Calls\n\nAsk.", false),
      ("Ask.\n\n\n## Staff\n\n\n\n" + long, "Ask.", false),
      ("Ask.\n## Staff\n\n### Germany\n\n" + long, "Ask.", false),
      ("Ask.\n\nStaff\n-----\n\n" + long, "Ask.", false),
      ("Ask.\n\n---\n\n" + long, "Ask.", false),
      ("# Staff\n\n" + long, "# Staff\n\n" + String(long.prefix(589)) + "…", false),
    ] as [(String, String?, Bool?)])
  func `the excerpt ends with a paragraph or a word, not with a heading`(
    text: String, beginning: String?, isWhole: Bool?
  ) async throws {
    try await withInstance { instance in
      _ = try await write("x", instance)
      _ = try await write(text, over: 1, instance)
      let found = try await instance.records(of: instance.account(.alice)).guidance
      #expect(found?.text == beginning)
      #expect(found?.isWhole == isWhole)
    }
  }

  @Test func `guidance belongs to its pool and is deleted with its tenant`() async throws {
    try await withInstance { instance in
      let guidance = instance.identity.guidance
      _ = try await write("Acme's", instance)
      _ = try await write("East's", in: instance.east, instance)
      #expect(try await guidance.read(instance.acme)?.text == "Acme's")
      #expect(try await guidance.read(instance.east)?.text == "East's")
      let west = try await guidance.read(instance.west)
      #expect(west == nil)
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant ?? ID(""),
        by: .program(Instance.boss))
      let gone = try await guidance.read(instance.east)
      #expect(gone == nil)
      await expect("poolDeleted") { try await write("More", in: instance.east, instance) }
    }
  }
}
