import Crypto
import Identity
import Testing

@testable import TestIdentity

struct AccountUpdateTests {
  /// Changes an account as an administrator.
  private func change(
    _ instance: Instance, _ account: Account, _ fill: (inout AccountChange) -> Void
  ) async throws -> Account {
    var change = AccountChange()
    fill(&change)
    return try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss)
  }

  @Test func `fields are set, cleared, and kept, and the audit row has old and new values`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let named = try await change(instance, alice) {
        $0.displayName = .set("Alice")
        $0.phoneNumber = .set("+4912345678")
        $0.customAttributes = .set(#"{"role":"x"}"#)
      }
      #expect((named.displayName, named.phoneNumber) == ("Alice", "+4912345678"))
      #expect(named.customAttributes == #"{"role":"x"}"#)
      #expect(named.email == alice.email)
      #expect(named.emailVerified)
      let cleared = try await change(instance, alice) { $0.displayName = .clear }
      #expect(cleared.displayName == nil)
      #expect(cleared.phoneNumber == "+4912345678")
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange)
      #expect(row.changes == [AuditChange(.displayName, from: .text("Alice"), to: .absent)])
    }
  }

  @Test func `an update that changes nothing is not audited and ends no session`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let grant = try await instance.session(.alice)
      let rows = try await instance.wholeLog().count
      let same = try await change(instance, alice) {
        $0.email = .set("ALICE@example.com")
        $0.displayName = .clear
        $0.disabled = false
        $0.emailVerified = true
        $0.factors = .clear
      }
      #expect(same.validSince == alice.validSince)
      #expect(try await instance.wholeLog().count == rows)
      _ = try await instance.identity.sessions.check(grant.session)
      var own = AccountChange()
      own.email = .set("ALICE@example.com")
      let update = try await instance.identity.accounts.update(
        instance.acme, alice.id, own, by: Instance.visitor, in: grant.session)
      #expect(update.grant == nil, "an old token doesn't become a new session")
      var anonymous = NewAccount()
      anonymous.localID = "no-password"
      let other = try await instance.identity.accounts.create(
        instance.acme, anonymous, by: .program(Instance.boss)
      ).value
      let cleared = try await change(instance, other) { $0.password = .clear }
      #expect(cleared.validSince == other.validSince)
    }
  }

  @Test(arguments: ["password", "no password", "email", "disabled", "no factors"])
  func `changing a credential ends all sessions, including those of the same second`(
    what: String
  ) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let credential = try await instance.pending(.alice)
      let grant = try await instance.finalize(
        device, credential, code: device.code(at: instance.now))
      let pending = try await instance.pending(.alice)
      let changed = try await change(instance, device.account) { change in
        switch what {
        case "password": change.password = .set(Secret("another password"))
        case "no password": change.password = .clear
        case "email": change.email = .set("other@example.com")
        case "disabled": change.disabled = true
        default: change.factors = .clear
        }
      }
      let expected = what == "disabled" ? "userDisabled" : "tokenExpired"
      for session in [grant.session, device.session] {
        await expect(expected) { try await instance.identity.sessions.check(session) }
      }
      await expect(expected) {
        try await instance.identity.sessions.refresh(
          grant.refreshToken, project: instance.acme.project)
      }
      #expect(try await instance.identity.sessions.count(changed) == 0)
      let code = try device.code(at: instance.now, steps: 1)
      let refusals = ["disabled": "userDisabled", "no factors": "invalidEnrollment"]
      await expect(refusals[what] ?? "invalidPendingCredential") {
        try await instance.finalize(device, pending, code: code)
      }
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange)
      #expect(row.new(.sessionsEnded) == .number(3))
    }
  }

  @Test func `disabling a user invalidates pending credentials for good`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      for isDisabled in [true, false] {
        _ = try await change(instance, device.account) { $0.disabled = isDisabled }
      }
      let code = try device.code(at: instance.now)
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, pending, code: code)
      }
      let fresh = try await instance.pending(.alice)
      _ = try await instance.finalize(device, fresh, code: code)
    }
  }

  @Test func `a new email is unverified unless an administrator verifies it`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let moved = try await change(instance, alice) { $0.email = .set("new@example.com") }
      #expect(!moved.emailVerified)
      let verified = try await change(instance, alice) { $0.emailVerified = true }
      #expect(verified.emailVerified)
      let both = try await change(instance, alice) {
        $0.email = .set("newer@example.com")
        $0.emailVerified = true
      }
      #expect(both.emailVerified)
      let without = try await change(instance, alice) {
        $0.email = .clear
        $0.emailVerified = true
      }
      #expect(without.email == nil)
      #expect(!without.emailVerified)
    }
  }

  @Test func `an email with another letter that looks the same is a different email`() async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let composed = try await change(instance, alice) {
        $0.email = .set("caf\u{E9}@example.com")
        $0.emailVerified = true
      }
      #expect(composed.emailVerified)
      let grant = try await instance.signedIn(Person.alice, as: "caf\u{E9}@example.com")
      let decomposed = try await change(instance, alice) {
        $0.email = .set("cafe\u{301}@example.com")
      }
      #expect(decomposed.emailVerified)
      _ = try await instance.identity.sessions.check(grant.session)
      let cyrillic = try await change(instance, alice) {
        $0.email = .set("c\u{430}f\u{E9}@example.com")
      }
      #expect(!cyrillic.emailVerified)
      await expect("tokenExpired") { try await instance.identity.sessions.check(grant.session) }
    }
  }

  @Test func `validSince ends older sessions, never decreases, and is capped at the current time`()
    async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      let old = try await instance.session(.alice)
      instance.clock.advance(10)
      let new = try await instance.session(.alice)
      let since = new.session.authTime
      instance.clock.advance(6)
      let changed = try await change(instance, alice) { $0.validSince = since }
      #expect(changed.validSince == since)
      await expect("tokenExpired") { try await sessions.check(old.session) }
      _ = try await sessions.check(new.session)
      #expect(try await sessions.count(changed) == 1)
      #expect(try await change(instance, alice) { $0.validSince = 0 }.validSince == since)
      await expect("tokenExpired") { try await sessions.check(old.session) }
      let last = try await change(instance, alice) { $0.validSince = Int64.max }
      #expect(last.validSince == instance.now.seconds)
      await expect("tokenExpired") { try await sessions.check(new.session) }
      let late = try await instance.session(.alice)
      _ = try await sessions.check(late.session)
      try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
      await expect("tokenExpired") { try await sessions.check(late.session) }
    }
  }

  @Test func `a password change ends sessions even with validSince in the same update`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let grant = try await instance.session(.alice)
      _ = try await change(instance, alice) {
        $0.password = .set(Secret("another password"))
        $0.validSince = 1
      }
      await expect("tokenExpired") {
        _ = try await instance.identity.sessions.check(grant.session)
      }
    }
  }

  @Test func `a new password replaces the old one and clears failed attempts`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for _ in 0..<10 {
        await expect("wrongPassword") {
          try await instance.identity.signIns.password(
            instance.acme, email: Person.alice.email, password: Person.wrong, address: "a")
        }
      }
      await expect("tooManyAttempts") {
        try await instance.identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Person.alice.password, address: "a")
      }
      let changed = try await change(instance, alice) { $0.password = .set(Secret("new password")) }
      #expect(changed.passwordUpdatedAt == instance.now)
      await expect("wrongPassword") { try await instance.session(.alice) }
      _ = try await instance.identity.signIns.password(
        instance.acme, email: Person.alice.email, password: Secret("new password"), address: "a")
    }
  }

  @Test func `an update with a conflict or invalid field is rejected as a whole`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      _ = try await instance.account(.bob)
      let rows = try await instance.wholeLog().count
      await expect("emailExists") {
        try await change(instance, alice) {
          $0.displayName = .set("Changed")
          $0.email = .set("BOB@example.com")
        }
      }
      await expect("unsupportedSecondFactor") {
        try await change(instance, alice) {
          $0.displayName = .set("Changed")
          $0.factors = .replace([FactorEntry(id: "unknown")])
        }
      }
      await expect("claimsTooLarge") {
        try await change(instance, alice) {
          $0.customAttributes = .set(String(repeating: "é", count: 1_001))
        }
      }
      await expect("notFound") {
        try await instance.identity.accounts.update(
          instance.east, alice.id, AccountChange(), by: Instance.boss)
      }
      #expect(try await instance.reload(alice).displayName == nil)
      #expect(try await instance.wholeLog().count == rows)
    }
  }

  @Test func `factors are renamed and cleared by an update`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let renamed = try await change(instance, device.account) {
        $0.factors = .replace([FactorEntry(id: device.factor.text, displayName: "old phone")])
      }
      #expect(renamed.factors.map(\.label) == ["old phone"])
      let row = try #require(try await instance.log().first)
      #expect(AuditRow.factors(row.new(.factors)).map(\.displayName) == ["old phone"])
      let cleared = try await change(instance, device.account) { $0.factors = .clear }
      #expect(cleared.factors.isEmpty)
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 0)
      _ = try await instance.session(.alice)
    }
  }

  @Test func `a display name can't fake a change to another field`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for name in ["x; email verified: no", "y; email verified: yes\n\u{1B}[2J"] {
        _ = try await change(instance, alice) { $0.displayName = .set(name) }
      }
      let row = try #require(try await instance.log().first)
      #expect(row.fields == [.displayName])
    }
  }

  @Test func `out-of-range creation and sign-in times are audited and can be displayed`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let changed = try await change(instance, alice) {
        $0.createdAt = Instant(milliseconds: Int64.min)
        $0.lastLoginAt = Instant(milliseconds: 1_000)
      }
      #expect(changed.createdAt.rfc3339 == "0000-01-01T00:00:00.000000Z")
      let row = try #require(try await instance.log().first)
      #expect(row.old(.lastSignIn) == .absent)
      #expect(row.new(.lastSignIn) == .instant(Instant(seconds: 1)))
    }
  }

  @Test func `an anonymous user who gets a password is a password user`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.signIn.anonymous = true
      }
      let grant = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      #expect(grant.account.isAnonymous)
      var change = AccountChange()
      change.email = .set(Person.alice.email)
      change.password = .set(Person.alice.password)
      let linked = try await instance.identity.accounts.update(
        instance.acme, grant.account.id, change, by: Author(actor: .user(grant.account.id)),
        in: grant.session)
      #expect(!linked.account.isAnonymous)
      #expect(linked.grant?.session.provider == .password)
      _ = try await instance.session(.alice)
    }
  }
}
