import Crypto
import Identity
import Testing

@testable import TestIdentity

struct CodeUseTests {
  @Test func `a reset code is single-use, and the reset ends all sessions`() async throws {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      let alice = try await instance.account(.alice, isVerified: false)
      let before = try await instance.session(.alice)
      instance.clock.advance(1)
      let code = try await instance.code(.passwordReset)
      let seen = try await codes.look(at: code, in: instance.acme)
      #expect(seen.kind == .passwordReset && seen.email == Person.alice.email)
      try await codes.resetPassword(
        code, to: Secret("a new password"), in: instance.acme, by: Instance.visitor)
      await expect("usedCode") {
        try await codes.resetPassword(code, to: Secret("a third password"), by: Instance.visitor)
      }
      await expect("usedCode") { try await codes.look(at: code) }
      await expect("tokenExpired") { try await instance.identity.sessions.check(before.session) }
      await expect("wrongPassword") { try await instance.firstFactor(.alice) }
      let after = try await instance.identity.signIns.password(
        instance.acme, email: Person.alice.email, password: Secret("a new password"), address: "a")
      guard case .signedIn = after else { throw Unexpected("not signed in") }
      #expect(try await instance.reload(alice).emailVerified == true)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountResetPassword && row.actorKind == "user")
      #expect(row.new(.sessionsEnded) == .number(1))
    }
  }

  @Test func `a page states the password policy, and whether the password can be used at all`()
    async throws
  {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      _ = try await instance.account(.alice, isVerified: false)
      let code = try await instance.code(.passwordReset)
      let verification = try await instance.code(.verifyEmail)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.passwords = PasswordPolicy(isEnforced: true, shortest: 9, classes: [.digit]) }
      let opened = try await codes.open(code)
      #expect(opened.code.email == Person.alice.email)
      #expect(opened.passwordRequirements == [.atLeast(9), .character(.digit)])
      #expect(try await codes.open(verification).passwordRequirements == [])
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.password = false }
      await expect("passwordLoginDisabled") { try await codes.open(code) }
      await expect("done") { try await codes.open(verification) }
    }
  }

  @Test func `a reset removes other sign-in methods of an account with an unverified email`()
    async throws
  {
    try await withInstance { instance in
      for isVerified in [false, true] {
        let person: Person = isVerified ? .bob : .alice
        let account = try await instance.account(person, isVerified: isVerified)
        var change = AccountChange()
        change.phoneNumber = .set(isVerified ? "+15550101" : "+15550100")
        _ = try await instance.identity.accounts.update(
          instance.acme, account.id, change, by: Instance.boss)
        let code = try await instance.code(.passwordReset, person)
        try await instance.identity.outOfBandCodes.resetPassword(
          code, to: Secret("a new password"), by: Instance.visitor)
        let phone = try await instance.reload(account).phoneNumber
        #expect((phone == nil) == !isVerified)
        let row = try #require(try await instance.log().first)
        #expect(row.action == .accountResetPassword && row.new(.password) == .secret)
        #expect(row.old(.phoneNumber) == (isVerified ? nil : .text("+15550100")))
        #expect(row.new(.emailVerified) == (isVerified ? nil : .flag(true)))
      }
    }
  }

  @Test func `a weak password doesn't use up the code`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let code = try await instance.code(.passwordReset)
      let codes = instance.identity.outOfBandCodes
      await expect("account.weakPassword") {
        try await codes.resetPassword(code, to: Secret("short"), by: Instance.visitor)
      }
      await expect("done") {
        try await codes.resetPassword(code, to: Secret("long enough"), by: Instance.visitor)
      }
    }
  }

  @Test(arguments: [
    (OutOfBandCode.Kind.passwordReset, Int64(3_600)), (.signIn, 3_600),
    (.verifyEmail, 3 * 86_400), (.changeEmail, 3 * 86_400),
  ])
  func `a code is valid until it expires`(kind: OutOfBandCode.Kind, lifetime: Int64) async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      _ = try await instance.account(.alice, isVerified: false)
      let code = try await instance.code(
        kind, newEmail: kind == .changeEmail ? "new@example.com" : nil)
      instance.clock.advance(lifetime - 1)
      await expect("done") { try await instance.identity.outOfBandCodes.look(at: code) }
      instance.clock.advance(1)
      await expect("expiredCode") { try await instance.identity.outOfBandCodes.look(at: code) }
      let remains = try await instance.identity.outOfBandCodes.remains(of: code)
      #expect(remains?.kind == kind && remains?.usedAt == nil)
      try await instance.identity.purgeExpired()
      #expect(try await instance.codes() == 1)
      instance.clock.advance(30 * 86_400 + 1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.codes() == 0)
      await expect("invalidCode") { try await instance.identity.outOfBandCodes.look(at: code) }
    }
  }

  @Test func `of twenty concurrent uses of a code, one succeeds`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let code = try await instance.code(.passwordReset)
      let codes = instance.identity.outOfBandCodes
      let outcomes = try await concurrently(20) { index in
        await outcome {
          try await codes.resetPassword(
            code, to: Secret("new password \(index)"), by: Instance.visitor)
        }
      }
      #expect(outcomes.tally == ["done": 1, "usedCode": 19])
      let verify = try await instance.code(.verifyEmail)
      let verified = try await concurrently(20) { _ in
        await outcome { try await codes.apply(verify, by: Instance.visitor) }
      }
      #expect(verified.tally == ["done": 1, "usedCode": 19])
      let rows = try await instance.log().filter { $0.objectID == alice.id.text }
      #expect(rows.count { $0.action == .accountResetPassword } == 1)
    }
  }

  @Test func `a code of another pool is invalid`() async throws {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      _ = try await instance.account(.alice, in: instance.east, isVerified: false)
      _ = try await instance.account(.alice, isVerified: false)
      let code = try await instance.code(.verifyEmail, in: instance.east)
      let reset = try await instance.code(.passwordReset, in: instance.east)
      for pool in [instance.acme, instance.west, instance.globex] {
        await expect("invalidCode") { try await codes.look(at: code, in: pool) }
        await expect("invalidCode") {
          try await codes.apply(code, in: pool, by: Instance.visitor)
        }
        await expect("invalidCode") {
          try await codes.resetPassword(
            reset, to: Secret("a new password"), in: pool, by: Instance.visitor)
        }
      }
      await expect("done") {
        try await codes.apply(code, in: instance.east, by: Instance.visitor)
      }
    }
  }

  @Test(arguments: [
    "", "x", "' OR 1=1 --", "\u{202E}\u{0}", String(repeating: "a", count: 100_000),
  ])
  func `a code that was never issued is invalid`(code: String) async throws {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      await expect("invalidCode") { try await codes.look(at: code) }
      await expect("invalidCode") { try await codes.apply(code, by: Instance.visitor) }
      await expect("invalidCode") {
        try await codes.resetPassword(code, to: Person.wrong, by: Instance.visitor)
      }
      let remains = try await codes.remains(of: code)
      #expect(remains?.kind == nil)
    }
  }

  @Test func `a code works for its purpose only`() async throws {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      try await instance.allow(emailLink: true)
      _ = try await instance.account(.alice, isVerified: false)
      let verify = try await instance.code(.verifyEmail)
      let reset = try await instance.code(.passwordReset)
      let signIn = try await instance.code(.signIn)
      for code in [verify, signIn] {
        await expect("invalidCode") {
          try await codes.resetPassword(code, to: Secret("a new password"), by: Instance.visitor)
        }
      }
      await expect("invalidCode") { try await codes.apply(signIn, by: Instance.visitor) }
      await expect("invalidCode") { try await codes.apply(reset, by: Instance.visitor) }
      for code in [verify, reset] {
        await expect("invalidCode") {
          try await instance.identity.signIns.emailLink(
            instance.acme, email: Person.alice.email, code: code, by: Instance.visitor)
        }
      }
      // None of these attempts used up a code.
      for code in [verify, reset, signIn] {
        await expect("done") { try await codes.look(at: code) }
      }
    }
  }

  @Test func `a code becomes invalid when its account changes`() async throws {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      let alice = try await instance.account(.alice)
      let first = try await instance.code(.passwordReset)
      instance.clock.advance(1)
      let second = try await instance.code(.passwordReset)
      let verify = try await instance.code(.verifyEmail)
      try await codes.resetPassword(second, to: Secret("a new password"), by: Instance.visitor)
      await expect("invalidCode") { try await codes.look(at: first) }
      await expect("done") { try await codes.look(at: verify) }
      var change = AccountChange()
      change.email = .set("alice@elsewhere.example")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      await expect("invalidCode") { try await codes.apply(verify, by: Instance.visitor) }
      let changed = try await instance.reload(alice)
      #expect(!changed.emailVerified)
      change.email = .keep
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      await expect("userDisabled") { try await codes.look(at: verify) }
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      await expect("invalidCode") { try await codes.look(at: verify) }
      #expect(try await instance.codes() == 0)
    }
  }

  @Test func `deleting a project deletes its codes`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let code = try await instance.code(.signIn, .mallory)
      try await instance.identity.pools.delete(
        project: instance.acme.project, by: .program(Instance.boss))
      await expect("invalidCode") { try await instance.identity.outOfBandCodes.look(at: code) }
      while try await instance.identity.purge() {}
      #expect(try await instance.codes() == 0)
    }
  }
}
