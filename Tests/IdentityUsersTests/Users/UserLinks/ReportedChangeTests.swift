import Crypto
import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

struct ReportedChangeTests {
  private let page = "/__/auth/not-me"

  /// Removes a user's factor in the console and returns the link's code from the email.
  private func removal(_ instance: Instance, _ device: Device) async throws -> String {
    let agent = try await instance.agent()
    _ = try await instance.identity.factorRemovals.remove(
      instance.acme, device.account.id, device.factor, agent.request())
    return try await instance.linkCode("notice-factors-removed", to: page)
  }

  private func lockedAt(_ instance: Instance, _ account: Account) async throws -> Int64? {
    let uid = account.id.text
    return try await instance.database.read { connection in
      try connection.first(
        "SELECT /* test */ changes_locked_at FROM account WHERE uid = \(uid)"
      ) { try $0.next() as Int64? } ?? nil
    }
  }

  @Test func `opening the link shows the change and changes nothing`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let link = try await removal(instance, device)
      for _ in 0..<2 {
        let reportedChange = try await instance.identity.reportedChanges.look(at: link)
        #expect(reportedChange.fact == .notice(UserNotice(.factorsRemoved, ["phone"])))
        #expect(reportedChange.at == instance.now)
        #expect(reportedChange.expiresAt == instance.now.advanced(bySeconds: 7 * 86_400))
      }
      #expect(try await lockedAt(instance, device.account) == nil)
      await expect("unknown") { try await instance.identity.reportedChanges.look(at: "x") }
    }
  }

  @Test func `a report locks changes, ends sessions and backup codes, and writes one audit row`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let codes = try await instance.recoveryCodes(.alice, device)
      let temporary = try await instance.temporaryCode(device.account)
      let link = try await instance.linkCode("notice-temporary-code", to: page)
      let grant = try await instance.signIn(.alice, device, code: codes[0])
      let before = try await instance.log().count
      try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      let rows = try await instance.log()
      #expect(rows.count == before + 1)
      #expect(rows[0].action == .factorReport && rows[0].actionName == "factor.report")
      #expect(rows[0].actorKind == "user")
      #expect(rows[0].new(.reportedChange) != nil)
      #expect(rows[0].old(.changesLockedAt) == .absent && rows[0].new(.sessionsEnded) != nil)
      #expect(rows[0].new(.recoveryCodesEnded) == .number(9))
      #expect(rows[0].new(.temporaryCodesEnded) == .number(1))
      #expect(try await lockedAt(instance, device.account) == instance.now.microseconds)
      await expect("tokenExpired") { try await instance.identity.sessions.check(grant.session) }
      try await instance.reset(.alice)
      instance.clock.advance(30)
      for code in [temporary, codes[1]] {
        await expect("invalidCode") { try await instance.signIn(.alice, device, code: code) }
      }
      try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      await expect("used") {
        try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      }
    }
  }

  @Test func `after a report, neither the user, support, nor an API client can change factors`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let identity = instance.identity
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.temporaryCode(device.account, by: agent)
      let link = try await instance.linkCode("notice-temporary-code", to: page)
      let revert = try #require(try await instance.mails("revert-factor").last).code
      try await identity.reportedChanges.object(link, by: Instance.visitor)
      try await instance.reset(.alice)
      instance.clock.advance(30)
      let session = try await instance.signIn(
        .alice, device, code: device.code(at: instance.now)
      ).session
      let (pool, id) = (instance.acme, device.account.id)
      var change = AccountChange()
      change.factors = .clear
      let clearing = change
      change = AccountChange()
      change.displayName = .set("Alice")
      let renaming = change
      await expect("changesLocked") { try await identity.enrollments.start(session) }
      await expect("changesLocked") {
        try await identity.enrollments.withdraw(
          session, enrollment: device.factor.text, by: Instance.visitor)
      }
      await expect("changesLocked") {
        try await identity.enrollments.makeRecoveryCodes(session, by: Instance.visitor)
      }
      await expect("changesLocked") {
        try await identity.accounts.update(pool, id, clearing, by: Instance.boss)
      }
      await expect("changesLocked") {
        try await identity.support.rename(
          pool, id, device.factor, to: "x", agent.request())
      }
      await expect("changesLocked") {
        try await identity.factorRemovals.remove(pool, id, device.factor, agent.request())
      }
      await expect("changesLocked") {
        try await instance.temporaryCode(device.account, by: agent)
      }
      // An attacker could delete the account and create it again without factors.
      let program = try await instance.program()
      await expect("changesLocked") { try await identity.accounts.delete(pool, id, by: program) }
      await expect("changesLocked") {
        try await identity.accounts.delete(
          pool, id, by: Author(actor: .user(id)), in: session)
      }
      // Other changes are still allowed.
      try await identity.accounts.update(pool, id, renaming, by: Instance.boss)
      #expect(try await instance.reload(device.account).factors.count == 1)
      // The mailbox that reported can remove what was enrolled.
      try await identity.outOfBandCodes.apply(revert, by: Instance.visitor)
      #expect(try await instance.reload(device.account).factors.isEmpty)
    }
  }

  @Test func `an enrollment started before a report can't be finished after it`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let link = try await removal(instance, device)
      let session = try await instance.session(.alice).session
      let start = try await instance.identity.enrollments.start(session)
      try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      try await instance.reset(.alice)
      let again = try await instance.session(.alice).session
      await expect("changesLocked") {
        try await instance.identity.enrollments.finalize(
          again, sessionInfo: start.sessionInfo, code: "000000", displayName: "x",
          by: Instance.visitor)
      }
      await expect("changesLocked") { try await instance.enroll(again) }
    }
  }

  @Test func `L2: each address gets its own link, and using one uses up all of them`() async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addAddresses(to: device.account)
      _ = try await removal(instance, device)
      let mails = try await instance.mails("notice-factors-removed")
      #expect(
        mails.map(\.recipient)
          == [Person.alice.email, "first@example.com", "alice@provider.example"])
      let codes = mails.compactMap { mail in
        mail.body.split(separator: "\n").first { $0.contains(page) }
          .flatMap { parameter("code", of: String($0)) }
      }
      #expect(Set(codes).count == 3)
      #expect(mails.filter { $0.body.contains(Person.alice.email) }.count == 1)
      try await instance.identity.reportedChanges.object(codes[1], by: Instance.visitor)
      await expect("used") { try await instance.identity.reportedChanges.look(at: codes[0]) }
    }
  }

  @Test func `a link is valid for seven days`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let link = try await removal(instance, device)
      instance.clock.advance(7 * 86_400 - 1)
      _ = try await instance.identity.reportedChanges.look(at: link)
      instance.clock.advance(1)
      await expect("expired") {
        try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      }
      #expect(try await lockedAt(instance, device.account) == nil)
      instance.clock.advance(31 * 86_400)
      try await instance.identity.purgeExpired()
      await expect("unknown") { try await instance.identity.reportedChanges.look(at: link) }
    }
  }

  @Test func `owners and policy admins are alerted, and only owners are told which user it is`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.administrator("olga", .owner)
      _ = try await instance.administrator("paul", .policy, project: instance.acme.project)
      _ = try await instance.administrator("sven", .support)
      _ = try await instance.administrator("other", .policy, project: instance.globex.project)
      let device = try await instance.enrolled(.alice)
      let link = try await removal(instance, device)
      try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      let alerts = try await instance.mails("alert-changes-locked")
      let owner = try #require(alerts.first { $0.recipient == "olga@example.com" })
      let policy = try #require(alerts.first { $0.recipient == "paul@example.com" })
      #expect(
        !alerts.contains { ["sven@example.com", "other@example.com"].contains($0.recipient) })
      #expect(owner.body.contains(Person.alice.email))
      #expect(owner.body.contains("/projects/acme-shop/users/") || owner.body.contains("/users/"))
      #expect(!policy.body.contains(Person.alice.email))
      #expect(!policy.body.contains(device.account.id.text))
      #expect(policy.body.contains("The second factor “phone” was removed."))
      let users = try await instance.identity.reportedChanges.users(of: instance.acme, limit: 5)
      #expect(users.map(\.label) == [Person.alice.email])
      let olga = try await instance.identity.administrators.record(email: "olga@example.com")
        .administrator
      let pools = try await instance.identity.reportedChanges.pools(visibleTo: olga, limit: 5)
      #expect(pools.map(\.users) == [1] && pools.first?.pool == instance.acme)
      let other = try await instance.identity.administrators.record(email: "other@example.com")
        .administrator
      #expect(try await instance.identity.reportedChanges.pools(visibleTo: other, limit: 5).isEmpty)
    }
  }

  @Test func `an alert isn't sent to an administrator who was removed or lost the permission`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      let paul = try await instance.administrator("paul", .policy)
      let device = try await instance.enrolled(.alice)
      let link = try await removal(instance, device)
      try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      try await instance.identity.administrators.remove(
        olga.id, by: .program(instance.author(boss)))
      try await instance.identity.administrators.revoke(
        Grant(role: .policy), from: paul.id, by: .program(instance.author(boss)))
      var recipients: [String] = []
      while let mail = try await instance.claim() {
        if mail.purpose == "alert-changes-locked" { recipients.append(mail.recipient) }
        try await instance.identity.deliveries.record(.sent, of: mail)
      }
      #expect(recipients == ["boss@example.com"])
      #expect(try await instance.texts() == 0)
    }
  }

  @Test func `alerts about a user are erased with the user's data`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.administrator("olga", .owner)
      let device = try await instance.enrolled(.alice)
      let link = try await removal(instance, device)
      try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      #expect(try await instance.mails("alert-changes-locked").count == 1)
      _ = try await instance.identity.userData.erase(
        instance.acme, device.account.id,
        by: .program(Author(actor: .commandLine), because: "asked"))
      #expect(try await instance.mails("alert-changes-locked").isEmpty)
    }
  }

  @Test func `a link from before the clock was set back has expired`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(86_400)
      let link = try await removal(instance, device)
      instance.clock.advance(-86_400)
      await expect("expired") {
        try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      }
    }
  }
}
