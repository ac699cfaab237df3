import Crypto
import Identity
import Testing

@testable import TestIdentity

struct EmailLinkTests {
  private func signIn(
    _ instance: Instance, _ code: String, _ person: Person = .alice, linking: UserSession? = nil
  ) async throws -> EmailLinkSignIn {
    try await instance.identity.signIns.emailLink(
      instance.acme, email: person.email, code: code, linking: linking, by: Instance.visitor)
  }

  @Test func `an email link for an unknown address creates an account, once`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let code = try await instance.code(.signIn, .mallory)
      let outcomes = try await concurrently(20) { _ in
        await outcome { try await signIn(instance, code, .mallory) }
      }
      #expect(outcomes.tally == ["done": 1, "usedCode": 19])
      let found = try await instance.identity.accounts.lookup(
        instance.acme, emails: [Person.mallory.email])
      let account = try #require(found.first)
      #expect(account.emailVerified && account.signsInByLink && !account.hasPassword)
      #expect(try await instance.log().first?.action == .accountSignUp)
    }
  }

  @Test func `an existing user signs in and isn't reported as new`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      _ = try await instance.account(.alice)
      let done = try await signIn(instance, try await instance.code(.signIn))
      guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
      #expect(!done.isNewUser && grant.session.provider == .password)
      #expect(grant.account.hasPassword)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange && row.fields == [.signsInByLink])
      _ = try await instance.session(.alice)
    }
  }

  @Test func `signing in by link removes the password of an account with an unverified email`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let alice = try await instance.account(.alice, isVerified: false)
      var change = AccountChange()
      change.phoneNumber = .set("+15550100")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let before = try await instance.session(.alice).session
      instance.clock.advance(1)
      let done = try await signIn(instance, try await instance.code(.signIn))
      guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
      #expect(grant.account.emailVerified && !grant.account.hasPassword)
      await expect("tokenExpired") { try await instance.identity.sessions.check(before) }
      await expect("wrongPassword") { try await instance.firstFactor(.alice) }
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountVerifyEmail && row.old(.phoneNumber) == .text("+15550100"))
      #expect(row.old(.password) == .secret && row.new(.emailVerified) == .flag(true))
    }
  }

  @Test func `an email link still requires the second factor`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let device = try await instance.enrolled(.alice)
      let done = try await signIn(instance, try await instance.code(.signIn))
      guard case .secondFactorDue(_, let pending, let factors) = done.outcome else {
        throw Unexpected("no second factor is due")
      }
      #expect(factors.map(\.id) == [device.factor])
      _ = try await instance.finalize(device, pending, code: device.code(at: instance.now))
    }
  }

  @Test func `the link doesn't reveal the email, and using it requires the email`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let code = try await instance.code(.signIn)
      await expect("emailMismatch") { try await signIn(instance, code, .mallory) }
      await expect("done") { try await signIn(instance, code) }
    }
  }

  @Test func `a link used in a session adds the email to its account`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let anonymous = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      instance.clock.advance(86_400)
      let done = try await signIn(
        instance, try await instance.code(.signIn), linking: anonymous.session)
      guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
      #expect(grant.account.id == anonymous.account.id && !grant.account.isAnonymous)
      #expect(grant.account.email == Person.alice.email && grant.account.emailVerified)
      #expect(grant.session.provider == .password && !done.isNewUser)
      // It's how the user signs in from now on.
      #expect(try await instance.reload(grant.account).lastLoginAt == instance.now)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(anonymous.session)
      }
      // The email of another account can't be linked.
      let other = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      let code = try await instance.code(.signIn)
      await expect("emailExists") { try await signIn(instance, code, linking: other.session) }
    }
  }

  @Test func `a link used in a session isn't a sign-in`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      _ = try await instance.account(.alice)
      let old = try await instance.session(.alice).session
      instance.clock.advance(3 * 3_600)
      let done = try await signIn(instance, try await instance.code(.signIn), linking: old)
      guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
      #expect(grant.session.authTime == instance.now.seconds)
      await expect("signInTooOld") {
        try await instance.identity.enrollments.start(grant.session)
      }
    }
  }

  @Test func `an email link is rejected while the sign-in method is off`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let code = try await instance.code(.signIn)
      try await instance.allow()
      await expect("operationNotAllowed") { try await signIn(instance, code) }
    }
  }

  @Test func `an email link creates no account where sign-up is off`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let code = try await instance.code(.signIn, .mallory)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.userPermissions.signUp = false
      }
      await expect("account.adminOnly") { try await signIn(instance, code, .mallory) }
      _ = try await instance.account(.mallory)
      await expect("done") { try await signIn(instance, code, .mallory) }
    }
  }

  @Test func `a disabled user can't sign in by link`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let alice = try await instance.account(.alice)
      let code = try await instance.code(.signIn)
      var change = AccountChange()
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      await expect("userDisabled") { try await signIn(instance, code) }
    }
  }
}
