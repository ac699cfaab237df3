import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

/// Re-authentication with an action.
struct ReauthenticationTests {
  private func invite(
    _ email: String, _ instance: Instance, _ request: ActionRequest
  ) async throws -> ActionOutcome<NewInvitation> {
    try await instance.identity.invitations.invite(
      email: email, displayName: "New", grant: Grant(role: .owner), by: .console(request))
  }

  @Test
  func `a code is required, an incorrect one is counted, and a correct one renews the session`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.agentWithDevice("olga", role: .owner)
      let own = try #require(olga.device)
      instance.clock.advance(900)
      await expect("codeRequired") {
        try await invite("a@example.com", instance, olga.request(nil))
      }
      let wrong = try own.wrongCode(at: instance.now)
      await expect("wrongCode") {
        try await invite("a@example.com", instance, olga.request(nil, code: wrong))
      }
      #expect(try await instance.identity.invitations.list().isEmpty)
      let code = try own.code(at: instance.now)
      let outcome = try await invite("a@example.com", instance, olga.request(nil, code: code))
      let renewed = try #require(outcome.renewed)
      #expect(renewed.session.id == olga.session.id)
      let actions = try await instance.wholeLog().prefix(3).map(\.action)
      #expect(
        actions == [.administratorInvite, .administratorStepUp, .administratorCodeRefused])
      let next = ActionRequest(agent: renewed.session, author: olga.author)
      #expect(try await invite("b@example.com", instance, next).renewed == nil)
    }
  }

  @Test func `a code isn't used up by a request with other errors`() async throws {
    try await withInstance { instance in
      let olga = try await instance.agentWithDevice("olga", role: .owner)
      instance.clock.advance(900)
      let code = try #require(olga.device).code(at: instance.now)
      let rows = try await instance.wholeLog().count
      await expect("emailTaken") {
        try await invite("olga@example.com", instance, olga.request(nil, code: code))
      }
      await expect("invalidEmail") {
        try await invite("olga", instance, olga.request(nil, code: code))
      }
      #expect(try await instance.wholeLog().count == rows)
      #expect(
        try await invite("a@example.com", instance, olga.request(nil, code: code)).renewed != nil)
    }
  }

  @Test func `incorrect codes are throttled across actions`() async throws {
    try await withInstance { instance in
      let olga = try await instance.agentWithDevice("olga", role: .owner)
      instance.clock.advance(900)
      let wrong = try #require(olga.device).wrongCode(at: instance.now)
      let keys = instance.identity.apiKeys
      for _ in 0..<5 {
        await expect("wrongCode") {
          try await keys.create(
            for: instance.acme.project, by: .console(olga.request(nil, code: wrong)))
        }
      }
      let code = try #require(olga.device).code(at: instance.now)
      await expect("throttled") {
        try await invite("a@example.com", instance, olga.request(nil, code: code))
      }
      await expect("throttled") {
        try await invite("a@example.com", instance, olga.request(nil))
      }
    }
  }

  @Test func `a written reason is required by the table and stored`() async throws {
    try await withInstance { instance in
      let olga = try await instance.agentWithDevice("olga", role: .owner)
      let other = try await instance.enroll(try await instance.administrator("otto", .owner))
      instance.clock.advance(900)
      let id = other.administrator.id
      let factors = instance.identity.administratorFactors
      let code = try #require(olga.device).code(at: instance.now)
      await expect("writtenReasonRequired+codeRequired") {
        try await factors.reset(id, by: .console(olga.request(nil)))
      }
      await expect("writtenReasonRequired+codeNotLookedAt") {
        try await factors.reset(id, by: .console(olga.request(nil, note: "  ", code: code)))
      }
      await expect("noteTooLong+codeNotLookedAt") {
        try await factors.reset(
          id,
          by: .console(olga.request(nil, note: String(repeating: "x", count: 1_001), code: code)))
      }
      _ = try await factors.reset(
        id, by: .console(olga.request(nil, note: "Lost the phone", code: code)))
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorResetFactor && row.note == "Lost the phone")
    }
  }

  @Test func `enrolling the first second factor re-authenticates the session`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let session = try await instance.addApp(
        in: try await instance.giveConsolePassword(olga).session.session
      ).session
      let eligibility = try await instance.identity.authorization.eligibility(
        .inviteAdministrator, session)
      #expect(!eligibility.needsReauthentication && eligibility.methods == [.totp])
      instance.clock.advance(900)
      let later = try await instance.identity.authorization.eligibility(
        .inviteAdministrator, session)
      #expect(later.needsReauthentication && !later.isBlocked)
    }
  }
}
