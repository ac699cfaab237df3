import Crypto
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// Sessions whose user adds a password or an email link.
struct AddedPasswordTests {
  /// How a session without a password begins.
  enum Beginning: CaseIterable {
    case phone
    case customToken
    case provider
    case anonymous
  }

  /// What is added.
  enum Addition: CaseIterable {
    case password
    case emailLink
  }

  private func begin(
    _ beginning: Beginning, _ instance: Instance, again: Bool = false
  ) async throws -> SessionGrant {
    let (identity, acme) = (instance.identity, instance.acme)
    switch beginning {
    case .phone:
      try await instance.allowPhones()
      let info = try await identity.signIns.sendCode(acme, instance.request())
      let outcome = try await identity.signIns.phone(
        acme,
        PhoneSignIn(
          proof: .code(sessionInfo: info, code: TypedCode(Instance.code)), purpose: .signIn),
        by: Instance.visitor)
      guard case .signedIn(let grant, _) = outcome else { throw Unexpected("taken") }
      return grant
    case .customToken:
      let issuer = "backend@example.com"
      if !again {
        _ = try await identity.trustedTokenKeys.add(
          to: acme.project, issuer: issuer, keyID: nil, key: TestTokenIssuer.back.pem(),
          by: .program(Instance.boss))
      }
      let now = instance.now.seconds
      let token = try TestTokenIssuer.back.token(
        TestTokenIssuer.object(
          [
            ("iss", "\"\(issuer)\""), ("sub", "\"\(issuer)\""),
            ("aud", "\"\(CustomTokens.audience)\""), ("iat", "\(now)"), ("exp", "\(now + 600)"),
            ("uid", #""mallory""#),
          ], without: [], and: ""))
      return try await identity.customTokens.signIn(acme, token: token, by: Instance.visitor).grant
    case .provider:
      if !again { try await instance.configureProvider() }
      let outcome = try await instance.signIn(withProviderSaying: "").signedIn().outcome
      guard case .signedIn(let grant) = outcome else { throw Unexpected("not signed in") }
      return grant
    case .anonymous:
      return try await identity.signIns.signUp(acme, NewAccount(), by: Instance.visitor)
    }
  }

  private func add(
    _ addition: Addition, to session: UserSession, _ instance: Instance
  ) async throws -> SessionGrant {
    let (identity, acme) = (instance.identity, instance.acme)
    switch addition {
    case .password:
      var change = AccountChange()
      change.email = .set(Person.alice.email)
      change.password = .set(Person.alice.password)
      change.linksPassword = true
      let update = try await identity.accounts.update(
        acme, session.account, change, by: Author(actor: .user(session.account)), in: session)
      return try #require(update.grant)
    case .emailLink:
      let done = try await identity.signIns.emailLink(
        acme, email: Person.alice.email, code: instance.code(.signIn), linking: session,
        by: Instance.visitor)
      guard case .signedIn(let grant) = done.outcome else { throw Unexpected("not signed in") }
      return grant
    }
  }

  @Test(arguments: Beginning.allCases, Addition.allCases)
  func `a session that adds a password has its provider, and stays as old as it was`(
    beginning: Beginning, addition: Addition
  ) async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let old = try await begin(beginning, instance)
      instance.clock.advance(3_600)
      let new = try await add(addition, to: old.session, instance)
      #expect(new.session.provider == .password && new.session.secondFactor == nil)
      var change = AccountChange()
      change.emailVerified = true
      try await instance.identity.accounts.update(
        instance.acme, new.account.id, change, by: Instance.boss)
      // Only the first credential of an anonymous user is a sign-in.
      await expect(beginning == .anonymous ? "done" : "signInTooOld") {
        try await instance.identity.enrollments.start(new.session)
      }
      guard addition == .password else { return }
      let session = try await instance.session(.alice).session
      await expect("done") { try await instance.identity.enrollments.start(session) }
    }
  }

  @Test(arguments: [Beginning.customToken, .provider], Addition.allCases)
  func `a session of a user with a second factor keeps its provider`(
    beginning: Beginning, addition: Addition
  ) async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let old = try await begin(beginning, instance)
      var change = AccountChange()
      change.email = .set(Person.alice.email)
      change.emailVerified = true
      change.factors = .replace([FactorEntry(phoneNumber: Instance.otherNumber)])
      try await instance.identity.accounts.update(
        instance.acme, old.account.id, change, by: Instance.boss)
      let session = try await begin(beginning, instance, again: true).session
      let new = try await add(addition, to: session, instance)
      #expect(new.session.provider == session.provider && new.session.secondFactor == nil)
    }
  }
}
