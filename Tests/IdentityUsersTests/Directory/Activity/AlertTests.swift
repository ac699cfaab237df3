import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Unusual activity across the users of a pool.
struct AlertTests {
  /// Records a code of imported users.
  private func record(
    _ instance: Instance, _ users: Range<Int>, _ finding: CodeFinding
  ) async throws {
    let (pool, now) = (instance.acme, instance.now)
    for number in users {
      try await instance.database.write { connection in
        guard let account = try AccountRecord.find(pool, ID("u\(number)"), connection) else {
          throw Unexpected("no such user")
        }
        let recorder = CodeAttemptRecorder(
          account: account, pool: pool, way: .app, origin: RequestOrigin())
        if finding.result.isSuccess {
          try recorder.pass(finding, at: now, connection)
        } else {
          _ = try recorder.fail(finding, at: now, connection)
        }
      }
    }
  }

  private func kinds(_ instance: Instance) async throws -> [Alert.Kind] {
    try await instance.identity.watchActivity()
    return try await instance.identity.alerts.ongoing(in: instance.acme).map(\.kind)
  }

  @Test func `incorrect codes for many users within ten minutes raise an alert, not for fewer`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(12)
      try await record(instance, 0..<9, CodeFinding(.wrong))
      // More codes of the same users, and codes of more than ten minutes ago, aren't more users.
      try await record(instance, 0..<9, CodeFinding(.wrong))
      let below = try await kinds(instance)
      instance.clock.advance(601)
      try await record(instance, 9..<12, CodeFinding(.wrong))
      let spread = try await kinds(instance)
      try await record(instance, 0..<7, CodeFinding(.wrong))
      let reached = try await kinds(instance)
      #expect(below.isEmpty && spread.isEmpty && reached == [.spraying])
      let alert = try #require(
        try await instance.identity.alerts.ongoing(in: instance.acme).first)
      #expect(alert.count == 10 && alert.startedAt == instance.now)
    }
  }

  @Test func `codes from while the clock was ahead raise no alerts once it's right`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(20)
      instance.clock.advance(86_400)
      try await record(instance, 0..<20, CodeFinding(.wrong))
      try await record(instance, 0..<20, CodeFinding(.accepted, distance: -3, step: 1))
      instance.clock.advance(-86_400)
      let after = try await kinds(instance)
      instance.clock.advance(86_400)
      let ahead = try await kinds(instance)
      #expect(after.isEmpty && Set(ahead) == [.spraying, .drift])
    }
  }

  @Test func `near misses and accepted codes aren't spraying`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(12)
      try await record(instance, 0..<12, CodeFinding(.late, distance: -7, step: 1))
      try await record(instance, 0..<12, CodeFinding(.accepted, distance: 0, step: 8))
      let found = try await kinds(instance)
      #expect(found.isEmpty)
    }
  }

  @Test(arguments: [(0, 10), (2_000, 10), (2_001, 11), (1_000_000, 5_000)])
  func `a large pool must have more users with incorrect codes`(enrolled: Int, least: Int) {
    #expect(AlertThreshold.sprayed(ofEnrolled: enrolled) == least)
  }

  @Test func `codes that are off in the same direction raise an alert`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(20)
      try await record(instance, 0..<19, CodeFinding(.accepted, distance: -1, step: 1))
      let few = try await kinds(instance)
      try await record(instance, 19..<20, CodeFinding(.accepted, distance: 0, step: 1))
      let enough = try await kinds(instance)
      #expect(few.isEmpty && enough == [.drift])
    }
  }

  @Test func `near misses raise an alert if the clock is off by more than the window`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(20)
      for step: Int64 in [1, 2] {
        try await record(instance, 0..<20, CodeFinding(.late, distance: -4, step: step))
        instance.clock.advance(30)
      }
      let found = try await kinds(instance)
      #expect(found == [.drift])
    }
  }

  @Test func `one observation of each user counts, the newest`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(20)
      try await record(instance, 0..<20, CodeFinding(.accepted, distance: 2, step: 1))
      instance.clock.advance(60)
      try await record(instance, 0..<11, CodeFinding(.accepted, distance: 0, step: 2))
      let found = try await kinds(instance)
      #expect(found.isEmpty)
    }
  }

  @Test(arguments: [
    ([Int](repeating: -1, count: 10) + [Int](repeating: 1, count: 10), false),
    ([Int](repeating: 1, count: 11) + [Int](repeating: 0, count: 9), true),
    ([Int](repeating: 1, count: 10) + [Int](repeating: 0, count: 10), false),
    ([Int](repeating: 3, count: 19), false),
  ])
  func `the median decides on drift`(offsets: [Int], isDrift: Bool) {
    #expect(AlertThreshold.isDrift(offsets) == isDrift)
  }

  @Test(arguments: [(5, 0, false), (6, 0, true), (6, 863, true), (6, 864, false)])
  func `more than five removals, and five times the usual, are unusual`(
    removals: Int, before: Int, isUnusual: Bool
  ) {
    #expect(AlertThreshold.isUnusual(removals: removals, after: before) == isUnusual)
  }

  @Test func `sudden removals raise an alert, removals over several hours don't`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(12)
      let agent = try await instance.agent()
      func remove(_ users: Range<Int>) async throws {
        try await instance.reauthenticate(agent.session)
        for number in users {
          _ = try await instance.identity.factorRemovals.remove(
            instance.acme, ID("u\(number)"), nil, agent.request())
        }
        while try await instance.identity.audit.file() {}
      }
      try await remove(0..<5)
      instance.clock.advance(3_601)
      try await remove(5..<10)
      let slow = try await kinds(instance)
      try await remove(10..<11)
      let sudden = try await kinds(instance)
      #expect(slow.isEmpty && sudden == [.removals])
    }
  }

  @Test func `removals by one user raise no alert, and those of users don't hide other ones`()
    async throws
  {
    try await withInstance { instance in
      let pool = instance.acme
      /// Records unenrollments of distinct users, repeatedly, or removals by an agent.
      func record(_ action: AuditAction, _ users: Range<Int>, times: Int = 1) async throws {
        let now = instance.now
        for number in users {
          for _ in 0..<times {
            try await instance.database.write { connection in
              let entry = AuditEntry(action, .account, "u\(number)", name: "user", in: pool)
              try entry.record(by: Instance.boss, at: now, connection)
            }
          }
        }
        while try await instance.identity.audit.file() {}
      }
      try await record(.factorWithdraw, 0..<1, times: 20)
      let one = try await kinds(instance)
      try await record(.factorWithdraw, 0..<5)
      let five = try await kinds(instance)
      #expect(one.isEmpty && five.isEmpty)
      // In three hours, 60 users unenroll 10 times each, of which one of each counts.
      for _ in 0..<3 {
        instance.clock.advance(3_601)
        try await record(.factorWithdraw, 100..<120, times: 10)
      }
      instance.clock.advance(2 * 3_601)
      let before = try await kinds(instance)
      try await record(.factorRemoveAll, 200..<206)
      let removed = try await kinds(instance)
      #expect(before.isEmpty && removed == [.removals])
    }
  }

  @Test func `owners get one email while an alert goes on, and another one for the next`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.agent("otto", role: .owner)
      _ = try await instance.agent("zoe", role: .owner, project: instance.globex.project)
      try await instance.addUsers(10)
      try await record(instance, 0..<10, CodeFinding(.wrong))
      for _ in 0..<3 {
        try await instance.identity.watchActivity()
        instance.clock.advance(60)
      }
      let first = try await instance.mails("alert-activity")
      #expect(first.map(\.recipient) == ["otto@desk.example.com"])
      #expect(first.first?.body.contains("10 users") == true)
      instance.clock.advance(2_400)
      let over = try await kinds(instance)
      try await record(instance, 0..<10, CodeFinding(.wrong))
      let again = try await kinds(instance)
      let mails = try await instance.mails("alert-activity").count
      #expect(over.isEmpty && again == [.spraying] && mails == 2)
    }
  }

  @Test func `an alert ends after half an hour without anything unusual`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(10)
      try await record(instance, 0..<10, CodeFinding(.wrong))
      let first = try await kinds(instance)
      instance.clock.advance(1_799)
      let ongoing = try await kinds(instance)
      instance.clock.advance(1)
      let ended = try await kinds(instance)
      #expect(first == [.spraying] && ongoing == [.spraying] && ended.isEmpty)
    }
  }

  @Test func `administrators see the alerts of the pools that they can see`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(10)
      try await record(instance, 0..<10, CodeFinding(.wrong))
      try await instance.identity.watchActivity()
      let alerts = instance.identity.alerts
      let own = try await instance.agent("omar", project: instance.acme.project)
      let other = try await instance.agent("zoe", project: instance.globex.project)
      let seen = try await alerts.ongoing(visibleTo: own.administrator, limit: 9).map(\.kind)
      let hidden = try await alerts.ongoing(visibleTo: other.administrator, limit: 9).count
      #expect(seen == [.spraying] && hidden == 0)
    }
  }
}
