import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

struct InvitationTests {
  @Test func `an invite link creates one administrator with its role and signs them in`()
    async throws
  {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let grant = Grant(role: .support, project: instance.acme.project)
      let new = try await instance.invite("New@example.com", grant, by: boss)
      let (invitation, token) = (new.invitation, new.token)
      #expect(token.count >= 22)
      #expect(invitation.expiresAt == instance.now.advanced(bySeconds: 7 * 86_400))
      for _ in 0..<3 {
        let found = try await instance.identity.invitations.find(token: token.revealedText)
        #expect(found?.email == "New@example.com")
      }
      let accepted = try await instance.accept(token)
      #expect(accepted.session.administrator.id == invitation.id)
      #expect(accepted.session.administrator.displayName == "Newman")
      #expect(accepted.session.administrator.grants == [grant])
      #expect(accepted.session.secondFactor == .dueNext)
      await expect("ended") { try await instance.accept(token) }
      #expect(try await instance.identity.invitations.list().isEmpty)
      let history = try await instance.identity.administrators.history(of: invitation.id)
      #expect(
        history.map(\.action) == [
          .administratorSignIn, .administratorCreate, .administratorInvite,
        ])
      #expect(history[1].new(.inviter) == .text("boss"))
    }
  }

  @Test func `of concurrent acceptances of one invite link, exactly one succeeds`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let token = try await instance.invite("new@example.com", by: boss).token
      let outcomes = try await concurrently(8) { _ in
        await outcome { try await instance.accept(token) }
      }
      #expect(outcomes.tally == ["done": 1, "ended": 7])
    }
  }

  @Test func `an invitation that replaces a valid one says so, and the log has its end`()
    async throws
  {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let first = try await instance.invite("new@example.com", by: boss)
      let second = try await instance.invite("New@example.com", by: boss)
      #expect(!first.isReplacement && second.isReplacement)
      let history = try await instance.identity.administrators.history(of: first.invitation.id)
      #expect(
        history.map(\.action) == [.administratorRevokeInvitation, .administratorInvite])
      instance.clock.advance(7 * 86_400)
      #expect(try await instance.invite("new@example.com", by: boss).isReplacement == false)
    }
  }

  @Test func `an invite link from before the clock was set back has ended`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let (invitations, token) = (
        instance.identity.invitations, try await instance.invite("new@example.com", by: boss).token
      )
      instance.clock.advance(-86_400)
      #expect(try await invitations.find(token: token.revealedText) == nil)
      #expect(try await invitations.list().isEmpty)
    }
  }

  @Test func `an invite link expires after seven days, when revoked, or when replaced`()
    async throws
  {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let first = try await instance.invite("new@example.com", by: boss)
      let second = try await instance.invite("NEW@example.com", by: boss)
      await expect("ended") { try await instance.accept(first.token) }
      #expect(try await instance.identity.invitations.list().map(\.id) == [second.invitation.id])
      instance.clock.advance(7 * 86_400 - 1)
      #expect(
        try await instance.identity.invitations.find(token: second.token.revealedText) != nil)
      instance.clock.advance(1)
      await expect("ended") { try await instance.accept(second.token) }
      #expect(try await instance.identity.invitations.list().isEmpty)
      let third = try await instance.invite("new@example.com", by: boss)
      try await instance.identity.invitations.revoke(
        third.invitation.id, by: .program(instance.author(boss)))
      await expect("ended") { try await instance.accept(third.token) }
      await expect("notFound") {
        try await instance.identity.invitations.revoke(
          third.invitation.id, by: .program(instance.author(boss)))
      }
      try await instance.identity.purgeExpired()
    }
  }

  @Test func `an invitation becomes invalid when the inviter is removed`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let rogue = try await instance.administrator("rogue", .owner)
      let token = try await instance.invite("friend@example.com", by: rogue).token
      try await instance.identity.administrators.remove(
        rogue.id, by: .program(instance.author(boss)))
      await expect("ended") { try await instance.accept(token) }
      #expect(try await instance.identity.invitations.list().isEmpty)
    }
  }

  @Test func `deleting a project or tenant deletes its roles and invitations`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let identity = instance.identity
      let (project, tenant) = (instance.acme.project, try #require(instance.east.tenant))
      let nora = try await instance.administrator("nora", .auditor, project: project)
      let inEast = Grant(role: .support, project: project, tenant: tenant)
      try await identity.administrators.grant(
        inEast, to: nora.id, by: .program(instance.author(boss)))
      let small = try await instance.invite("small@example.com", inEast, by: boss).token
      let large = try await instance.invite(
        "large@example.com", Grant(role: .auditor, project: project), by: boss
      ).token
      let wide = try await instance.invite("wide@example.com", by: boss).token
      func grants() async throws -> Int {
        try await identity.administrators.record(nora.id).administrator.grants.count
      }
      try await identity.pools.delete(project: project, tenant: tenant, by: .program(Instance.boss))
      await expect("ended") { try await instance.accept(small) }
      #expect(try await grants() == 1)
      try await identity.pools.delete(project: project, by: .program(Instance.boss))
      await expect("ended") { try await instance.accept(large) }
      #expect(try await grants() == 0)
      #expect(try await identity.invitations.list().map(\.email) == ["wide@example.com"])
      await expect("done") { try await instance.accept(wide) }
    }
  }

  @Test func `an invitation to a deleted project is invalid`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let grant = Grant(role: .auditor, project: instance.acme.project)
      let token = try await instance.invite("new@example.com", grant, by: boss).token
      // Earlier versions left such invitations behind.
      try await instance.database.write { connection in
        try connection.run(
          "UPDATE invitation SET project_id = 'gone' WHERE email_folded = 'new@example.com'")
      }
      #expect(try await instance.identity.invitations.find(token: token.revealedText) == nil)
      #expect(try await instance.identity.invitations.list().isEmpty)
      await expect("ended") { try await instance.accept(token) }
    }
  }

  @Test func `invalid fields don't use up the link`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      await expect("invalidEmail") { try await instance.invite("x", by: boss) }
      await expect("emailTaken") { try await instance.invite("Boss@example.com", by: boss) }
      let token = try await instance.invite("new@example.com", by: boss).token
      await expect("weakPassword") {
        try await instance.accept(token, password: Secret("short"))
      }
      await expect("weakPassword") {
        try await instance.accept(token, password: Secret("new@example.com"))
      }
      _ = try await instance.accept(token)
    }
  }

  @Test func `an invitation can't be accepted once its email is taken`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let token = try await instance.invite("new@example.com", by: boss).token
      _ = try await instance.administrator("new", .auditor)
      await expect("emailTaken") { try await instance.accept(token) }
      #expect(try await instance.identity.administrators.records().count == 2)
    }
  }
}
