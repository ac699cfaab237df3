import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

struct EnrollmentTests {
  @Test func `V8, V9: an enrollment returns a secret, verifies a code, and adds the factor`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let start = try await identity.enrollments.start(session)
      let text = start.sharedSecret.revealedText
      #expect(text.wholeMatch(of: /[A-Z2-7]{32}/) != nil)
      #expect((start.digits, start.period, start.algorithm) == (6, 30, "SHA1"))
      #expect(start.finalizeBy == instance.now.advanced(bySeconds: 900))
      #expect(try await instance.reload(alice).factors.isEmpty)

      let signedInAt = instance.now
      instance.clock.advance(20)
      let secret = try #require(Base32.decode(text))
      let app = try #require(OneTimePassword(secret: Secret(secret)))
      let grant = try await identity.enrollments.finalize(
        session, sessionInfo: start.sessionInfo,
        code: TypedCode(app.code(step: app.step(at: instance.now.seconds))),
        displayName: "  My phone ",
        by: Instance.visitor)
      let factor = try #require(grant.account.factors.first)
      #expect(factor.displayName == "My phone")
      #expect(factor.enrolledAt == instance.now)
      #expect(
        factor.id.text.wholeMatch(
          of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
      #expect(grant.session.secondFactor == SecondFactorClaim(kind: .totp, enrollment: factor.id))
      #expect(grant.session.authTime == instance.now.seconds)
      #expect(grant.session.provider == .password)
      #expect(try await identity.policies.read(instance.acme).enrolledUsers == 1)
      // It isn't a sign-in.
      #expect(try await instance.reload(alice).lastLoginAt == signedInAt)
      // Earlier sessions stay valid.
      _ = try await identity.sessions.check(session)
      let row = try #require(try await instance.log().first)
      #expect(
        (row.action, row.objectKind, row.objectID) == (.factorEnroll, "account", alice.id.text))
      #expect(AuditRow.factors(row.new(.factors)).map(\.displayName) == ["My phone"])
    }
  }

  @Test func `V1: the code used for enrollment can't be used to sign in`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let device = try await instance.enroll(try await instance.session(.alice).session)
      let pending = try await instance.pending(.alice)
      let used = try device.code(at: instance.now)
      await expect("invalidCode") { try await instance.finalize(device, pending, code: used) }
      let next = try device.code(at: instance.now, steps: 1)
      _ = try await instance.finalize(device, pending, code: next)
    }
  }

  @Test func `V9: each started enrollment has its own secret and can be finalized`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let first = try await instance.identity.enrollments.start(session)
      let second = try await instance.identity.enrollments.start(session)
      #expect(first.sharedSecret != second.sharedSecret)
      #expect(first.sessionInfo != second.sessionInfo)
      _ = try await instance.finish(first, session)
    }
  }

  @Test func `concurrent enrollments add one factor`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      var starts: [EnrollmentStart] = []
      for _ in 0..<8 { starts.append(try await instance.identity.enrollments.start(session)) }
      let all = starts
      let outcomes = try await concurrently(8) { number in
        await outcome { try await instance.finish(all[number], session) }
      }
      #expect(outcomes.tally == ["done": 1, "alreadyEnrolled": 7])
      #expect(try await instance.reload(alice).factors.count == 1)
      #expect(try await instance.log().map(\.action).tally[.factorEnroll] == 1)
    }
  }

  @Test func `concurrent requests finalize an enrollment once`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let start = try await instance.identity.enrollments.start(session)
      let outcomes = try await concurrently(8) { _ in
        await outcome { try await instance.finish(start, session) }
      }
      #expect(outcomes.tally == ["done": 1, "alreadyComplete": 7])
    }
  }

  @Test(arguments: [0, 1, 5, 10])
  func `enrollment accepts codes within the policy's window`(intervals: Int) async throws {
    try await withInstance { instance in
      try await instance.setWindow(intervals)
      for (person, steps, expected) in [
        (Person.alice, Int64(intervals), "done"), (.bob, -Int64(intervals), "done"),
        (.mallory, Int64(intervals) + 1, "invalidCode"),
      ] {
        _ = try await instance.account(person)
        let session = try await instance.session(person).session
        let start = try await instance.identity.enrollments.start(session)
        await expect(expected) { try await instance.finish(start, session, steps: steps) }
      }
    }
  }

  @Test func `V2: a factor can be removed and enrolled again within one time step`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let first = try await instance.enroll(session)
      let remaining = try #require(
        try await instance.identity.enrollments.withdraw(
          first.session, enrollment: first.factor.text, by: Instance.visitor))
      let second = try await instance.enroll(remaining.session)
      #expect(second.factor != first.factor)
    }
  }

  @Test func `repeated enrollments are limited, to protect mailboxes, and withdrawals never`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      var session = try await instance.session(.alice).session
      for _ in 0..<5 {
        let device = try await instance.enroll(session)
        let grant = try await instance.identity.enrollments.withdraw(
          device.session, enrollment: device.factor.text, by: Instance.visitor)
        session = try #require(grant).session
        instance.clock.advance(30)
      }
      let last = session
      await expect("quotaExceeded") { _ = try await instance.enroll(last) }
      #expect(try await instance.mails("revert-factor").count == 5)
      #expect(try await instance.mails("notice-factor-withdrawn").count == 5)
      #expect(try await instance.mails("notice-many-changes").isEmpty)
    }
  }
}
