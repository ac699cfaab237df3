import Testing

@testable import Identity

/// Subscriptions to reports; the clock of an instance begins on a known day.
struct ReportSubscriptionTests {
  private static let day: Int64 = 86_400

  private func subscribe(
    _ instance: Instance, _ administrator: Administrator, _ report: Report = .enrollment,
    _ rhythm: ReportSubscription.Rhythm = .weekly, about subject: ReportSubject? = nil
  ) async throws -> ReportSubscription {
    let subject = subject ?? .pool(instance.acme)
    try await instance.identity.reports.subscribe(
      administrator.id, to: report, rhythm, about: subject)
    return try #require(
      try await instance.identity.reports.subscriptions(of: administrator)
        .first { $0.report == report && $0.subject == subject })
  }

  private func advance(_ instance: Instance, to time: Instant) {
    instance.clock.advance(time.seconds - instance.now.seconds)
  }

  private func mails(_ instance: Instance) async throws -> Int {
    try await instance.mails("report").count
  }

  private func instant(_ text: String) throws -> Instant {
    try #require(Instant(rfc3339: text))
  }

  @Test(arguments: [
    ("UTC", "2026-11-30T07:00:00Z", "2026-12-01T07:00:00Z"),
    ("Europe/Helsinki", "2026-11-30T05:00:00Z", "2026-12-01T05:00:00Z"),
    ("Asia/Kolkata", "2026-11-30T01:30:00Z", "2026-12-01T01:30:00Z"),
    ("America/New_York", "2026-11-30T12:00:00Z", "2026-12-01T12:00:00Z"),
  ])
  func `reports are sent at 7:00 on their day in the time zone`(
    zone: String, weekly: String, monthly: String
  ) throws {
    // A Friday.
    let now = try instant("2026-11-27T10:00:00Z")
    let week = ReportSubscription.Rhythm.weekly.next(after: now, in: zone)
    let month = ReportSubscription.Rhythm.monthly.next(after: now, in: zone)
    #expect(week == (try instant(weekly)))
    #expect(month == (try instant(monthly)))
  }

  @Test func `the day stays the same when the clocks change`() throws {
    let (zone, weekly) = ("Europe/Berlin", ReportSubscription.Rhythm.weekly)
    let before = try instant("2026-10-19T05:00:00Z")
    let after = weekly.next(after: before, in: zone)
    #expect(after == (try instant("2026-10-26T06:00:00Z")))
  }

  @Test func `a report is sent at its time, and once after a downtime`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.administrator("iris", .auditor)
      let first = try await subscribe(instance, iris)
      advance(instance, to: first.nextAt.advanced(bySeconds: -1))
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 0)
      advance(instance, to: first.nextAt)
      try await instance.identity.sendReports()
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 1)
      instance.clock.advance(40 * Self.day)
      try await instance.identity.sendReports()
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 2)
      let next = try #require(
        try await instance.identity.reports.subscriptions(of: iris).first)
      #expect(next.nextAt > instance.now)
    }
  }

  @Test func `the email has numbers and a link, but no names of users`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.enrolled(.alice)
      let iris = try await instance.administrator("iris", .auditor)
      var last = instance.now
      for report in Report.allCases where report.coversPools {
        last = try await subscribe(instance, iris, report).nextAt
      }
      advance(instance, to: last)
      try await instance.identity.sendReports()
      let mails = try await instance.mails("report")
      #expect(mails.count == Report.allCases.count(where: \.coversPools))
      for mail in mails {
        #expect(mail.recipient == iris.email)
        #expect(!mail.body.contains("alice") && !mail.subject.contains("alice"))
        #expect(mail.body.contains("/projects/acme-app/reports/"))
      }
    }
  }

  @Test func `reports about a project and the instance are sent with their numbers and links`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      try await instance.addUsers(1)
      try await instance.addUsers(1, in: instance.globex, from: 10)
      let iris = try await instance.administrator("iris", .auditor)
      var last = instance.now
      for subject in [.project(instance.acme), .instance] as [ReportSubject] {
        last = try await subscribe(instance, iris, .removals, about: subject).nextAt
      }
      let again = try await subscribe(instance, iris, .removals, .weekly, about: .instance)
      advance(instance, to: last.advanced(bySeconds: -Self.day))
      let agent = try await instance.agent()
      for (pool, user) in [(instance.acme, "u0"), (instance.globex, "u10")] {
        _ = try await instance.identity.factorRemovals.remove(
          pool, ID(user), nil, agent.request(.lost))
      }
      advance(instance, to: again.nextAt)
      try await instance.identity.sendReports()
      let bodies = try await instance.mails("report").map(\.body)
      let project = bodies.filter { $0.contains("/projects/acme-app/reports/removals?tenants=all") }
      let all = bodies.filter { $0.contains("/reports/removals\n") }
      #expect(bodies.count == 2 && project.count == 1 && all.count == 1)
      #expect(project.allSatisfy { $0.contains("1 second factor removal ") })
      #expect(all.allSatisfy { $0.contains("2 second factor removals ") })
    }
  }

  @Test func `emails count exempt users of the pool, the project, or all projects one can access`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let owner = try await instance.agent("olga", role: .owner)
      for (pool, name) in [
        (instance.acme, "one"), (instance.east, "two"), (instance.globex, "three"),
      ] {
        var new = NewAccount()
        new.localID = name
        let account = try await instance.identity.accounts.create(pool, new, by: Instance.boss)
        _ = try await instance.identity.exemptions.grant(
          pool, account.id, until: instance.now.advanced(bySeconds: 30 * Self.day),
          owner.request(.other, note: "Key on order"))
      }
      let (iris, nora) = (
        try await instance.administrator("iris", .auditor),
        try await instance.administrator("nora", .support, project: instance.acme.project)
      )
      var last = instance.now
      for subject in [.pool(instance.acme), .project(instance.acme)] as [ReportSubject] {
        last = try await subscribe(instance, iris, .enrollment, about: subject).nextAt
      }
      for reader in [iris, nora] {
        last = try await subscribe(instance, reader, .exemptions, about: .instance).nextAt
      }
      advance(instance, to: last)
      try await instance.identity.sendReports()
      let mails = try await instance.mails("report")
      func count(_ recipient: Administrator, _ text: String, _ address: String) -> Int {
        mails.count {
          $0.recipient == recipient.email && $0.body.contains(text)
            && $0.body.contains("\(address)\n")
        }
      }
      #expect(mails.count == 4)
      #expect(count(iris, " 1 user is exempt from MFA.", "acme-app/reports/enrollment") == 1)
      let whole = "acme-app/reports/enrollment?tenants=all"
      #expect(count(iris, " 2 users are exempt from MFA.", whole) == 1)
      #expect(count(iris, "3 users are exempt from MFA.", "/exemptions") == 1)
      #expect(count(nora, "2 users are exempt from MFA.", "/exemptions") == 1)
      #expect(mails.allSatisfy { !$0.body.contains("/reports/exemptions") })
    }
  }

  @Test func `only reports that exist about a project or the instance are subscribed to`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.administrator("iris", .auditor)
      for report in Report.allCases {
        let project = await outcome {
          try await subscribe(instance, iris, report, about: .project(instance.acme))
        }
        let tenant = await outcome {
          try await subscribe(instance, iris, report, about: .project(instance.east))
        }
        let all = await outcome {
          try await subscribe(instance, iris, report, about: .instance)
        }
        #expect(project == (report.coversTenants ? "done" : "notAllowed"))
        #expect(tenant == "notAllowed")
        #expect(all == (report.coversProjects || !report.coversPools ? "done" : "notAllowed"))
      }
    }
  }

  @Test func `a subscription ends when the administrator loses access`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let boss = try await instance.administrator("boss", .owner)
      let iris = try await instance.administrator("iris", .auditor)
      let subscription = try await subscribe(instance, iris, .locked)
      try await instance.identity.administrators.grant(
        Grant(role: .policy), to: iris.id, by: instance.author(boss))
      try await instance.identity.administrators.revoke(
        Grant(role: .auditor), from: iris.id, by: instance.author(boss))
      advance(instance, to: subscription.nextAt)
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 0)
      try await instance.identity.administrators.grant(
        Grant(role: .auditor), to: iris.id, by: instance.author(boss))
      let left = try await instance.identity.reports.subscriptions(of: iris)
      #expect(left.map(\.id) == [])
    }
  }

  @Test(arguments: [
    (Report.locked, Role.policy, false, false), (.locked, .auditor, true, true),
    (.access, .auditor, true, false), (.access, .owner, false, true),
    (.removals, .policy, false, false), (.removals, .auditor, true, true),
  ])
  func `a report that waits is sent only to administrators who can still read it`(
    report: Report, role: Role, isInProject: Bool, isSent: Bool
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      let boss = try await instance.administrator("boss", .owner)
      let iris = try await instance.administrator("iris", .auditor)
      let subject: ReportSubject = report == .locked ? .pool(instance.acme) : .instance
      let subscription = try await subscribe(instance, iris, report, about: subject)
      advance(instance, to: subscription.nextAt)
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 1)
      let left = Grant(role: role, project: isInProject ? instance.acme.project : nil)
      try await instance.identity.administrators.grant(
        left, to: iris.id, by: instance.author(boss))
      try await instance.identity.administrators.revoke(
        Grant(role: .auditor), from: iris.id, by: instance.author(boss))
      var sent = 0
      while let mail = try await instance.claim() { sent += mail.purpose == "report" ? 1 : 0 }
      #expect(sent == (isSent ? 1 : 0))
    }
  }

  @Test func `a subscription ends with its pool and its administrator`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let boss = try await instance.administrator("boss", .owner)
      let iris = try await instance.administrator("iris", .auditor)
      _ = try await subscribe(instance, iris)
      let own = try await subscribe(instance, boss)
      try await instance.identity.administrators.remove(iris.id, by: instance.author(boss))
      _ = try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: nil, by: Instance.boss)
      #expect(try await instance.identity.reports.subscriptions(of: boss).isEmpty)
      advance(instance, to: own.nextAt)
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 0)
      while try await instance.identity.purge() {}
    }
  }

  @Test func `only a report that the administrator can read is subscribed to, and once`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let pia = try await instance.administrator("pia", .policy)
      for report in Report.allCases where report != .enrollment {
        await expect("notAllowed") { _ = try await subscribe(instance, pia, report) }
      }
      let weekly = try await subscribe(instance, pia)
      let monthly = try await subscribe(instance, pia, .enrollment, .monthly)
      #expect(weekly.id == monthly.id && monthly.rhythm == .monthly)
    }
  }

  @Test func `administrators cancel their own subscriptions only`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let reports = instance.identity.reports
      let iris = try await instance.administrator("iris", .auditor)
      let other = try await instance.administrator("other", .auditor)
      let subscription = try await subscribe(instance, iris)
      await expect("subscriptionNotFound") {
        try await reports.cancel(subscription.id, of: other.id)
      }
      try await reports.cancel(subscription.id, of: iris.id)
      let left = try await reports.subscriptions(of: iris)
      #expect(left.map(\.id) == [])
    }
  }

  @Test func `nothing is sent without a mail server, or while the clock is doubted`() async throws {
    try await withInstance { instance in
      let iris = try await instance.administrator("iris", .auditor)
      let subscription = try await subscribe(instance, iris)
      advance(instance, to: subscription.nextAt)
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 0)
    }
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.administrator("iris", .auditor)
      _ = try await subscribe(instance, iris)
      _ = try await instance.identity.clockGuard.check()
      instance.clock.advance(400 * Self.day)
      let doubt = try await instance.identity.clockGuard.check()
      #expect(doubt != nil)
      try await instance.identity.sendReports()
      #expect(try await mails(instance) == 0)
    }
  }
}
