import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct AgeingTests {
  /// Returns the number of code attempts that are still in the log of each pool.
  private func kept(_ instance: Instance) async throws -> [Int] {
    try await instance.database.read { connection in
      try connection.all(
        "SELECT /* test */ count(*) FROM code_attempt GROUP BY scope_key ORDER BY scope_key"
      ) { try $0.next() as Int }
    }
  }

  /// Returns the numbers of attempts counted by outcome.
  private func counted(_ instance: Instance, in pool: Pool) async throws -> [Int] {
    let checks = try await instance.identity.activity.checks(
      in: pool, from: Instant(seconds: 0), to: instance.now)
    return [
      checks.map(\.accepted), checks.map(\.outside), checks.map(\.incorrect),
      checks.map(\.locked),
    ].map { $0.reduce(0, +) }
  }

  private func age(_ instance: Instance) async throws {
    var rounds = 0
    while try await instance.identity.codeAttempts.age() {
      rounds += 1
      try #require(rounds < 100)
    }
  }

  @Test func `code attempts past the pool's retention period are deleted, and remain counted`()
    async throws
  {
    try await withInstance { instance in
      var settings = try await instance.identity.support.settings(instance.acme)
      settings.codeAttemptDays = 30
      try await instance.identity.support.change(
        instance.acme, to: settings, by: .program(Instance.boss))
      try await instance.setWindow(1)
      let device = try await instance.enrolled(.alice)
      let first = instance.now.seconds / 86_400
      try await instance.enterCode(device, code: device.code(at: instance.now, steps: -4))
      instance.clock.advance(90)
      try await instance.enterCode(device, code: device.code(at: instance.now, steps: -1))
      instance.clock.advance(86_400)
      // No correct code confirms this near miss.
      try await instance.enterCode(device, code: device.code(at: instance.now, steps: -4))
      for _ in 0..<4 { try await instance.enterCode(device, code: "0") }
      for _ in 0..<6 { try await instance.enterCode(device, code: "0") }
      try await age(instance)
      #expect(try await kept(instance) == [9])
      // The last second of the thirtieth day after the first, then the next second.
      let end = (first + 31) * 86_400 - instance.now.seconds - 1
      instance.clock.advance(end)
      try await age(instance)
      #expect(try await kept(instance) == [9])
      let offsets = try await instance.identity.activity.offsets(in: instance.acme, days: 90)
      instance.clock.advance(1)
      try await age(instance)
      #expect(try await instance.codeAttempts(device.account).count == 6)
      instance.clock.advance(86_400)
      try await age(instance)
      #expect(try await instance.codeAttempts(device.account).isEmpty)
      #expect(try await counted(instance, in: instance.acme) == [2, 2, 4, 6])
      #expect(
        try await instance.identity.activity.offsets(in: instance.acme, days: 90) == offsets)
      let affected = try await instance.identity.activity.affected(
        in: instance.acme, beyond: 2, days: 90
      ).items
      #expect(affected.map(\.reach) == [4] && affected.map(\.codes) == [0])
      #expect(affected.map(\.distance) == [nil])
      // The next attempt starts a new chain.
      instance.clock.advance(86_400)
      try await instance.enterCode(device, code: device.code(at: instance.now))
      #expect(try await instance.codeAttempts(device.account).map(\.result) == [.accepted])
    }
  }

  @Test func `each pool has its own retention period, and attempts are removed in batches`()
    async throws
  {
    try await withInstance { instance in
      var settings = try await instance.identity.support.settings(instance.east)
      settings.codeAttemptDays = 1
      try await instance.identity.support.change(
        instance.east, to: settings, by: .program(Instance.boss))
      let now = instance.now
      for pool in [instance.acme, instance.east] {
        let account = try await instance.account(.alice, in: pool)
        try await instance.database.write { connection in
          var previous: Int64?
          for number in 0..<1_201 as Range<Int64> {
            let at = now.microseconds + number
            try connection.run(
              """
              INSERT /* test */ INTO code_attempt (scope_key, at, account_key, previous, way, result,
                address, user_agent)
              SELECT scope_key, \(at), account_key, \(previous), 'app', 'wrong', '', ''
              FROM account WHERE uid = \(account.id)
              """)
            previous = at
          }
          try connection.run(
            """
            UPDATE /* test */ account SET last_code_attempt_at = \(previous)
            WHERE uid = \(account.id)
            """)
        }
      }
      instance.clock.advance(3 * 86_400)
      #expect(try await !instance.identity.codeAttempts.age(), "one run deletes all batches")
      #expect(try await kept(instance) == [1_201])
      instance.clock.advance(90 * 86_400)
      try await age(instance)
      #expect(try await kept(instance) == [])
    }
  }

  @Test func `a run goes on after the pools of the last one`() async throws {
    try await withInstance { instance in
      let attempts = instance.identity.codeAttempts
      for pool in [instance.acme, instance.east] {
        let device = try await instance.enrolled(.alice, in: pool)
        try await instance.enterCode(device, code: "0", in: pool)
      }
      let before = try await kept(instance)
      instance.clock.advance(400 * 86_400)
      #expect(try await attempts.age(atMost: 1))
      #expect(try await kept(instance) == Array(before.suffix(1)))
      // An attempt in the first pool, past its retention as well, isn't deleted by the second run.
      try await instance.database.write { connection in
        try connection.run(
          """
          INSERT /* test */ INTO code_attempt (scope_key, at, account_key, way, result, address,
            user_agent)
          SELECT scope_key, 0, account_key, 'app', 'wrong', '', '' FROM account
          WHERE scope_key = \(instance.acme.key) LIMIT 1
          """)
      }
      #expect(try await attempts.age(atMost: 1))
      #expect(try await kept(instance) == [1])
      #expect(try await !attempts.age(atMost: 1))
      #expect(try await attempts.age(atMost: 1))
      #expect(try await kept(instance) == [])
    }
  }

  @Test func `after 90 days, only counts know how far a user's codes were off`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(5)
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      for device in [alice, bob] {
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: 4))
      }
      let day = instance.now
      instance.clock.advance(91 * 86_400)
      try await instance.enterCode(bob, code: bob.code(at: instance.now, steps: 2))
      // The changes of the first day aren't folded yet.
      while try await instance.identity.activity.age() {}
      let reaches = try await instance.database.read { connection in
        try connection.all(
          "SELECT /* test */ length(reach) FROM account ORDER BY uid = \(bob.account.id)"
        ) {
          try $0.next() as Int
        }
      }
      #expect(reaches == [5 * 5, 5 * 5])
      try await instance.fold()
      instance.clock.advance(86_400)
      while try await instance.identity.activity.age() {}
      let aged = try await instance.database.read { connection in
        try connection.all(
          "SELECT /* test */ length(reach) FROM account ORDER BY uid = \(bob.account.id)"
        ) {
          try $0.next() as Int
        }
      }
      #expect(aged == [5, 3 * 5])
      let checks = try await instance.identity.activity.checks(
        in: instance.acme, from: day, to: day)
      #expect(checks.map(\.accepted) == [4])
      for device in [alice, bob] {
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: 3))
      }
      let offsets = try await instance.identity.activity.offsets(in: instance.acme, days: 7)
      #expect(offsets.users[3] == 2 && offsets.users[4] == 0)
    }
  }

  @Test func `deleting a pool deletes its code attempts and counts`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(1, in: instance.east)
      let device = try await instance.enrolled(.alice, in: instance.east)
      try await instance.enterCode(device, code: "0", in: instance.east)
      instance.clock.advance(92 * 86_400)
      try await instance.enterCode(device, code: "0", in: instance.east)
      try await age(instance)
      #expect(try await counted(instance, in: instance.east) == [1, 0, 2, 0])
      try await instance.identity.pools.delete(
        project: instance.east.project, tenant: instance.east.tenant,
        by: .program(Instance.boss))
      while try await instance.identity.purge() {}
      #expect(try await counted(instance, in: instance.east) == [0, 0, 0, 0])
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM code_attempt") {
          try $0.next() as Int
        }
      }
      #expect(left == 0)
    }
  }
}
