import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct EnrollmentHistoryTests {
  @Test func `numbers of users are recorded by hour, for a pool and its project`() async throws {
    try await withInstance { instance in
      let activity = instance.identity.activity
      let start = instance.now
      try await instance.fold()
      _ = try await instance.account(.alice)
      try await instance.fold()
      instance.clock.advance(3_600)
      _ = try await instance.enrolled(.bob, in: instance.east)
      try await instance.fold()
      instance.clock.advance(7_200)
      // Not folded: only the current state shows it.
      _ = try await instance.account(.mallory)
      let now = instance.now
      let hours = [0, 3_600, 7_200].map { start.advanced(bySeconds: $0) }
      let own = try await activity.enrollment(of: instance.acme, at: hours, until: now)
      #expect(
        own == [
          EnrollmentPoint(at: start.advanced(bySeconds: 3_600), users: 1, enrolled: 0),
          EnrollmentPoint(at: start.advanced(bySeconds: 7_200), users: 1, enrolled: 0),
          EnrollmentPoint(at: now, users: 2, enrolled: 0),
        ])
      let whole = try await activity.enrollment(
        of: instance.acme, isWhole: true, at: hours, until: now)
      #expect(
        whole == [
          EnrollmentPoint(at: start.advanced(bySeconds: 3_600), users: 1, enrolled: 0),
          EnrollmentPoint(at: start.advanced(bySeconds: 7_200), users: 2, enrolled: 1),
          EnrollmentPoint(at: now, users: 3, enrolled: 1),
        ])
      let past = try await activity.enrollment(
        of: instance.east, at: start.advanced(bySeconds: 3_700))
      #expect(
        past == EnrollmentPoint(at: start.advanced(bySeconds: 3_600), users: 0, enrolled: 0))
      #expect(try await activity.enrollment(of: instance.east, at: start) == nil)
      let review = try await instance.identity.policies.review(
        instance.acme.project, visibleTo: try await instance.administrator())
      let trends = try await activity.trends(
        of: [try #require(review.project)] + review.tenants.items, points: 3,
        from: now.advanced(bySeconds: -7_200), to: now)
      #expect(trends[instance.acme.key] == [0, 0, 0])
      #expect(trends[instance.east.key] == [nil, 1, 1])
      let ofEast = Grant(
        role: .support, project: instance.east.project, tenant: instance.east.tenant)
      for (grant, isWhole) in [(Grant(role: .owner), true), (ofEast, false)] {
        let administrator = Administrator(
          id: ID("a"), email: "a@example.com", displayName: "A", grants: [grant])
        let projects = try await instance.identity.pools.projects(visibleTo: administrator)
        let trends = try await activity.trends(
          ofProjects: projects.items.filter { $0.id == instance.acme.project }, points: 3,
          from: now.advanced(bySeconds: -7_200), to: now)
        #expect(trends == (isWhole ? [instance.acme.key: [0, 0.5, 1.0 / 3]] : [:]))
      }
    }
  }

  @Test func `the project's number drops when a tenant is deleted`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice, in: instance.east)
      try await instance.fold()
      let start = instance.now
      instance.clock.advance(3_600)
      try await instance.identity.pools.delete(
        project: instance.east.project, tenant: instance.east.tenant, by: .program(Instance.boss))
      try await instance.fold()
      while try await instance.identity.purge() {}
      instance.clock.advance(3_600)
      let whole = try await instance.identity.activity.enrollment(
        of: instance.acme, isWhole: true, at: [start.advanced(bySeconds: 3_600)],
        until: instance.now)
      #expect(whole.map(\.users) == [1, 0])
    }
  }

  @Test func `the state at a time is the same, however many other times are asked for`()
    async throws
  {
    try await withInstance { instance in
      try await instance.fold()
      let first = instance.now.hour
      let key = instance.acme.key
      try await instance.database.write { connection in
        for hour in 1...9_000 as ClosedRange<Int64> {
          for isWhole in [0, 1] {
            try connection.run(
              """
              INSERT /* test */ INTO enrollment_hour (scope_key, whole, hour, users, enrolled_users)
              VALUES (\(key), \(isWhole), \(first + hour), \(hour), 0)
              """)
          }
        }
      }
      instance.clock.advance(9_001 * 3_600)
      let (now, activity) = (instance.now, instance.identity.activity)
      for (days, isWhole) in [(1, false), (7, true), (30, false)] as [(Int64, Bool)] {
        let instants = (1...(360 / days)).reversed().map {
          now.advanced(bySeconds: -86_400 * days * $0 + 1_800)
        }
        let points = try await activity.enrollment(
          of: instance.acme, isWhole: isWhole, at: instants, until: now)
        let expected = instants.map { instant in
          EnrollmentPoint(
            at: Instant(hour: instant.hour), users: Int(instant.hour - first - 1), enrolled: 0)
        }
        #expect(Array(points.dropLast()) == expected)
        #expect(points.last == EnrollmentPoint(at: now, users: 0, enrolled: 0))
      }
    }
  }

  @Test func `states begin with the first known one`() async throws {
    try await withInstance { instance in
      let start = instance.now
      _ = try await instance.account(.alice)
      try await instance.fold()
      instance.clock.advance(5 * 3_600)
      let now = instance.now
      let points = try await instance.identity.activity.enrollment(
        of: instance.acme,
        at: [start.advanced(bySeconds: -86_400), now.advanced(bySeconds: -3_600)],
        until: now)
      #expect(points.map(\.users) == [1, 1, 1] && points.last?.at == now)
      #expect(points.map(\.at.hour) == [start.hour + 1, now.hour - 1, now.hour])
    }
  }
}
