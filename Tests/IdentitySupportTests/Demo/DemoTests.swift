import Crypto
import Database
import Demo
import OTP
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

struct DemoTests {
  private static let now = Instant(seconds: 1_790_000_000)

  /// A demo that several tests read, since generating one takes ten seconds.
  private struct Sample: Sendable {
    let database: DatabaseTemplate
    let keys = KeyRing(random: .system)
    let summary: DemoSummary

    static let standard = Task { try await Sample(seed: Demo.standardSeed) }
    static let other = Task { try await Sample(seed: 11) }

    init(seed: UInt64) async throws {
      let keys = keys
      (database, summary) = try await DatabaseTemplate.make { database in
        try await DemoTests.identity(database, keys).prepare()
        let demo = try Demo(
          database: database, keys: keys, hasher: .cheap, mail: TestMail.writer, seed: seed,
          now: DemoTests.now)
        return try await demo.fill()
      }
    }
  }

  private static func identity(_ database: any Database, _ keys: KeyRing) throws -> Identity {
    try Identity(
      database: database, keys: keys, profile: .standalone, hasher: .cheap, mail: TestMail.writer,
      clock: WallClock { now })
  }

  /// Runs a test on a copy of a demo.
  private func withDemo(
    _ sample: Task<Sample, any Error> = Sample.standard,
    _ body: (Identity, any Database, DemoSummary) async throws -> Void
  ) async throws {
    let sample = try await sample.value
    try await TestDatabase.with(sample.database) { test in
      let identity = try Self.identity(test.database, sample.keys)
      try await identity.prepare()
      try await body(identity, test.database, sample.summary)
    }
  }

  /// Returns the data by which two demos are compared.
  private func contents(_ database: any Database) async throws -> [[SQLValue]] {
    let queries: [SQL] = [
      "SELECT /* test */ uid, email, display_name, phone, created_at FROM account ORDER BY 1",
      "SELECT /* test */ enrollment_id, enrolled_at, display_name, 0, 0 FROM factor ORDER BY 1",
      """
      SELECT /* test */ action, at, object_id, to_value, note FROM audit
      WHERE action <> 'key.create' ORDER BY audit_id
      """,
      """
      SELECT /* test */ at, result, distance, address, user_agent FROM code_attempt
      ORDER BY 1, 2, 3, 4, 5
      """,
    ]
    return try await database.read { connection in
      try queries.flatMap { query in
        try connection.all(query) { row in
          try (0..<5).map { _ in try row.next() as SQLValue }
        }
      }
    }
  }

  @Test func `the same seed generates the same demo, and another seed a different one`()
    async throws
  {
    var demos: [[[SQLValue]]] = []
    let again = Task { try await Sample(seed: Demo.standardSeed) }
    for sample in [Sample.standard, again, Sample.other] {
      try await withDemo(sample) { _, database, _ in
        demos.append(try await contents(database))
      }
    }
    #expect(demos[0].count > 8_000)
    #expect(demos[0] == demos[1])
    #expect(demos[0] != demos[2])
  }

  @Test func `the demo contains what its summary says, with correct counts`() async throws {
    try await withDemo { identity, database, summary in
      #expect((summary.projects, summary.tenants, summary.users) == (3, 12, 5_000))
      let wrong = try await database.read { connection in
        try connection.all(
          """
          SELECT /* test */ scope_key FROM scope s WHERE
            \(AccountCounts.current("users")) <>
              (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key) OR
            \(AccountCounts.current("enrolled_users")) <>
              (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.has_totp = 1)
          """
        ) { try $0.next() as Int64 }
      }
      #expect(wrong == [])
      // Enrollment requires a verified address.
      let unverified = try await database.read { connection in
        try connection.first(
          "SELECT /* test */ count(*) FROM account WHERE has_totp = 1 AND email_verified = 0"
        ) { try $0.next() as Int }
      }
      #expect(unverified == 0)
      #expect(try await identity.isDemo())
    }
  }

  @Test func `the demo has a year of growth, and counts of three months of codes`() async throws {
    try await withDemo { identity, database, _ in
      #expect(try await ActivityRecount.countFaults(database) == [])
      #expect(try await ActivityRecount.reachFaults(database) == [])
      let bank = ID<Project>("harbour-bank")
      let days = (1...365).reversed().map { Self.now.advanced(bySeconds: -86_400 * $0) }
      let growth = try await identity.activity.enrollment(
        of: try await identity.pools.existing(project: bank), isWhole: true, at: days,
        until: Self.now)
      let changes = zip(growth, growth.dropFirst()).count { before, after in
        (before.users, before.enrolled) != (after.users, after.enrolled)
      }
      #expect(changes > 150)
      #expect(growth.last?.enrolled ?? 0 > 3 * (growth.first?.enrolled ?? 0))
      let retail = try await identity.pools.tenants(project: bank).items
        .first { $0.displayName == "retail" }
      let pool = try await identity.pools.existing(
        project: bank, tenant: try #require(retail?.pool.tenant))
      for (days, least) in [(7, 100), (30, 500), (90, 2_000)] {
        let offsets = try await identity.activity.offsets(in: pool, days: days)
        #expect(offsets.acceptedCodes > least, "\(days) days")
        #expect(
          offsets.confirmed.contains { $0 > 0 } && offsets.unconfirmedCodes > 0, "\(days) days")
      }
      let checks = try await identity.activity.checks(
        in: pool, from: Self.now.advanced(bySeconds: -90 * 86_400), to: Self.now)
      let byHour = Dictionary(grouping: checks) { $0.hour.calendar.hour }
        .mapValues { $0.map(\.accepted).reduce(0, +) }
      #expect(byHour[8] ?? 0 > 3 * (byHour[2] ?? 0))
    }
  }

  @Test func `users have code attempts: most accepted, some drifting, replayed, or locked`()
    async throws
  {
    try await withDemo { identity, database, _ in
      let counts = try await database.read { connection in
        try connection.all("SELECT /* test */ result, count(*) FROM code_attempt GROUP BY result") {
          (try $0.next() as String, try $0.next() as Int)
        }
      }
      let results = Dictionary(uniqueKeysWithValues: counts)
      #expect((results["accepted"] ?? 0) > 4_000)
      for kind in ["used", "late", "early", "wrong", "unreadable"] {
        #expect((results[kind] ?? 0) > 20, "\(kind)")
      }
      let retail = try await identity.pools.tenants(project: ID("harbour-bank")).items
        .first { $0.displayName == "retail" }
      let pool = try await identity.pools.existing(
        project: ID("harbour-bank"), tenant: try #require(retail?.pool.tenant))
      let locked = try await identity.accounts.list(pool, filter: .locked).items
      let locks = locked.map { $0.codeLock(at: Self.now) }
      #expect(locks.contains(.closed))
      #expect(locks.contains { $0 != .closed && $0 != .open })
      let latest = try await database.read { connection in
        try connection.first("SELECT /* test */ max(at) FROM code_attempt") {
          try $0.next() as Int64
        }
      }
      #expect(try #require(latest) <= Self.now.microseconds + 100)
    }
  }

  @Test func `there are support actions, and requests left to decide`() async throws {
    try await withDemo(Sample.other) { identity, database, _ in
      let counts = try await database.read { connection in
        try connection.first(
          """
          SELECT /* test */
            (SELECT count(*) FROM removed_factor),
            (SELECT count(*) FROM factor WHERE suspended_until > \(Self.now)),
            (SELECT count(*) FROM account WHERE protected = 1),
            (SELECT count(*) FROM account WHERE changes_locked_at IS NOT NULL),
            (SELECT count(*) FROM backup_code_set WHERE expires_at > \(Self.now)),
            (SELECT count(*) FROM bulk_job WHERE state = 'done'),
            (SELECT count(*) FROM bulk_job WHERE state = 'waiting')
          """
        ) { row in try (0..<7).map { _ in try row.next() as Int } }
      }
      let found = try #require(counts)
      #expect(found.allSatisfy { $0 > 0 }, "\(found)")
      let held = try await identity.support.held()
      #expect(held.map(\.pool.name) == ["clinic-south"])
      // No one is still signed in to the console.
      let sessions = try await database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM console_session") {
          try $0.next() as Int
        }
      }
      #expect(sessions == 0)
    }
  }

  @Test func `a review finds recent sign-ins, a sign-off that is out of date, and exemptions`()
    async throws
  {
    try await withDemo { identity, database, summary in
      let records = try await identity.administrators.records()
      #expect(records.count == summary.administrators.count)
      for record in records {
        let id = record.administrator.id
        let acted = try await database.read { connection in
          try connection.first(
            """
            SELECT /* test */ max(at) FROM audit WHERE actor_id = \(id)
              AND action LIKE 'policy%'
            """
          ) { try $0.next() as Int64? } ?? nil
        }
        let used = try #require(record.lastUsedAt)
        #expect(used.microseconds >= acted ?? 0 && record.hasSecondFactor)
      }
      let owner = try #require(
        records.map(\.administrator).first { $0.grants.contains { $0.role == .owner } })
      let bank = try await identity.reviews.evidence(of: ID("harbour-bank"), for: owner)
      #expect(bank.signOffs.count == 1 && bank.signOffs.first?.digest != bank.digest)
      #expect(try await identity.exemptions.list(visibleTo: owner).count == 2)
    }
  }

  @Test func `a factor was last used when its last code was accepted`() async throws {
    try await withDemo { _, database, _ in
      let used = try await database.read { connection in
        try connection.first(
          """
          SELECT /* test */ count(*) FROM factor f
          WHERE f.kind = 'totp' AND f.last_used_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM code_attempt c WHERE c.account_key = f.account_key)
            AND NOT EXISTS (
              SELECT 1 FROM code_attempt c
              WHERE c.account_key = f.account_key AND c.result = 'accepted')
          """
        ) { try $0.next() as Int }
      }
      #expect(used == 0)
    }
  }

  @Test func `the audit log is in order and not in the future`() async throws {
    try await withDemo { identity, _, _ in
      let log = try await identity.audit.list(limit: 5_000).items.filter {
        $0.action != .signingKeyCreate
      }
      #expect(log.count > 1_000)
      #expect(log.allSatisfy { $0.at <= Self.now })
      #expect(zip(log, log.dropFirst()).allSatisfy { $0.at >= $1.at })
      let month = log.filter { $0.at > Self.now.advanced(bySeconds: -30 * 86_400) }
      let kinds = Set(month.map(\.action))
      #expect(
        kinds.isSuperset(of: [
          .accountSignUp, .factorEnroll, .factorRemove, .policyChange, .accountChange,
          .sessionsEnd,
        ]))
      #expect(month.filter { $0.action == .factorRemove }.allSatisfy { $0.reason != nil })
    }
  }

  @Test func `a server that starts finds little to delete`() async throws {
    try await withDemo { identity, _, _ in
      let newest = try await identity.audit.list(limit: 1).items[0].id
      try await identity.purgeExpired()
      let log = try await identity.audit.list(limit: 100).items
      #expect(log.prefix { $0.id != newest }.count < 5)
    }
  }

  @Test func `everyone named in the summary can sign in`() async throws {
    try await withDemo { identity, _, summary in
      for person in summary.administrators {
        let first = try await identity.consoleSessions.signIn(
          email: person.email, password: person.password, address: "127.0.0.1", userAgent: "test")
        guard let app = person.authenticator else {
          _ = try first.session
          continue
        }
        _ = try await identity.consoleSessions.finish(
          try first.pending,
          code: TypedCode(app.code(step: app.step(at: identity.clock.now().seconds))),
          address: "127.0.0.1", userAgent: "test")
      }
      #expect(summary.administrators.count { $0.authenticator != nil } == 5)
      #expect(summary.user?.authenticator != nil)
    }
  }

  @Test func `a demo requires an empty instance`() async throws {
    try await withInstance { instance in
      let demo = try Demo(
        database: instance.database, keys: instance.keys, hasher: .cheap, mail: TestMail.writer)
      let error = try await thrown(DemoError.self) { _ = try await demo.fill() }
      guard case .notEmpty = error else { throw Unexpected("\(String(describing: error))") }
      #expect(try await instance.identity.isDemo() == false)
    }
  }
}
