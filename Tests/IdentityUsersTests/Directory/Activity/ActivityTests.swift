import Crypto
import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

struct ActivityTests {
  private static let always = (from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000))

  /// Expects every count to equal a recount.
  private func expectSound(
    _ instance: Instance, _ models: [(pool: Pool, model: ActivityModel)], _ note: Comment
  ) async throws {
    let activity = instance.identity.activity
    for (pool, model) in models {
      let checks = try await activity.checks(
        in: pool, from: Self.always.from, to: Self.always.to)
      #expect(checks.map(\.hour) == checks.map(\.hour).sorted())
      let counted = Dictionary(uniqueKeysWithValues: checks.map { ($0.hour, $0.byOutcome) })
      #expect(counted == ActivityModel.checks(model.events), note)
      for days in [1, 7, 30, 90] {
        let offsets = try await activity.offsets(in: pool, days: days)
        #expect(offsets == model.offsets(days: days, at: instance.now), note)
      }
      for days in [1, 3, 7, 45] {
        let counts = try await activity.offsetCounts(in: pool, days: days)
        let latest = model.offsets(days: days, at: instance.now)
        let both = model.offsets(days: 2 * days, at: instance.now)
        #expect(
          [counts.latest.accepted, counts.latest.confirmed, counts.latest.unconfirmed]
            == [latest.acceptedCodes, latest.confirmedCodes, latest.unconfirmedCodes], note)
        #expect(
          [counts.before.accepted, counts.before.confirmed, counts.before.unconfirmed]
            == [
              both.acceptedCodes - latest.acceptedCodes,
              both.confirmedCodes - latest.confirmedCodes,
              both.unconfirmedCodes - latest.unconfirmedCodes,
            ], note)
      }
      for (window, days) in [(0, 90), (1, 30), (3, 7), (9, 90)] {
        var listed: [AffectedUser] = []
        var after: String?
        repeat {
          let page = try await activity.affected(
            in: pool, beyond: window, days: days, after: after, limit: 2)
          listed += page.items
          after = page.next
        } while after != nil
        let expected = model.affected(reach: window + 1, days: days, at: instance.now)
        #expect(listed.count == expected.count, note)
        for user in listed {
          #expect(user.reach == expected[user.account], note)
          let codes = model.codes(
            of: user.account, reach: window + 1, days: days, at: instance.now)
          #expect(user.codes == codes, note)
          #expect(user.distance.map(abs) == user.reach)
        }
      }
    }
    let whole = try await activity.checks(
      inProject: instance.acme.project, from: Self.always.from, to: Self.always.to)
    let counted = Dictionary(uniqueKeysWithValues: whole.map { ($0.hour, $0.byOutcome) })
    #expect(counted == ActivityModel.checks(models.flatMap(\.model.events)), note)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `counts equal a recount of every code, before and after they are folded`(
    seed: UInt64
  ) async throws {
    try await withInstance { instance in
      var random = Seeded(seed)
      var models = [instance.acme, instance.east].map { (pool: $0, model: ActivityModel()) }
      var devices: [[Person: Device]] = [[:], [:]]
      func enroll(_ person: Person, _ index: Int) async throws {
        let device = try await instance.enrolled(person, in: models[index].pool)
        devices[index][person] = device
        try await learn(device, index)
      }
      func learn(_ device: Device, _ index: Int) async throws {
        let pool = models[index].pool
        let log = try await instance.codeAttempts(device.account, in: pool)
        models[index].model.learn(log, of: device.account.id, at: instance.now)
      }
      for index in models.indices {
        try await instance.setWindow(2, in: models[index].pool)
        for person in [Person.alice, .bob] { try await enroll(person, index) }
      }
      for round in 0..<120 {
        let index = random.below(2)
        let pool = models[index].pool
        let person: Person = random.chance(50) ? .alice : .bob
        guard let device = devices[index][person] else { continue }
        let now = instance.now
        let action = random.below(100)
        if action < 75 {
          let steps = random.chance(50) ? 0 : Int64(random.below(21)) - 10
          let code =
            try random.chance(15) ? device.wrongCode(at: now) : device.code(at: now, steps: steps)
          try await instance.enterCode(device, code: code, in: pool)
          // The clock may have moved an attempt by a microsecond, never into another hour.
          try await learn(device, index)
        } else if action < 80 {
          try await instance.identity.accounts.delete(pool, device.account.id, by: Instance.boss)
          models[index].model.delete(device.account.id)
          try await enroll(person, index)
        } else if action < 85 {
          try await instance.setWindow(random.below(5), in: pool)
        } else {
          _ = try await instance.identity.activity.fold()
        }
        instance.clock.advance(
          random.pick(weighted: [(31, 60), (400, 20), (4_000, 10), (40_000, 8), (864_000, 2)]) ?? 0)
        if round % 15 == 0 {
          try await expectSound(instance, models, "seed \(seed), round \(round), unfolded")
          try await instance.fold()
          try await expectSound(instance, models, "seed \(seed), round \(round), folded")
        }
      }
    }
  }

  @Test func `a near miss confirmed after it was folded moves between the counts`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let device = try await instance.enrolled(.alice)
      // The code is three intervals late before midnight, and the correct one follows after it.
      let midnight = (instance.now.seconds / 86_400 + 1) * 86_400
      instance.clock.advance(midnight - 60 - instance.now.seconds)
      try await instance.enterCode(device, code: device.code(at: instance.now, steps: -3))
      try await instance.fold()
      var offsets = try await instance.identity.activity.offsets(in: instance.acme, days: 7)
      #expect(
        offsets.unconfirmed[7] == 1 && offsets.userDays.allSatisfy { $0 == 0 }
          && offsets.users[0] == 0)
      instance.clock.advance(120)
      try await instance.enterCode(device, code: device.code(at: instance.now))
      for _ in 0..<2 {
        offsets = try await instance.identity.activity.offsets(in: instance.acme, days: 7)
        #expect(offsets.unconfirmedCodes == 0 && offsets.confirmed[7] == 1)
        #expect(offsets.accepted[10] == 1 && offsets.acceptedCodes == 1)
        #expect(offsets.userDays == [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(offsets.users == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
        try await instance.fold()
      }
      let today = try await instance.identity.activity.offsets(in: instance.acme, days: 1)
      #expect(today.userDays[0] == 1 && today.users == [1] + [Int](repeating: 0, count: 10))
    }
  }

  @Test func `changes that two servers fold at once are counted once`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for _ in 0..<4 {
        try await instance.enterCode(device, code: device.code(at: instance.now))
        instance.clock.advance(30)
      }
      let other = try instance.identity()
      async let one = instance.identity.activity.fold()
      async let two = other.activity.fold()
      _ = try await (one, two)
      _ = try await other.activity.fold()
      let checks = try await other.activity.checks(
        in: instance.acme, from: Self.always.from, to: Self.always.to)
      #expect(checks.map(\.accepted).reduce(0, +) == 5)
      let folded = [instance.identity, other].map { $0.activity.folded(.accepted) }
      #expect(folded.reduce(0, +) == 5)
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM activity_delta") {
          try $0.next() as Int
        }
      }
      #expect(left == 0)
    }
  }

  @Test func `a deleted tenant's counts are deleted, and its project's remain`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice, in: instance.east)
      try await instance.enterCode(device, code: "0", in: instance.east)
      try await instance.fold()
      try await instance.enterCode(device, code: "0", in: instance.east)
      try await instance.identity.pools.delete(
        project: instance.east.project, tenant: instance.east.tenant, by: .program(Instance.boss))
      while try await instance.identity.purge() {}
      let whole = try await instance.identity.activity.checks(
        inProject: instance.acme.project, from: Self.always.from, to: Self.always.to)
      #expect(whole.map(\.incorrect).reduce(0, +) == 2)
      let rows = try await instance.database.read { connection in
        try connection.first(
          """
          SELECT /* test */ (SELECT count(*) FROM activity_delta)
            + (SELECT count(*) FROM activity_hour WHERE scope_key = \(instance.east.key))
            + (SELECT count(*) FROM offset_day) + (SELECT count(*) FROM reach_day)
            + (SELECT count(*) FROM reach_users) + (SELECT count(*) FROM reach_account)
            + (SELECT count(*) FROM enrollment_hour WHERE scope_key = \(instance.east.key))
          """
        ) { try $0.next() as Int }
      }
      #expect(rows == 0)
    }
  }

  @Test func `deleting all users deletes a pool's counts and keeps its enrollment history`()
    async throws
  {
    try await withInstance { instance in
      let start = instance.now
      let device = try await instance.enrolled(.alice)
      try await instance.enterCode(device, code: device.code(at: instance.now))
      try await instance.fold()
      instance.clock.advance(7_200)
      try await instance.identity.accounts.deleteAll(
        instance.acme, by: Author(actor: .emulatorOwner))
      try await instance.fold()
      let activity = instance.identity.activity
      let offsets = try await activity.offsets(in: instance.acme, days: 90)
      #expect(offsets == OffsetHistogram(days: 90))
      let checks = try await activity.checks(
        in: instance.acme, from: Self.always.from, to: Self.always.to)
      #expect(checks == [])
      let enrollment = try await activity.enrollment(
        of: instance.acme, at: [start.advanced(bySeconds: 3_600)], until: instance.now)
      #expect(enrollment.map(\.users) == [1, 0])
    }
  }

  @Test func `codes of enrollment and of phones have no offset`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      let offsets = try await instance.identity.activity.offsets(in: instance.acme, days: 7)
      #expect(offsets == OffsetHistogram(days: 7))
      let checks = try await instance.identity.activity.checks(
        in: instance.acme, from: Self.always.from, to: Self.always.to)
      #expect(checks.map(\.accepted) == [1])
    }
  }
}

extension Activity {
  /// Returns the code attempts of a project with all its tenants by hour, as
  /// ``checks(in:from:to:)`` does for a pool; empty if the project doesn't exist.
  fileprivate func checks(
    inProject project: ID<Project>, from start: Instant, to end: Instant
  ) async throws -> [HourlyChecks] {
    try await store.read { connection in
      guard let subject = try Self.subject(project, connection) else { return [] }
      let tail = try connection.all(
        """
        SELECT \(ActivityDelta.columns)
        FROM scope s \(SQL.orderedJoin) activity_delta d ON d.scope_key = s.scope_key
        WHERE s.project_id = \(project)
        """
      ) { try ActivityDelta(&$0) }
      return try Self.checks(in: subject, from: start.hour, to: end.hour, tail, connection)
    }
  }
}
