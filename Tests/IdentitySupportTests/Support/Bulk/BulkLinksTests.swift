import Testing

@testable import Identity
@testable import TestIdentity

struct BulkLinksTests {
  @Test func `users without a second factor are sent a link each, under the rules of one`()
    async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      #expect(try await instance.job(id, by: agent).users == 2)
      try await instance.begin(id, by: agent)
      try await instance.mark(bob.id.text, isProtected: true)
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(job.kind == .links && job.state == .done && job.usersRemoved == 1)
      #expect(try await instance.results(job).sorted() == ["protected", "sent"])
      let rows = try await instance.log().filter { $0.action == .factorSendLink }
      #expect(rows.map(\.objectID) == [alice.id.text])
      #expect(rows.first?.new(.bulkLinks) == .number(Int(id)))
      let mails = try await instance.mails("enrollment-link")
      #expect(mails.map(\.recipient) == [Person.alice.email])
    }
  }

  @Test(arguments: [Approval.Cause.many, .hour, .unverifiedCaller])
  func `links to more users than one agent may act on wait for approval`(
    cause: Approval.Cause
  ) async throws {
    try await withInstance { instance in
      _ = (try await instance.account(.alice), try await instance.account(.bob))
      let (agent, omar) = (try await instance.agent(), try await instance.agent("omar"))
      try await instance.setSupportRules {
        switch cause {
        case .many: $0.approvalOverUsers = 1
        case .hour: $0.actionsPerHour = 1
        default: $0.callerVerification = .required
        }
      }
      let id = try await instance.draftLinks(by: agent)
      #expect(try await instance.begin(id, by: agent).state == .waiting)
      try await instance.runAll()
      #expect(try await instance.mails("enrollment-link").isEmpty)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: id, in: instance.acme))
      #expect(approval.cause == cause)
      _ = try await instance.identity.approvals.approve(
        approval.id, in: instance.acme, omar.request(nil))
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(try await instance.results(job) == ["sent", "sent"])
      #expect(try await instance.mails("enrollment-link").count == 2)
    }
  }

  @Test func `an agent's own account, and one with a reported change, are skipped`() async throws {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      try await instance.begin(id, by: agent)
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

  @Test func `users who can't enroll, and who enrolled since, are skipped`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice, isVerified: false)
      _ = try await instance.account(.bob)
      let agent = try await instance.agent()
      let id = try await instance.draftLinks(by: agent)
      #expect(try await instance.job(id, by: agent).users == 1)
      try await instance.begin(id, by: agent)
      _ = try await instance.enroll(try await instance.session(.bob).session)
      try await instance.runAll()
      let results = try await instance.results(try await instance.job(id, by: agent))
      #expect(results.sorted() == ["changed", "not-eligible"])
    }
  }

  @Test func `a pool's hourly limit skips the rest`() async throws {
    try await withInstance { instance in
      _ = (try await instance.account(.alice), try await instance.account(.bob))
      let (agent, pool) = (try await instance.agent(), instance.acme)
      let now = instance.now
      try await instance.identity.store.write { connection in
        _ = try HourlyQuota.take(
          .enrollmentLinks(in: pool.key), BulkRemovals.mostLinks - 1,
          limit: BulkRemovals.mostLinks, at: now, connection)
      }
      for expected in [["over-limit", "sent"], ["sent", "sent"]] {
        let id = try await instance.draftLinks(by: agent)
        try await instance.begin(id, by: agent)
        try await instance.runAll()
        let job = try await instance.job(id, by: agent)
        #expect(try await instance.results(job).sorted() == expected)
        let sent = expected.filter { $0 == "sent" }.count
        #expect(job.state == .done && job.usersRemoved == sent)
        instance.clock.advance(3_601)
        try await instance.reauthenticate(agent.session)
      }
    }
  }
}
