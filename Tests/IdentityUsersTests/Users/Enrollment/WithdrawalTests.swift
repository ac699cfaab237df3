import Testing

@testable import Identity
@testable import TestIdentity

struct WithdrawalTests {
  private func withdraw(
    _ instance: Instance, _ session: UserSession, _ factor: String
  ) async throws -> SessionGrant? {
    try await instance.identity.enrollments.withdraw(
      session, enrollment: factor, by: Instance.visitor)
  }

  @Test func `L5: withdrawing the only factor ends earlier sessions and starts a new one`()
    async throws
  {
    try await withInstance { instance in
      let (identity, acme) = (instance.identity, instance.acme)
      let device = try await instance.enrolled(.alice)
      let grant = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      let remaining = try #require(try await withdraw(instance, grant.session, device.factor.text))
      #expect(remaining.session.secondFactor == nil)
      #expect(remaining.account.factors.isEmpty)
      #expect(remaining.account.lastLoginAt == grant.account.lastLoginAt)
      for session in [grant.session, device.session] {
        await expect("tokenExpired") { try await identity.sessions.check(session) }
      }
      await expect("tokenExpired") {
        try await identity.sessions.refresh(grant.refreshToken, project: acme.project)
      }
      _ = try await identity.sessions.check(remaining.session)
      _ = try await identity.sessions.refresh(remaining.refreshToken, project: acme.project)
      #expect(try await identity.policies.read(acme).enrolledUsers == 0)
      _ = try await instance.session(.alice)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorWithdraw)
      #expect(row.hadFactor(device.factor.text) && row.fields == [.factors, .sessionsEnded])
      #expect(row.new(.sessionsEnded) == .number(3))
    }
  }

  @Test func `within the second of the sign-in, only the new session is valid`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let device = try await instance.enroll(try await instance.session(.alice).session)
      let remaining = try #require(
        try await withdraw(instance, device.session, device.factor.text))
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(device.session)
      }
      _ = try await instance.identity.sessions.check(remaining.session)
    }
  }

  @Test func `a session whose token doesn't name it is ended too`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      // Before session generations, a session could end at a future time.
      let ahead = UserSession(
        pool: instance.acme, account: device.account.id, authTime: instance.now.seconds + 100,
        provider: .password,
        secondFactor: SecondFactorClaim(kind: .totp, enrollment: device.factor))
      let remaining = try #require(try await withdraw(instance, ahead, device.factor.text))
      await expect("tokenExpired") { try await instance.identity.sessions.check(ahead) }
      _ = try await instance.identity.sessions.check(remaining.session)
    }
  }

  @Test func `withdrawing the newest of several factors returns a session; another doesn't`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let remaining = try #require(
        try await withdraw(instance, device.session, device.factor.text))
      #expect(remaining.session.secondFactor == nil)
      #expect(remaining.account.factors.map(\.id.text) == ["second"])
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 1)
    }
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      #expect(try await withdraw(instance, device.session, "second") == nil)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(device.session)
      }
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 1)
    }
  }

  @Test func `a session with another second factor keeps its claim`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let claim = SecondFactorClaim(kind: .phone, enrollment: ID("second"))
      let session = UserSession(
        pool: instance.acme, account: device.account.id, authTime: device.session.authTime,
        provider: .password, secondFactor: claim)
      let remaining = try #require(try await withdraw(instance, session, device.factor.text))
      #expect(remaining.session.secondFactor == claim)
    }
  }

  @Test func `another user's factor is not found`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let mallory = try await instance.enrolled(.mallory)
      for factor in [alice.factor.text, "", "totp", "unknown"] {
        await expect("enrollmentNotFound") {
          try await withdraw(instance, mallory.session, factor)
        }
      }
      _ = try await instance.identity.sessions.check(mallory.session)
      #expect(try await instance.reload(alice.account).factors.count == 1)
    }
  }

  @Test func `of concurrent withdrawals, exactly one succeeds`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let outcomes = try await concurrently(8) { _ in
        await outcome { try await withdraw(instance, device.session, device.factor.text) }
      }
      #expect(outcomes.tally == ["done": 1, "tokenExpired": 7])
      #expect(try await instance.log().map(\.action).tally[.factorWithdraw] == 1)
    }
  }

  @Test func `the newest factor is the one enrolled last, regardless of position`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(
          id: "old", phoneNumber: Instance.number, enrolledAt: instance.now.advanced(bySeconds: -99)
        )
      ])
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      #expect(try await withdraw(instance, device.session, device.factor.text) == nil)
    }
  }

  @Test func `a program can't make a factor the newest by dating it in the future`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(
          phoneNumber: Instance.number, enrolledAt: instance.now.advanced(bySeconds: 86_400))
      ])
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      instance.clock.advance(30)
      let device = try await instance.enroll(session)
      #expect(device.account.newestFactor?.id == device.factor)
      #expect(try await withdraw(instance, device.session, device.factor.text) == nil)
    }
  }

  @Test func `the user is notified by email`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await withdraw(instance, device.session, device.factor.text)
      #expect(
        try await instance.messages() == ["mail notice-factor-withdrawn alice@example.com"])
    }
  }

  @Test func `a session with a second factor is required, unless the pool's setting is off`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let first = UserSession(
        pool: instance.acme, account: device.account.id, authTime: device.session.authTime,
        provider: .password)
      await expect("secondFactorNeeded") {
        try await withdraw(instance, first, device.factor.text)
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
      // While TOTP is disabled, no session can have a second factor.
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp?.state = .disabled
      }
      _ = try await withdraw(instance, first, device.factor.text)
      let other = try await instance.enrolledAgain(.bob)
      _ = try await withdraw(instance, other.session, other.factor.text)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.changesNeedFactor = false }
      let row = try #require(try await instance.log().first)
      #expect(
        row.changes == [
          AuditChange(.changesNeedFactor, from: .flag(true), to: .flag(false))
        ])
      let carol = try await instance.enrolled(.mallory)
      let plain = UserSession(
        pool: instance.acme, account: carol.account.id, authTime: carol.session.authTime,
        provider: .password)
      _ = try await withdraw(instance, plain, carol.factor.text)
    }
  }
}

extension Instance {
  /// Enables TOTP and enrolls a person.
  fileprivate func enrolledAgain(_ person: Person) async throws -> Device {
    try await setWindow(5)
    return try await enrolled(person)
  }
}
