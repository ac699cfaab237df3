import Crypto
import Testing

@testable import Identity
@testable import TestIdentity

/// Roles that end by themselves.
struct GrantEndTests {
  private static let day: Int64 = 86_400

  @Test func `C8: a role isn't in force from its end on, before any task ran`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let (boss, nora) = try await instance.bossAndNora()
      let token = try await instance.giveConsolePassword(nora).session.token.revealedText
      let support = Grant(role: .support, project: instance.acme.project)
      let end = instance.now.advanced(bySeconds: 1_800)
      try await administrators.grant(
        support, until: end, to: nora.id, by: .program(instance.author(boss)))
      func grants() async throws -> Set<Grant> {
        let session = try await instance.identity.consoleSessions.find(token: token)
        return Set(try #require(session).administrator.grants)
      }
      instance.clock.advance(1_799)
      #expect(try await grants() == [Grant(role: .auditor), support])
      #expect(try await administrators.record(nora.id).grantEnds == [support: end])
      instance.clock.advance(1)
      #expect(try await grants() == [Grant(role: .auditor)])
      #expect(try await administrators.record(nora.id).administrator.grants.count == 1)
      let listed = try await administrators.records().first { $0.administrator.id == nora.id }
      #expect(listed?.administrator.grants == [Grant(role: .auditor)])
      let names = try await administrators.namesOfThose(
        with: .removeFactors, in: instance.acme, for: boss)
      #expect(!names.contains("nora"))
    }
  }

  @Test func `the server records the end of a role, and revokes tokens that exceed the rest`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      _ = try await identity.serviceTokens.create(
        project: instance.acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(instance.author(olga)))
      let end = instance.now.advanced(bySeconds: 60)
      try await identity.administrators.grant(
        Grant(role: .owner), until: end, to: olga.id, by: .program(instance.author(boss)))
      try await identity.purgeExpired()
      #expect(try await identity.serviceTokens.count(madeBy: olga.id) == 1)
      instance.clock.advance(60)
      try await identity.purgeExpired()
      #expect(try await identity.serviceTokens.count(madeBy: olga.id) == 0)
      let rows = try await instance.wholeLog().filter { $0.action == .administratorGrantEnd }
      let row = try #require(rows.first)
      #expect(rows.count == 1 && row.actorName.isEmpty == false)
      #expect(row.old(.grants) == .list(["owner"]) && row.new(.grantEnds) == .instant(end))
      try await identity.purgeExpired()
      let again = try await instance.wholeLog().filter { $0.action == .administratorGrantEnd }
      #expect(again.count == 1)
    }
  }

  @Test(arguments: [true, false])
  func `a role that ended before its project or tenant is deleted has ended, not been revoked`(
    isTenant: Bool
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let tenant = isTenant ? instance.east.tenant : nil
      let role = Grant(role: .support, project: instance.acme.project, tenant: tenant)
      let end = instance.now.advanced(bySeconds: 60)
      try await instance.identity.administrators.grant(
        role, until: end, to: nora.id, by: .program(instance.author(boss)))
      instance.clock.advance(61)
      _ = try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: tenant, by: .program(instance.author(boss)))
      let log = try await instance.wholeLog()
      let actions = log.map(\.action)
      let ended = try #require(actions.firstIndex(of: .administratorGrantEnd))
      let deleted = try #require(actions.firstIndex(of: isTenant ? .tenantDelete : .projectDelete))
      #expect(ended > deleted, "the newest is first")
      #expect(log[ended].new(.grantEnds) == .instant(end) && log[ended].objectID == nora.id.text)
      #expect(!actions.contains(.administratorRevoke))
      let mails = try await instance.mails("grant-ended")
      #expect(Set(mails.map(\.recipient)) == [boss.email, nora.email])
    }
  }

  @Test func `C8: a token that exceeds its creator's roles is invalid at once`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      func token(_ maker: Author) async throws -> Secret {
        let made = try await identity.serviceTokens.create(
          project: instance.acme.project, tenant: nil, role: .application, name: "x",
          by: .program(maker))
        return made.value.secret
      }
      let own = try await token(instance.author(olga))
      let other = try await token(Author(actor: .commandLine))
      func isValid(_ secret: Secret) async throws -> Bool {
        try await identity.serviceTokens.find(secret) != nil
      }
      try await identity.administrators.grant(
        Grant(role: .owner), until: instance.now.advanced(bySeconds: 60), to: olga.id,
        by: .program(instance.author(boss)))
      #expect(try await isValid(own))
      #expect(try await identity.clockGuard.check() == nil)
      instance.clock.advance(400 * Self.day)
      #expect(try await identity.clockGuard.check() != nil)
      try await identity.purgeExpired()
      #expect(try await !isValid(own))
      #expect(try await isValid(other))
      // Nothing was revoked because of a wrong clock.
      instance.clock.advance(-400 * Self.day)
      #expect(try await isValid(own))
    }
  }

  @Test func `a token whose creator's role ends during a request changes no more users`()
    async throws
  {
    try await withInstance { instance in
      let (identity, acme) = (instance.identity, instance.acme)
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      let alice = try await instance.account(.alice)
      let bob = try await instance.account(.bob)
      let program = try await identity.serviceTokens.create(
        project: acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(instance.author(olga))
      ).value.token.author(address: "198.51.100.9", requestID: "")
      try await identity.administrators.grant(
        Grant(role: .owner), until: instance.now.advanced(bySeconds: 60), to: olga.id,
        by: .program(instance.author(boss)))
      try await identity.accounts.delete(acme, alice.id, by: program)
      instance.clock.advance(60)
      // The task that revokes the token hasn't run.
      #expect(try await identity.serviceTokens.list(acme.project).map(\.revokedAt) == [nil])
      await expect("tokenRevoked") {
        try await identity.accounts.delete(acme, bob.id, by: program)
      }
      #expect(try await identity.accounts.find(acme, bob.id) != nil)
    }
  }

  @Test func `an end date is in the future, and at most two years away`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let (boss, nora) = try await instance.bossAndNora()
      let grant = Grant(role: .support)
      func give(_ seconds: Int64) async -> String {
        await outcome {
          try await administrators.grant(
            grant, until: instance.now.advanced(bySeconds: seconds), to: nora.id,
            by: .program(instance.author(boss))
          ).value
        }
      }
      #expect(await give(0) == "endInPast")
      #expect(await give(-Self.day) == "endInPast")
      #expect(await give(Administrators.longestGrant + 1) == "endTooLate")
      #expect(await give(Administrators.longestGrant) == "done")
      await expect("endInPast") {
        _ = try await instance.identity.invitations.invite(
          email: "new@example.com", displayName: "New", grant: grant,
          until: instance.now.advanced(bySeconds: -1), by: .program(instance.author(boss)))
      }
    }
  }

  @Test func `a role that ended is granted again, however many others ended at that time`()
    async throws
  {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let (boss, nora) = try await instance.bossAndNora()
      let end = instance.now.advanced(bySeconds: Self.day)
      for number in 0..<205 {
        let other = try await instance.administrator("other-\(number)", .auditor)
        try await administrators.grant(
          Grant(role: .support), until: end, to: other.id, by: .program(instance.author(boss)))
      }
      try await administrators.grant(
        Grant(role: .policy), until: end.advanced(bySeconds: 1), to: nora.id,
        by: .program(instance.author(boss)))
      instance.clock.advance(Self.day + 2)
      #expect(
        try await administrators.grant(
          Grant(role: .policy), to: nora.id, by: .program(instance.author(boss))
        ).value)
    }
  }

  @Test func `the last owner without an end date keeps the role without one`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      let (owner, end) = (Grant(role: .owner), instance.now.advanced(bySeconds: Self.day))
      try await administrators.grant(
        owner, until: end, to: olga.id, by: .program(instance.author(boss)))
      await expect("lastOwner") {
        try await administrators.grant(
          owner, until: end, to: boss.id, by: .program(instance.author(olga)))
      }
      await expect("lastOwner") {
        try await administrators.revoke(owner, from: boss.id, by: .program(instance.author(olga)))
      }
      await expect("lastOwner") {
        try await administrators.remove(boss.id, by: .program(instance.author(olga)))
      }
    }
  }

  @Test func `an owner who can't sign in doesn't replace the last owner who can`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let boss = try await instance.setUpProvider()
      let other = try await instance.administrator("other", .owner)
      let nora = try await instance.providerSession().administrator
      let (owner, line) = (Grant(role: .owner), Author(actor: .commandLine))
      try await administrators.grant(owner, to: nora.id, by: .program(line))
      _ = try await instance.identity.consoleProviders.remove(
        boss.request(nil, note: "No longer used"))
      let kept = try await administrators.record(nora.id)
      #expect(kept.administrator.grants == [owner] && !kept.canSignIn)
      let end = instance.now.advanced(bySeconds: Self.day)
      try await administrators.grant(
        owner, until: end, to: boss.administrator.id, by: .program(instance.author(other)))
      await expect("lastOwner") {
        try await administrators.grant(
          owner, until: end, to: other.id, by: .program(instance.author(boss.administrator)))
      }
      await expect("lastOwner") {
        try await administrators.revoke(owner, from: other.id, by: .program(line))
      }
      await expect("lastOwner") { try await administrators.remove(other.id, by: .program(line)) }
      try await administrators.remove(nora.id, by: .program(line))
    }
  }

  @Test func `an owner whose role has ended manages nothing, and their invitations end`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      let nora = try await instance.administrator("nora", .auditor)
      try await identity.administrators.grant(
        Grant(role: .owner), until: instance.now.advanced(bySeconds: 60), to: olga.id,
        by: .program(instance.author(boss)))
      let invited = try await instance.invite("new@example.com", by: olga)
      instance.clock.advance(60)
      await expect("notAllowed") {
        try await identity.administrators.grant(
          Grant(role: .owner), to: nora.id, by: .program(instance.author(olga)))
      }
      await expect("ended") { _ = try await instance.accept(invited.token) }
      #expect(try await identity.invitations.list().isEmpty)
    }
  }

  @Test func `an accepted invitation gives the role until its end date`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let end = instance.now.advanced(bySeconds: 3 * Self.day)
      let grant = Grant(role: .support)
      let invited = try await instance.identity.invitations.invite(
        email: "new@example.com", displayName: "New", grant: grant, until: end,
        by: .program(instance.author(boss))
      ).value
      #expect(invited.invitation.expiresAt == end, "not after seven days")
      _ = try await instance.accept(invited.token)
      let record = try await instance.identity.administrators.record(email: "new@example.com")
      #expect(record.grantEnds == [grant: end])
      let late = try await instance.identity.invitations.invite(
        email: "late@example.com", displayName: "Late", grant: grant, until: end,
        by: .program(instance.author(boss))
      ).value
      instance.clock.advance(3 * Self.day)
      await expect("ended") { _ = try await instance.accept(late.token) }
    }
  }

  @Test func `the end is changed and removed with the permission to grant the role`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let owner = try await instance.agent("olga", role: .owner)
      let auditor = try await instance.agent("iris", role: .auditor)
      let nora = try await instance.administrator("nora", .auditor)
      let (grant, end) = (Grant(role: .auditor), instance.now.advanced(bySeconds: Self.day))
      await expect("notAllowed") {
        _ = try await administrators.setEnd(
          of: grant, of: nora.id, to: end, auditor.request(nil))
      }
      func set(_ end: Instant?) async throws -> Bool {
        try await administrators.setEnd(of: grant, of: nora.id, to: end, owner.request(nil)).value
      }
      #expect(try await set(end))
      #expect(try await !set(end))
      #expect(try await set(nil))
      #expect(try await administrators.record(nora.id).grantEnds.isEmpty)
      let row = try #require(
        try await instance.wholeLog().first { $0.action == .administratorGrantChange })
      #expect(row.old(.grantEnds) == .instant(end) && row.new(.grantEnds) == .absent)
      await expect("notFound") {
        _ = try await administrators.setEnd(
          of: Grant(role: .policy), of: nora.id, to: end, owner.request(nil))
      }
    }
  }

  @Test func `a role that ended can be granted again at once`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let (boss, nora) = try await instance.bossAndNora()
      let grant = Grant(role: .support)
      try await administrators.grant(
        grant, until: instance.now.advanced(bySeconds: 60), to: nora.id,
        by: .program(instance.author(boss)))
      instance.clock.advance(60)
      let given = try await administrators.grant(
        grant, to: nora.id, by: .program(instance.author(boss))
      ).value
      #expect(given)
      let actions = try await administrators.history(of: nora.id).prefix(2).map(\.action)
      #expect(actions == [.administratorGrant, .administratorGrantEnd])
    }
  }
}
