import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

struct EnrollmentRefusalTests {
  private func start(_ instance: Instance, _ session: UserSession) async throws -> EnrollmentStart {
    try await instance.identity.enrollments.start(session)
  }

  @Test func `three wrong codes end an enrollment, and a new one can be started`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let first = try await start(instance, session)
      for _ in 0..<3 {
        await expect("invalidCode") {
          try await instance.finish(first, session, steps: 40)
        }
      }
      for _ in 0..<2 {
        await expect("tooManyAttempts") { try await instance.finish(first, session) }
      }
      let second = try await start(instance, session)
      _ = try await instance.finish(second, session)
    }
  }

  @Test func `of 64 concurrent wrong codes, three are checked`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let first = try await start(instance, session)
      let outcomes = try await concurrently(64) { number in
        await outcome { try await instance.finish(first, session, steps: Int64(40 + number)) }
      }
      #expect(outcomes.tally == ["invalidCode": 3, "tooManyAttempts": 61])
    }
  }

  @Test func `an enrollment expires after 900 seconds`() async throws {
    try await withInstance { instance in
      for (person, seconds, expected) in [
        (Person.alice, Int64(900), "done"), (.bob, 901, "sessionExpired"),
      ] {
        _ = try await instance.account(person)
        let session = try await instance.session(person).session
        let started = try await start(instance, session)
        instance.clock.advance(seconds)
        await expect(expected) { try await instance.finish(started, session) }
      }
    }
  }

  @Test func `a completed enrollment can't be finalized again, before or after purging`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let started = try await start(instance, session)
      _ = try await instance.finish(started, session)
      await expect("alreadyComplete") { try await instance.finish(started, session) }
      instance.clock.advance(900)
      try await instance.identity.purgeExpired()
      await expect("alreadyComplete") { try await instance.finish(started, session) }
      instance.clock.advance(100)
      try await instance.identity.purgeExpired()
      await expect("sessionExpired") { try await instance.finish(started, session) }
    }
  }

  @Test func `an enrollment that was started before the sessions ended can't be finalized`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let first = try await start(instance, session)
      var change = AccountChange()
      change.password = .set(Person.alice.password)
      let update = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.visitor, in: session)
      let renewed = try #require(update.grant).session
      await expect("sessionExpired") { try await instance.finish(first, renewed) }
      let second = try await start(instance, renewed)
      try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.support)
      let next = try await instance.session(.alice).session
      await expect("sessionExpired") { try await instance.finish(second, next) }
      #expect(try await instance.reload(alice).factors.isEmpty)
      // Neither is one that was started before only other sessions ended.
      let third = try await start(instance, next)
      change.password = .clear
      let kept = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.visitor, in: next)
      #expect(kept.grant == nil)
      await expect("sessionExpired") { try await instance.finish(third, next) }
      _ = try await instance.finish(try await start(instance, next), next)
    }
  }

  @Test func `an enrollment of another user or pool is rejected`() async throws {
    try await withInstance { instance in
      var sessions: [UserSession] = []
      for (person, pool) in [
        (Person.alice, instance.acme), (.mallory, instance.acme), (.alice, instance.east),
        (.alice, instance.globex),
      ] {
        _ = try await instance.account(person, in: pool)
        sessions.append(try await instance.session(person, in: pool).session)
      }
      let all = sessions
      let started = try await start(instance, all[0])
      for other in all.dropFirst() {
        await expect("invalidSessionInfo") { try await instance.finish(started, other) }
      }
      _ = try await instance.finish(started, all[0])
    }
  }

  @Test(arguments: ["", "x", "AAAA", "%", String(repeating: "A", count: 2_000)])
  func `session info that wasn't issued here is rejected`(info: String) async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      await expect("invalidSessionInfo") {
        try await instance.identity.enrollments.finalize(
          session, sessionInfo: info, code: "123456", displayName: "x", by: Instance.visitor)
      }
    }
  }

  @Test func `pending credentials and enrollments aren't interchangeable`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      await expect("invalidSessionInfo") {
        try await instance.identity.enrollments.finalize(
          device.session, sessionInfo: pending, code: "123456", displayName: "x",
          by: Instance.visitor)
      }
      _ = try await instance.account(.bob)
      let started = try await start(instance, try await instance.session(.bob).session)
      let code = try device.code(at: instance.now)
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, started.sessionInfo, code: code)
      }
    }
  }

  @Test func `an enrollment with any changed byte is rejected`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let started = try await start(instance, session)
      let box = try #require(Base64URL.decode(started.sessionInfo))
      for index in box.indices {
        var forged = box
        forged[index] ^= 1
        let text = Base64URL.encode(forged)
        await expect("invalidSessionInfo") {
          try await instance.identity.enrollments.finalize(
            session, sessionInfo: text, code: "123456", displayName: "x", by: Instance.visitor)
        }
      }
    }
  }

  @Test(arguments: [nil, "", "  \n", "\u{200B}"])
  func `a factor requires a name, and omitting it doesn't count as an attempt`(name: String?)
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let started = try await start(instance, session)
      for _ in 0..<4 {
        await expect("missingDisplayName") {
          try await instance.finish(started, session, name: name)
        }
      }
      _ = try await instance.finish(started, session)
    }
  }

  @Test(arguments: ["", "12345", "1234567", "12345a", "-12345"])
  func `a malformed code is an incorrect code`(code: String) async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let started = try await start(instance, session)
      await expect(code.isEmpty ? "missingCode" : "invalidCode") {
        try await instance.finish(started, session, code: code)
      }
    }
  }

  @Test func `L7: enrollment requires a verified email`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice, isVerified: false)
      let session = try await instance.session(.alice).session
      await expect("unverifiedEmail") { try await start(instance, session) }
      var change = AccountChange()
      change.emailVerified = true
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let started = try await start(instance, session)
      change.emailVerified = false
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      await expect("unverifiedEmail") { try await instance.finish(started, session) }
    }
  }

  @Test func `a sign-in by a clock that was ahead isn't recent once the clock is set back`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      instance.clock.advance(3_600)
      let ahead = try await instance.session(.alice)
      instance.clock.advance(4_000 - 3_600)
      instance.clock.advance(-3_600)
      let refreshed = try await instance.identity.sessions.refresh(
        ahead.refreshToken, project: instance.acme.project)
      #expect(refreshed.session.authTime < instance.now.seconds)
      await expect("signInTooOld") { try await start(instance, refreshed.session) }
    }
  }

  @Test func `starting an enrollment requires a recent sign-in; finalizing it doesn't`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      instance.clock.advance(300)
      let started = try await start(instance, session)
      instance.clock.advance(1)
      await expect("signInTooOld") { try await start(instance, session) }
      instance.clock.advance(800)
      _ = try await instance.finish(started, session)
    }
  }

  @Test(arguments: [SignInProvider.anonymous, .custom, .phone])
  func `sign-in methods without second factors can't enroll`(provider: SignInProvider) async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = UserSession(
        pool: instance.acme, account: alice.id, authTime: instance.now.seconds,
        provider: provider)
      await expect("unsupportedFirstFactor") { try await start(instance, session) }
    }
  }

  @Test func `an account has one authenticator app`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      await expect("alreadyEnrolled") { try await start(instance, device.session) }
    }
  }

  @Test func `TOTP must be enabled to start and to finalize an enrollment`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let started = try await start(instance, session)
      for state in [MFAState.disabled, .unspecified, .mandatory] {
        _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss))
        {
          $0.configuration.totp?.state = state
        }
        let expected = state == .disabled ? "totpNotEnabled" : "done"
        await expect(expected) { try await start(instance, session) }
        if state == .disabled {
          await expect("totpNotEnabled") { try await instance.finish(started, session) }
        }
      }
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp = nil
      }
      await expect("totpNotEnabled") { try await start(instance, session) }
    }
  }

  @Test func `an invalid session can't enroll`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let started = try await start(instance, session)
      try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.support)
      await expect("tokenExpired") { try await start(instance, session) }
      await expect("tokenExpired") { try await instance.finish(started, session) }
      let elsewhere = UserSession(
        pool: instance.east, account: alice.id, authTime: instance.now.seconds + 10,
        provider: .password)
      await expect("userNotFound") { try await start(instance, elsewhere) }
    }
  }
}
