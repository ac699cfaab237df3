import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct CampaignTests {
  private static let usual = CampaignTerms(days: 7, reminds: true, sentence: "")

  @Test(arguments: [
    (1, []), (2, [1]), (3, [2]), (4, [2, 3]), (7, [2, 6]), (14, [2, 13]),
  ])
  func `reminders are after two days and one day before the end, none on the first day`(
    days: Int, expected: [Int64]
  ) throws {
    let start = Instant(seconds: 1_000_000)
    let terms = try #require(CampaignTerms(days: days, reminds: true, sentence: ""))
    #expect(terms.reminders(from: start) == expected.map { start.advanced(bySeconds: $0 * 86_400) })
    let without = try #require(CampaignTerms(days: days, reminds: false, sentence: ""))
    #expect(without.reminders(from: start).isEmpty)
  }

  @Test func `links are valid 1 to 14 days, and a sentence is short and has no links`() {
    for days in [-1, 0, 15, .max] {
      #expect(CampaignTerms(days: days, reminds: true, sentence: "") == nil, "\(days)")
    }
    let longest = String(repeating: "a", count: CampaignTerms.longestSentence)
    #expect(CampaignTerms(days: 1, reminds: true, sentence: longest)?.sentence == longest)
    #expect(CampaignTerms(days: 1, reminds: true, sentence: longest + "a") == nil)
    let terms = CampaignTerms(days: 1, reminds: true, sentence: " See https://evil.example/x\nnow ")
    #expect(terms?.sentence.contains("evil.example") == false)
    #expect(terms?.sentence.contains("\n") == false)
  }

  @Test func `users without a second factor are sent a link each, under the rules of one`()
    async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      #expect(try await instance.job(id, by: agent).users == 2)
      try await instance.begin(id, by: agent, terms: Self.usual)
      try await instance.mark(bob.id.text, isProtected: true)
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(job.kind == .campaign && job.state == .running && job.usersRemoved == 1)
      #expect(try await instance.results(job).sorted() == ["protected", "sent"])
      let rows = try await instance.log().filter { $0.action == .factorSendLink }
      #expect(rows.map(\.objectID) == [alice.id.text])
      #expect(rows.first?.new(.bulkLinks) == .number(Int(id)))
      #expect(try await instance.mails("enrollment-link").map(\.recipient) == [Person.alice.email])
    }
  }

  @Test
  func `each user is reminded once at each time, until they enroll, and the links end together`()
    async throws
  {
    try await withInstance { instance in
      _ = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      let start = instance.now
      try await instance.begin(id, by: agent, terms: Self.usual)
      var recipients: [[String]] = []
      for day in 0...7 {
        if day == 3 { _ = try await instance.enroll(try await instance.session(.bob).session) }
        let before = try await instance.mails("enrollment-link").count
        // Twice, as two servers, or one that starts again.
        try await instance.runAll()
        try await instance.runAll(1)
        recipients.append(
          try await instance.mails("enrollment-link").dropFirst(before).map(\.recipient).sorted())
        instance.clock.advance(86_400)
      }
      let (alice, bob) = (Person.alice.email, Person.bob.email)
      let both = [alice, bob].sorted()
      #expect(recipients == [both, [], both, [], [], [], [alice], []])
      let job = try await instance.job(id, by: agent)
      #expect(job.state == .done && job.linksEndAt == start.advanced(bySeconds: 7 * 86_400))
      let ends = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ expires_at FROM user_link WHERE job_id = \(id)") {
          try $0.next() as Instant
        }
      }
      #expect(ends.count == 5 && Set(ends) == Set([job.linksEndAt].compactMap(\.self)))
    }
  }

  @Test(arguments: [(5, 2), (7_200, 1)] as [(Int64, Int)])
  func `a campaign of two days reminds once, but nobody on the first day of their link`(
    delay: Int64, mails: Int
  ) async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(
        id, by: agent, terms: CampaignTerms(days: 2, reminds: true, sentence: ""))
      for seconds in [delay, 86_400 - delay, 3_600, 72_000] {
        instance.clock.advance(seconds)
        try await instance.runAll()
      }
      #expect(try await instance.mails("enrollment-link").count == mails)
    }
  }

  @Test func `reminders that are due together are one, and users sent a later one get none`()
    async throws
  {
    try await withInstance { instance in
      let (_, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(id, by: agent, terms: Self.usual)
      try await instance.runAll()
      instance.clock.advance(86_400)
      let later = try await instance.agent()
      let other = try await instance.identity.bulkRemovals.draft(
        [bob.id], .campaign, in: instance.acme, by: later.author, later.session)
      try await instance.begin(
        other, by: later, terms: CampaignTerms(days: 14, reminds: false, sentence: ""))
      try await instance.runAll()
      let before = try await instance.mails("enrollment-link").count
      instance.clock.advance(5 * 86_400)
      try await instance.runAll()
      let mails = try await instance.mails("enrollment-link").dropFirst(before)
      #expect(mails.map(\.recipient) == [Person.alice.email])
    }
  }

  @Test func `a campaign counts its users by state, and lists those who haven't enrolled first`()
    async throws
  {
    try await withInstance { instance in
      let people = [Person.alice, .bob]
      for person in people { _ = try await instance.account(person) }
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(id, by: agent, terms: Self.usual)
      try await instance.runAll()
      _ = try await instance.enroll(try await instance.session(.alice).session)
      let bulk = instance.identity.bulkRemovals
      var job = try await instance.job(id, by: agent)
      var counts = try await bulk.campaign(job)
      #expect([counts.sent, counts.opened, counts.enrolled, counts.expired] == [2, 0, 1, 0])
      instance.clock.advance(8 * 86_400)
      try await instance.runAll()
      job = try await instance.job(id, by: agent)
      counts = try await bulk.campaign(job)
      #expect([counts.sent, counts.opened, counts.enrolled, counts.expired] == [2, 0, 1, 1])
      let first = try await bulk.users(of: job, limit: 1)
      let second = try await bulk.users(of: job, after: first.next, limit: 1)
      #expect((first.items + second.items).map(\.email) == [Person.bob.email, Person.alice.email])
      #expect(first.items.first.map { $0.state(in: job).state } == .expired)
      #expect(second.items.first.map { $0.state(in: job).state } == .enrolled && second.next == nil)
      let all = try await bulk.campaigns(of: [instance.acme.key, instance.east.key])
      #expect(all == [instance.acme.key: counts])
      let later = try await instance.agent()
      let again = try await bulk.draft(
        resending: job, in: instance.acme, by: later.author, later.session)
      #expect(try await instance.job(again, by: later).users == 1)
    }
  }

  @Test(arguments: [Approval.Cause.many, .hour, .unverifiedCaller])
  func `links to more users than one agent may act on wait for approval`(
    cause: Approval.Cause
  ) async throws {
    try await withInstance { instance in
      _ = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      try await instance.setSupportRules {
        switch cause {
        case .many: $0.approvalOverUsers = 1
        case .hour: $0.actionsPerHour = 1
        default: $0.callerVerification = .required
        }
      }
      let id = try await instance.draftLinks(by: agent)
      #expect(try await instance.begin(id, by: agent, terms: Self.usual).state == .waiting)
      try await instance.runAll()
      #expect(try await instance.mails("enrollment-link").isEmpty)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: id, in: instance.acme))
      #expect(approval.cause == cause)
      instance.clock.advance(3_600)
      let omar = try await instance.agent("omar")
      _ = try await instance.identity.approvals.approve(
        approval.id, in: instance.acme, omar.request(nil))
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(
        job.terms == Self.usual && job.linksEndAt == instance.now.advanced(bySeconds: 7 * 86_400))
      #expect(try await instance.results(job) == ["sent", "sent"])
      #expect(try await instance.mails("enrollment-link").count == 2)
    }
  }

  @Test func `an agent's own account, and one with a reported change, are skipped`() async throws {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(id, by: agent, terms: Self.usual)
      var change = AccountChange()
      change.email = .set(agent.administrator.email)
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      try await instance.mark(bob.id.text, isLocked: true)
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(try await instance.results(job).sorted() == ["locked", "own"])
      #expect(try await instance.mails("enrollment-link").isEmpty)
    }
  }

  @Test func `users who can't be sent a link are shown with their reason`() async throws {
    try await withInstance { instance in
      let pool = instance.acme
      _ = try await instance.account(.alice, isVerified: false)
      let bob = try await instance.account(.bob)
      let (agent, olivia) = (
        try await instance.agent(), try await instance.agent("olivia", role: .owner)
      )
      var disabled = NewAccount()
      (disabled.email, disabled.emailVerified, disabled.disabled) = ("d@example.com", true, true)
      _ = try await instance.identity.accounts.create(
        pool, disabled, by: .program(Instance.boss))
      _ = try await instance.identity.accounts.create(
        pool, NewAccount(), by: .program(Instance.boss))
      _ = try await instance.identity.exemptions.grant(
        pool, bob.id, until: instance.now.advanced(bySeconds: 86_400), olivia.request())
      let id = try await instance.draftLinks(by: agent)
      let job = try await instance.job(id, by: agent)
      #expect(job.users == 0)
      let results = try await instance.results(job).sorted()
      #expect(results == ["disabled", "exempt", "no-email", "unverified"])
    }
  }

  @Test func `users who enrolled since the preview are skipped`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.bob)
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(id, by: agent, terms: Self.usual)
      _ = try await instance.enroll(try await instance.session(.bob).session)
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(try await instance.results(job) == ["changed"])
    }
  }

  @Test func `beyond a pool's hourly limit, a campaign waits`() async throws {
    try await withInstance { instance in
      _ = (try await instance.account(.alice), try await instance.account(.bob))
      let (agent, pool) = (try await instance.agent(), instance.acme)
      let now = instance.now
      try await instance.identity.store.write { connection in
        _ = try HourlyQuota.take(
          .enrollmentLinks(in: pool.key), BulkRemovals.mostLinks - 1,
          limit: BulkRemovals.mostLinks, at: now, connection)
      }
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(id, by: agent, terms: Self.usual)
      for expected in [["open", "sent"], ["sent", "sent"]] {
        try await instance.runAll()
        let job = try await instance.job(id, by: agent)
        let results = try await instance.results(job).sorted()
        #expect(results == expected && job.state == .running)
        #expect(job.usersRemoved == expected.count { $0 == "sent" })
        instance.clock.advance(3_601)
      }
    }
  }

  @Test func `a stopped campaign sends nothing more, and one whose administrator is gone stops`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      for isStopped in [true, false] {
        let agent = try await instance.agent()
        let id = try await instance.draftLinks(by: agent)
        try await instance.begin(id, by: agent, terms: Self.usual)
        try await instance.runAll()
        if isStopped {
          try await instance.identity.bulkRemovals.stop(id, in: instance.acme, agent.request(nil))
        } else {
          _ = try await instance.identity.administrators.revoke(
            Grant(role: .support), from: agent.administrator.id,
            by: .program(Author(actor: .commandLine)))
        }
        let before = try await instance.mails("enrollment-link").count
        instance.clock.advance(2 * 86_400)
        try await instance.runAll()
        #expect(try await instance.mails("enrollment-link").count == before)
        #expect(try await instance.job(id, by: agent).state == .stopped)
      }
    }
  }
}
