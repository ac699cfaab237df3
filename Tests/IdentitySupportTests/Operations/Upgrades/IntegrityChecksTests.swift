import Testing

@testable import Identity
@testable import TestIdentity

struct IntegrityChecksTests {
  private let hour: Int64 = 3_600

  @Test func `the first check waits for a quiet moment`() async throws {
    try await withInstance { instance in
      let checks = instance.identity.integrityChecks
      let whenBusy = try await checks.isDue(isQuiet: false)
      let whenQuiet = try await checks.isDue(isQuiet: true)
      #expect(!whenBusy && whenQuiet)
    }
  }

  @Test func `a check is due after a day, and after a day and a half even when busy`() async throws
  {
    try await withInstance { instance in
      let checks = instance.identity.integrityChecks
      try await checks.record([])
      var due: [String] = []
      for hours in [23, 2, 12] as [Int64] {
        instance.clock.advance(hours * hour)
        let whenQuiet = try await checks.isDue(isQuiet: true)
        let whenBusy = try await checks.isDue(isQuiet: false)
        due.append("\(whenQuiet) \(whenBusy)")
      }
      #expect(due == ["false false", "true false", "true true"])
    }
  }

  @Test func `after a check was abandoned, the next one is due a day later`() async throws {
    try await withInstance { instance in
      let checks = instance.identity.integrityChecks
      try await checks.record([])
      instance.clock.advance(40 * hour)
      let abandoned = instance.now
      var due: [Bool] = []
      for hours in [0, 23, 1] as [Int64] {
        instance.clock.advance(hours * hour)
        due.append(try await checks.isDue(isQuiet: true, abandoned: abandoned))
      }
      #expect(due == [false, false, true])
      instance.clock.advance(-70 * hour)
      // A clock that was set back doesn't delay it.
      let afterSetback = try await checks.isDue(isQuiet: true, abandoned: abandoned)
      #expect(afterSetback)
    }
  }

  @Test func `faults are a problem until a check finds none`() async throws {
    try await withInstance { instance in
      let checks = instance.identity.integrityChecks
      let start = instance.now
      try await checks.record(["page 7: bad cell", "row missing"])
      let damaged = try await checks.problem(since: start)
      #expect(damaged == .damaged)
      let latest = try await checks.latest()
      #expect(latest?.faults == ["page 7: bad cell", "row missing"])
      try await checks.record([])
      let repaired = try await checks.problem(since: start)
      #expect(repaired == nil)
    }
  }

  @Test func `a check is overdue three days after it or the start of the server`() async throws {
    try await withInstance { instance in
      let checks = instance.identity.integrityChecks
      let start = instance.now
      let atStart = try await checks.problem(since: start)
      instance.clock.advance(73 * hour)
      let withoutCheck = try await checks.problem(since: start)
      let afterRestart = try await checks.problem(since: instance.now)
      #expect(atStart == nil)
      #expect(withoutCheck == .overdue)
      #expect(afterRestart == nil)
      try await checks.record([])
      let checked = try await checks.problem(since: start)
      #expect(checked == nil)
    }
  }

  @Test func `only owners of the instance see the damage`() async throws {
    try await withInstance { instance in
      let checks = instance.identity.integrityChecks
      try await checks.record(["page 7: bad cell"])
      let owner = try await instance.administrator("olga", .owner)
      let agent = try await instance.administrator("sami", .support)
      let seen = try await checks.damage(visibleTo: owner)
      let unseen = try await checks.damage(visibleTo: agent)
      #expect(seen?.faults == ["page 7: bad cell"])
      #expect(unseen == nil)
    }
  }
}
