import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct SessionTests {
  @Test func `a refresh keeps the sign-in time and updates the last refresh`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let grant = try await instance.session(.alice)
      instance.clock.advance(5_000)
      let refreshed = try await instance.identity.sessions.refresh(
        grant.refreshToken, project: instance.acme.project)
      #expect(refreshed.session.authTime == grant.session.authTime)
      #expect(refreshed.session.account == alice.id)
      #expect(refreshed.session.pool == instance.acme)
      #expect(refreshed.session.provider == .password)
      #expect(refreshed.refreshToken == grant.refreshToken)
      #expect(refreshed.account.lastRefreshAt == instance.now)
      let account = try await instance.reload(alice)
      #expect(account.lastRefreshAt == instance.now)
      #expect(account.lastLoginAt == grant.account.lastLoginAt)
    }
  }

  @Test func `a refresh token of another project or tenant is rejected and stays valid`()
    async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      _ = try await instance.account(.alice, in: instance.east)
      let grant = try await instance.session(.alice, in: instance.east)
      let acme = instance.acme.project
      await expect("invalidRefreshToken") {
        try await sessions.refresh(grant.refreshToken, project: instance.globex.project)
      }
      await expect("tenantMismatch") {
        try await sessions.refresh(
          grant.refreshToken, project: acme, tenant: instance.west.tenant)
      }
      for tenant in [nil, instance.east.tenant] {
        let refreshed = try await sessions.refresh(
          grant.refreshToken, project: acme, tenant: tenant)
        #expect(refreshed.session.pool == instance.east)
      }
    }
  }

  @Test(arguments: ["", "x", "' OR 1=1 --", String(repeating: "A", count: 43)])
  func `a refresh token that was never issued is rejected`(token: String) async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.session(.alice)
      await expect("invalidRefreshToken") {
        try await instance.identity.sessions.refresh(token, project: instance.acme.project)
      }
    }
  }

  @Test func `a refresh token with any changed character is rejected`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let token = try await instance.session(.alice).refreshToken
      for index in token.indices {
        var forged = token
        forged.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
        let text = forged
        await expect("invalidRefreshToken") {
          try await instance.identity.sessions.refresh(text, project: instance.acme.project)
        }
      }
      for text in [token + "=", token + "A", " " + token, token + "\n"] {
        await expect("invalidRefreshToken") {
          try await instance.identity.sessions.refresh(text, project: instance.acme.project)
        }
      }
    }
  }

  @Test func `ending sessions ends all of a user's sessions and returns their number`() async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      _ = try await instance.account(.bob)
      var grants: [SessionGrant] = []
      for _ in 0..<3 {
        grants.append(try await instance.session(.alice))
        instance.clock.advance(10)
      }
      let bob = try await instance.session(.bob)
      #expect(try await sessions.count(alice) == 3)
      let ended = try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
      #expect(ended == 3)
      #expect(try await sessions.count(alice) == 0)
      for grant in grants {
        await expect("tokenExpired") { try await sessions.check(grant.session) }
        await expect("tokenExpired") {
          try await sessions.refresh(grant.refreshToken, project: instance.acme.project)
        }
      }
      _ = try await sessions.check(bob.session)
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.new(.sessionsEnded)) == (.sessionsEnd, .number(3)))
      #expect(try await sessions.endAll(instance.acme, alice.id, by: Instance.support) == 0)
    }
  }

  @Test func `within one second, a revocation ends earlier sessions but not later ones`()
    async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      var before: [SessionGrant] = []
      for _ in 0..<4 {
        before.append(try await instance.session(.alice))
        try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
        let after = try await instance.session(.alice)
        for grant in before {
          await expect("tokenExpired") { try await sessions.check(grant.session) }
        }
        _ = try await sessions.check(after.session)
        _ = try await sessions.refresh(after.refreshToken, project: instance.acme.project)
        before.append(after)
      }
    }
  }

  @Test func `after concurrent revocations and sign-ins, a final revocation ends all sessions`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let sessions = instance.identity.sessions
      let grants = try await concurrently(12) { number -> SessionGrant? in
        if number % 3 == 0 {
          try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
          return nil
        }
        return try await instance.session(.alice)
      }
      for grant in grants.compactMap({ $0 }) {
        let checked = await outcome { try await sessions.check(grant.session) }
        await expect(checked) {
          try await sessions.refresh(grant.refreshToken, project: instance.acme.project)
        }
      }
      try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
      for grant in grants.compactMap({ $0 }) {
        await expect("tokenExpired") { try await sessions.check(grant.session) }
      }
    }
  }

  @Test func `a disabled user's session is refused, and stays ended after enabling`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let grant = try await instance.session(.alice)
      for (isDisabled, expected) in [(true, "userDisabled"), (false, "tokenExpired")] {
        var change = AccountChange()
        change.disabled = isDisabled
        _ = try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: Instance.boss)
        await expect(expected) { try await instance.identity.sessions.check(grant.session) }
        await expect(expected) {
          try await instance.identity.sessions.refresh(
            grant.refreshToken, project: instance.acme.project)
        }
      }
    }
  }

  @Test func `a session is bound to its pool`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for pool in [instance.east, instance.west, instance.globex] {
        let session = UserSession(
          pool: pool, account: alice.id, authTime: instance.now.seconds, provider: .password)
        await expect("userNotFound") { try await instance.identity.sessions.check(session) }
        await expect("userNotFound") { try await instance.identity.sessions.renew(session) }
      }
    }
  }

  @Test func `a renewed session is valid at once and keeps an existing second factor`() async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      var change = AccountChange()
      change.password = .set(Person.alice.password)
      _ = try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.visitor)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(device.session)
      }
      let renewed = try await instance.identity.sessions.renew(device.session)
      #expect(renewed.session.secondFactor == device.session.secondFactor)
      _ = try await instance.identity.sessions.check(renewed.session)
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, agent.request())
      #expect(
        try await instance.identity.sessions.renew(device.session).session.secondFactor == nil)
    }
  }

  @Test func `a user's oldest sessions end when there are over a thousand`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let first = try await instance.session(.alice)
      let (pool, now, random) = (instance.acme, instance.now, Dice(seed: 7).source)
      let (most, last) = try await instance.identity.store.write { connection in
        var most = 0
        var last = ""
        for number in 1...1_200 {
          last = try Sessions.begin(
            alice, in: pool, provider: .password, secondFactor: nil, with: .signIn,
            at: now.advanced(bySeconds: Int64(number)), random: random, connection
          ).refreshToken
          if number % 10 == 0 { most = max(most, try Sessions.count(alice.key, connection)) }
        }
        return (most, last)
      }
      #expect((Sessions.mostPerUser...1_100).contains(most))
      _ = try await instance.identity.sessions.refresh(last, project: pool.project)
      await expect("invalidRefreshToken") {
        try await instance.identity.sessions.refresh(first.refreshToken, project: pool.project)
      }
      // Its ID is smaller than theirs, because the clock was set back.
      for _ in 0..<40 { _ = try await instance.session(.alice) }
      let new = try await instance.session(.alice)
      _ = try await instance.identity.sessions.refresh(new.refreshToken, project: pool.project)
    }
  }

  @Test(arguments: [Int64.min, -1, Int64.max])
  func `an out-of-range sign-in time is handled safely`(time: Int64) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let session = UserSession(
        pool: instance.acme, account: device.account.id, authTime: time, provider: .password)
      await expect(time > 0 ? "signInTooOld" : "tokenExpired") {
        try await instance.identity.enrollments.start(session)
      }
      await expect(time > 0 ? "secondFactorNeeded" : "tokenExpired") {
        try await instance.identity.enrollments.withdraw(
          session, enrollment: device.factor.text, by: Instance.visitor)
      }
    }
  }
}
