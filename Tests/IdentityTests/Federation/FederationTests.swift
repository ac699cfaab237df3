import Crypto
import Identity
import Testing

struct FederationTests {
  private static let alice = #""email":"alice@example.com","email_verified":true"#

  @Test func `a provider's word makes an account, and finds it the next time`() async throws {
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
      // The account keeps its address; what the provider knows is kept with the identity.
      #expect(second.account.email == "ann@example.com")
      #expect(second.account.providers.first?.email == "other@example.com")
      guard case .signedIn(let grant) = outcome else { throw Unexpected("not signed in") }
      #expect(grant.session.provider.rawValue == "oidc.acme")
      #expect(grant.session.provider.supportsSecondFactor)
    }
  }

  @Test func `a second factor is due after a provider's word`() async throws {
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

  @Test func `a verified address links the account that has it, whose password stays`()
    async throws
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

  @Test func `what a stranger may have set up on an unverified address goes`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let alice = try await instance.account(.alice, isVerified: false)
      var change = AccountChange()
      change.phoneNumber = .set("+15550100")
      change.link = ProviderLink(provider: "google.com", rawID: "stranger")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let stranger = try await instance.session(.alice).session
      let linked = try await instance.signIn(withProviderSaying: Self.alice).signedIn().federated
      #expect(linked.account.id == alice.id)
      #expect(linked.account.emailVerified)
      #expect(!linked.account.hasPassword)
      #expect(linked.account.phoneNumber == nil)
      #expect(linked.account.providers.map(\.provider) == ["oidc.acme"])
      await expect("tokenExpired") { try await instance.identity.sessions.check(stranger) }
    }
  }

  @Test func `an address that the provider does not vouch for needs a confirmation`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      let alice = try await instance.account(.alice)
      let result = try await instance.signIn(
        withProviderSaying: #""email":"alice@example.com""#)
      guard case .needsConfirmation(let providers) = result else {
        throw Unexpected("no confirmation is asked for")
      }
      #expect(providers == [])
      #expect(try await instance.reload(alice).providers.isEmpty)
    }
  }

  @Test func `an address that the provider gave to somebody else is said so`() async throws {
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

  @Test func `nobody is made when none may be, and nobody gets in who may not`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      await expect("userNotFound") {
        try await instance.signIn(withProviderSaying: "", mayCreate: false)
      }
      let made = try await instance.signIn(withProviderSaying: "").signedIn().federated
      var change = AccountChange()
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, made.account.id, change, by: Instance.boss)
      await expect("userDisabled") { try await instance.signIn(withProviderSaying: "") }
    }
  }

  @Test func `a user links an identity, and the second factor counts on`() async throws {
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
      await expect("alreadyLinked") {
        try await federation.link(session, assertion, by: Instance.visitor)
      }
    }
  }

  @Test func `an anonymous user becomes somebody by linking`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: Instance.boss
      ) {
        $0.signIn.anonymous = true
      }
      let guest = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      let linked = try await instance.identity.federation.link(
        guest.session, assertion, by: Instance.visitor
      ).signedIn().federated
      #expect(linked.account.id == guest.account.id)
      #expect(!linked.account.isAnonymous)
      #expect(linked.account.email == "alice@example.com")
      #expect(linked.account.emailVerified)
    }
  }

  @Test func `an address of somebody else is not linked`() async throws {
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
      await expect("session.tokenExpired") {
        try await instance.identity.federation.link(bob, assertion, by: Instance.visitor)
      }
    }
  }

  @Test func `of many first sign-ins at once one makes the account`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      let results = try await atOnce(12) { _ in
        try await instance.identity.federation.signIn(
          instance.acme, assertion, mayCreate: true, by: Instance.visitor)
      }
      let accounts = try results.map { try $0.signedIn().federated }
      #expect(accounts.count(where: \.isNew) == 1)
      #expect(Set(accounts.map(\.account.id)).count == 1)
    }
  }

  @Test func `a pending token stands for what was said, for a quarter of an hour`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      try await instance.configureProvider(in: instance.east)
      let federation = instance.identity.federation
      let said = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(Self.alice)))
      let pending = try federation.pendingToken(said, in: instance.acme)
      let opened = try await federation.assertion(instance.acme, pendingToken: pending)
      #expect(opened.link == said.link)
      #expect(opened.claims == said.claims)
      await expect("invalidPendingToken") {
        try await federation.assertion(instance.east, pendingToken: pending)
      }
      for bad in ["", "x", String(pending.dropLast(2)), pending + "AA"] {
        await expect("invalidPendingToken") {
          try await federation.assertion(instance.acme, pendingToken: bad)
        }
      }
      try await instance.identity.identityProviders.update(
        instance.acme, "oidc.acme", by: Instance.boss
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
