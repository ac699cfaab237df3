import Crypto
import Identity
import Testing
import Text

@testable import TestIdentity

struct FederationTests {
  private static let alice = #""email":"alice@example.com","email_verified":true"#

  @Test func `a provider sign-in creates an account and finds it the next time`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let first = try await instance.signIn(
        withProviderSaying:
          #""email":"Ann@Example.com","email_verified":true,"name":"Ann","picture":"https://p""#
      ).signedIn().federated
      #expect(first.isNew)
      #expect(first.account.email == "ann@example.com")
      #expect(first.account.emailVerified)
      #expect(first.account.displayName == "Ann")
      #expect(first.account.providers.map(\.rawID) == ["user-1"])
      let (outcome, second) = try await instance.signIn(
        withProviderSaying: #""email":"other@example.com""#
      ).signedIn()
      #expect(!second.isNew)
      #expect(second.account.id == first.account.id)
      // The account keeps its email; the provider's data is stored with the identity.
      #expect(second.account.email == "ann@example.com")
      #expect(second.account.providers.first?.email == "other@example.com")
      guard case .signedIn(let grant) = outcome else { throw Unexpected("not signed in") }
      #expect(grant.session.provider.rawValue == "oidc.acme")
      #expect(grant.session.provider.supportsSecondFactor)
    }
  }

  @Test func `a provider sign-in requires the second factor`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let device = try await instance.enrolled(.alice)
      let (outcome, linked) = try await instance.signIn(withProviderSaying: Self.alice).signedIn()
      #expect(linked.account.id == device.account.id)
      guard case .secondFactorDue(_, let pending, let factors) = outcome else {
        throw Unexpected("no second factor is due")
      }
      #expect(factors.map(\.id) == [device.factor])
      let grant = try await instance.finalize(
        device, pending, code: device.code(at: instance.now))
      #expect(grant.session.provider.rawValue == "oidc.acme")
      #expect(grant.session.secondFactor?.enrollment == device.factor)
    }
  }

  @Test func `a verified email links the existing account, which keeps its password`() async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      let alice = try await instance.account(.alice)
      let linked = try await instance.signIn(
        withProviderSaying: #""email":"alice@example.com","email_verified":"true""#
      ).signedIn().federated
      #expect(linked.account.id == alice.id)
      #expect(linked.account.hasPassword)
      #expect(!linked.isEmailRecycled)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange)
      #expect(row.new(.providers) == .list(["oidc.acme (user-1)"]))
    }
  }

  @Test func `linking by an unverified email removes credentials that someone else may have set`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      let alice = try await instance.account(.alice, isVerified: false)
      var change = AccountChange()
      change.phoneNumber = .set("+15550100")
      change.link = ProviderLink(provider: "google.com", rawID: "stranger")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let oldSession = try await instance.session(.alice).session
      let linked = try await instance.signIn(withProviderSaying: Self.alice).signedIn().federated
      #expect(linked.account.id == alice.id)
      #expect(linked.account.emailVerified)
      #expect(!linked.account.hasPassword)
      #expect(linked.account.phoneNumber == nil)
      #expect(linked.account.providers.map(\.provider) == ["oidc.acme"])
      await expect("tokenExpired") { try await instance.identity.sessions.check(oldSession) }
    }
  }

  @Test func `linking by an unverified email ends sign-in by email link`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      try await instance.allow(emailLink: true)
      let done = try await instance.identity.signIns.emailLink(
        instance.acme, email: Person.alice.email, code: try await instance.code(.signIn),
        linking: nil, by: Instance.visitor)
      guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
      #expect(grant.account.signsInByLink)
      var change = AccountChange()
      change.emailVerified = false
      _ = try await instance.identity.accounts.update(
        instance.acme, grant.account.id, change, by: Instance.boss)
      let linked = try await instance.signIn(withProviderSaying: Self.alice).signedIn().federated
      #expect(linked.account.id == grant.account.id)
      #expect(linked.account.emailVerified && !linked.account.signsInByLink)
    }
  }

  @Test func `an email that the provider didn't verify requires confirmation`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let alice = try await instance.account(.alice)
      let result = try await instance.signIn(
        withProviderSaying: #""email":"alice@example.com""#)
      guard case .needsConfirmation(let providers) = result else {
        throw Unexpected("no confirmation was requested")
      }
      #expect(providers == [])
      #expect(try await instance.reload(alice).providers.isEmpty)
    }
  }

  @Test func `a verified address with the Kelvin sign isn't that of the user with the letter k`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      var new = NewAccount()
      new.email = "kim@example.com"
      let kim = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      let result = try await instance.signIn(
        withProviderSaying: #""email":"\u212Aim@example.com","email_verified":true"#)
      guard case .needsConfirmation = result else { throw Unexpected("the user was signed in") }
      #expect(try await instance.reload(kim).providers.isEmpty)
    }
  }

  @Test func `linking verifies an address only if the provider verified the same bytes`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      // The same letter as one character, and as a letter with a combining accent.
      var new = NewAccount()
      new.email = "\u{E9}mile@example.com"
      new.password = Secret("a pass phrase")
      let session = try await instance.identity.signIns.signUp(
        instance.acme, new, by: Instance.visitor
      ).session
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(#""email":"e\u0301mile@example.com","email_verified":true"#)))
      let linked = try await instance.identity.federation.link(
        session, assertion, by: Instance.visitor
      ).signedIn().federated.account
      #expect(linked.email?.isSameBytes(as: "\u{E9}mile@example.com") == true)
      #expect(!linked.emailVerified)
    }
  }

  @Test func `a new email at the provider is recorded, because notices are sent there too`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      _ = try await instance.signIn(withProviderSaying: #""email":"old@example.com""#)
      let rows = try await instance.log().count
      _ = try await instance.signIn(withProviderSaying: #""email":"old@example.com""#)
      #expect(try await instance.log().count == rows)
      _ = try await instance.signIn(withProviderSaying: #""email":"new@example.com""#)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange && row.old(.providerEmail) == .text("old@example.com"))
      #expect(row.new(.providerEmail) == .text("new@example.com"))
      #expect(try await instance.log().count == rows + 1)
    }
  }

  @Test func `an email that the provider reassigned is reported as recycled`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      _ = try await instance.signIn(withProviderSaying: Self.alice)
      let token = try TestTokenIssuer.back.token(
        Instance.claims(Self.alice + #","sub":"user-2""#, without: ["sub"]))
      let linked = try await instance.identity.federation.signIn(
        instance.acme, instance.assertion(token), mayCreate: true, by: Instance.visitor
      ).signedIn().federated
      #expect(linked.isEmailRecycled)
      #expect(linked.account.providers.map(\.rawID) == ["user-2"])
    }
  }

  @Test func `no account is created without permission, and disabled users are refused`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      await expect("userNotFound") {
        try await instance.signIn(withProviderSaying: "", mayCreate: false)
      }
      let created = try await instance.signIn(withProviderSaying: "").signedIn().federated
      var change = AccountChange()
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, created.account.id, change, by: Instance.boss)
      await expect("userDisabled") { try await instance.signIn(withProviderSaying: "") }
    }
  }

  @Test func `linking an identity keeps the second factor in the session`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let device = try await instance.enrolled(.alice)
      let session = try await instance.finalize(
        device, try await instance.pending(.alice), code: device.code(at: instance.now)
      ).session
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(#""email":"elsewhere@example.com""#)))
      let federation = instance.identity.federation
      let (outcome, linked) = try await federation.link(session, assertion, by: Instance.visitor)
        .signedIn()
      #expect(linked.account.email == "alice@example.com")
      #expect(linked.account.providers.map(\.rawID) == ["user-1"])
      guard case .signedIn(let grant) = outcome else { throw Unexpected("not signed in") }
      #expect(grant.session.secondFactor?.enrollment == device.factor)
      await expect("providerAlreadyLinked") {
        try await federation.link(session, assertion, by: Instance.visitor)
      }
    }
  }

  @Test func `linking an identity keeps what the session was begun with`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let told = try await instance.signIn(
        .alice, device, code: try await instance.temporaryCode(device.account))
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(#""email":"elsewhere@example.com""#)))
      let outcome = try await instance.identity.federation.link(
        told.session, assertion, by: Instance.visitor
      ).signedIn().outcome
      guard case .signedIn(let grant) = outcome else { throw Unexpected("not signed in") }
      #expect(grant.session.secondFactor?.enrollment == device.factor)
      await expect("secondFactorNeeded") {
        try await instance.identity.enrollments.makeRecoveryCodes(
          grant.session, by: Instance.visitor)
      }
    }
  }

  @Test func `linking an identity isn't a sign-in, also without a second factor`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      try await instance.allowBackupCodes()
      let (federation, enrollments) = (instance.identity.federation, instance.identity.enrollments)
      let device = try await instance.enrolled(.alice)
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(#""email":"elsewhere@example.com""#)))
      let told = try await instance.signIn(
        .alice, device, code: try await instance.temporaryCode(device.account))
      let without = try #require(
        try await enrollments.withdraw(
          told.session, enrollment: device.factor.text, by: Instance.visitor))
      let outcome = try await federation.link(
        without.session, assertion, by: Instance.visitor
      ).signedIn().outcome
      guard case .signedIn(let linked) = outcome else { throw Unexpected("not signed in") }
      #expect(linked.session.provider.rawValue == "oidc.acme")
      let next = try await instance.enroll(linked.session)
      await expect("secondFactorNeeded") {
        try await enrollments.makeRecoveryCodes(next.session, by: Instance.visitor)
      }
      let other = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(#""sub":"user-2""#, without: ["sub"])))
      _ = try await instance.account(.bob)
      let old = try await instance.session(.bob).session
      instance.clock.advance(3 * 3_600)
      await expect("signInTooOld") { try await enrollments.start(old) }
      let late = try await federation.link(old, other, by: Instance.visitor).signedIn().outcome
      guard case .signedIn(let continued) = late else { throw Unexpected("not signed in") }
      #expect(continued.session.authTime == instance.now.seconds)
      await expect("signInTooOld") { try await enrollments.start(continued.session) }
      let before = instance.now.advanced(bySeconds: -3 * 3_600)
      #expect(try await instance.reload(continued.account).lastLoginAt == before)
      // A sign-in with the identity is one.
      let again = try await federation.signIn(
        instance.acme, other, mayCreate: false, by: Instance.visitor
      ).signedIn().outcome
      guard case .signedIn(let recent) = again else { throw Unexpected("not signed in") }
      #expect(try await instance.reload(recent.account).lastLoginAt == instance.now)
      _ = try await enrollments.start(recent.session)
    }
  }

  @Test func `linking upgrades an anonymous user`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.signIn.anonymous = true
      }
      let anonymousUser = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      instance.clock.advance(400)
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      let result = try await instance.identity.federation.link(
        anonymousUser.session, assertion, by: Instance.visitor
      ).signedIn()
      let linked = result.federated
      #expect(linked.account.id == anonymousUser.account.id)
      #expect(!linked.account.isAnonymous)
      #expect(linked.account.email == "alice@example.com")
      #expect(linked.account.emailVerified)
      // The user's first identity, so this is how they sign in.
      guard case .signedIn(let grant) = result.outcome else { throw Unexpected("not signed in") }
      _ = try await instance.identity.enrollments.start(grant.session)
    }
  }

  @Test func `an identity with another user's email can't be linked`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      _ = try await instance.account(.alice)
      _ = try await instance.account(.bob)
      let bob = try await instance.session(.bob).session
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      await expect("emailExists") {
        try await instance.identity.federation.link(bob, assertion, by: Instance.visitor)
      }
      try await instance.identity.sessions.endAll(instance.acme, bob.account, by: Instance.boss)
      await expect("tokenExpired") {
        try await instance.identity.federation.link(bob, assertion, by: Instance.visitor)
      }
    }
  }

  @Test func `of concurrent first sign-ins, one creates the account`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      let results = try await concurrently(12) { _ in
        try await instance.identity.federation.signIn(
          instance.acme, assertion, mayCreate: true, by: Instance.visitor)
      }
      let accounts = try results.map { try $0.signedIn().federated }
      #expect(accounts.count(where: \.isNew) == 1)
      #expect(Set(accounts.map(\.account.id)).count == 1)
    }
  }

  @Test func `a pending token restores the assertion for 15 minutes`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      try await instance.configureProvider(in: instance.east)
      let federation = instance.identity.federation
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      let pending = try federation.pendingToken(assertion, in: instance.acme)
      let opened = try await federation.assertion(instance.acme, pendingToken: pending)
      #expect(opened.link == assertion.link)
      #expect(opened.claims == assertion.claims)
      await expect("invalidPendingToken") {
        try await federation.assertion(instance.east, pendingToken: pending)
      }
      for bad in ["", "x", String(pending.dropLast(2)), pending + "AA"] {
        await expect("invalidPendingToken") {
          try await federation.assertion(instance.acme, pendingToken: bad)
        }
      }
      try await instance.identity.identityProviders.update(
        instance.acme, "oidc.acme", by: .program(Instance.boss)
      ) { (settings) throws(ProviderError) in settings.isEnabled = false }
      await expect("providerDisabled") {
        try await federation.assertion(instance.acme, pendingToken: pending)
      }
      instance.clock.advance(901)
      await expect("invalidPendingToken") {
        try await federation.assertion(instance.acme, pendingToken: pending)
      }
    }
  }
}
