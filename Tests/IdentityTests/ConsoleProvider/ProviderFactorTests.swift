import Crypto
import Database
import JSON
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity

/// Whether the provider's MFA is accepted, and re-authentication at the provider.
struct ProviderFactorTests {
  @Test func `V15: without the provider's MFA, the administrator's own factor follows`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.link(nora)
      let device = try await instance.enroll(nora)
      instance.provider.change { $0.amr = ["pwd"] }
      guard case .secondFactorDue(let pending, let methods) = try await instance.visit() else {
        throw Unexpected("no second factor is required")
      }
      #expect(methods == [.totp])
      await expect("wrongCode") {
        _ = try await instance.finish(
          pending.revealedText, code: try device.wrongCode(at: instance.now))
      }
      let new = try await instance.finish(
        pending.revealedText, code: try device.code(at: instance.now))
      #expect(new.session.provider.isOrigin)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.new(.signInProvider) == .text("Example ID"))
      #expect(row.new(.verification) == .code("totp"))
      // A configured value counts as the second factor.
      instance.provider.change { $0.amr = ["pwd", "hwk"] }
      #expect(try await instance.providerSession().secondFactor == .enrolled)
    }
  }

  @Test(arguments: ["logout", "session logout", "unlink", "link", "remove"])
  func `V15: what ends the provider's sessions also ends a sign-in that waits for a factor`(
    _ event: String
  ) async throws {
    try await withInstance { instance in
      let owner = try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.link(nora)
      let device = try await instance.enroll(nora)
      instance.provider.change { $0.amr = ["pwd"] }
      guard case .secondFactorDue(let pending, _) = try await instance.visit() else {
        throw Unexpected("no second factor is required")
      }
      instance.clock.advance(1)
      let (providers, provider) = (instance.identity.consoleProviders, instance.provider)
      switch event {
      case "logout", "session logout":
        let claims =
          event == "logout"
          ? provider.logoutClaims(subject: "248289761001", id: "1")
          : provider.logoutClaims(session: "session-1", id: "1")
        _ = try await providers.logOut(
          try provider.token(claims, header: ["typ": "logout+jwt"]), address: "192.0.2.20")
      case "unlink":
        let own = try await instance.signIn(device).session
        try await providers.unlink(own, by: instance.author(nora))
        instance.clock.advance(30)
      case "link":
        let own = try await instance.signIn(device).session
        provider.change { $0.subject = "another" }
        guard case .linked = try await instance.visit(.link(own)) else {
          throw Unexpected("not linked")
        }
        instance.clock.advance(30)
      default: _ = try await providers.remove(owner.request(nil, note: "Replaced"))
      }
      await expect("ended") {
        _ = try await instance.finish(
          pending.revealedText, code: try device.code(at: instance.now))
      }
    }
  }

  @Test func `V15: a configured acr counts as the second factor, and no other value does`()
    async throws
  {
    try await withInstance { instance in
      let phishingResistant = "phr"
      try await instance.setUpProvider(mfaValues: [phishingResistant])
      instance.provider.change { $0.acr = phishingResistant }
      #expect(try await instance.providerSession().secondFactor == .enrolled)
      // The usual values aren't configured here, and values are compared as a whole.
      for acr in ["1", "phrh", "PHR", "phr mfa", nil] as [String?] {
        instance.provider.change { behavior in
          (behavior.acr, behavior.amr) = (acr, ["pwd", "mfa"])
        }
        #expect(try await instance.providerSession().secondFactor != .enrolled)
      }
    }
  }

  @Test func `without any second factor, the state is that after a password`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.provider.change { $0.amr = ["pwd"] }
      #expect(try await instance.providerSession().secondFactor == .dueNext)
      let session = try await instance.providerSession()
      #expect(session.secondFactor == .due)
      // Without a password, the administrator sets up a factor soon after the sign-in only.
      #expect(!instance.identity.administratorFactors.asksForPassword(in: session))
      instance.clock.advance(301)
      #expect(instance.identity.administratorFactors.asksForPassword(in: session))
    }
  }

  @Test func `V15: a fresh sign-in of the same person renews the session`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let old = try await instance.providerSession()
      instance.clock.advance(3_000)
      let action = ConsoleAction.changeSessionLimits
      let authorization = instance.identity.authorization
      let before = try await authorization.eligibility(action, old)
      #expect(before.needsReauthentication && before.methods == [.provider] && before.isBlocked)
      guard
        case .reauthenticated(let renewed, let hasSecondFactor) = try await instance.visit(
          .reauthentication(old))
      else { throw Unexpected("not re-authenticated") }
      #expect(hasSecondFactor)
      #expect(try await !authorization.eligibility(action, renewed.session).needsReauthentication)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorStepUp)
      #expect(row.new(.verification) == .code("provider-mfa"))
      // The old token is invalid.
      #expect(try await instance.isReplaced(old, by: renewed.session))
    }
  }

  @Test func `V15: an old sign-in, another person, or another session doesn't re-authenticate`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let session = try await instance.providerSession()
      instance.provider.change { $0.age = 61 }
      await expect("invalidToken.staleAuthentication") {
        _ = try await instance.visit(.reauthentication(session))
      }
      instance.provider.change { $0.claims = ["auth_time": nil] }
      await expect("invalidToken.missingAuthenticationTime") {
        _ = try await instance.visit(.reauthentication(session))
      }
      instance.provider.change { behavior in
        behavior.claims = [:]
        (behavior.age, behavior.subject) = (0, "another")
      }
      await expect("otherPerson") { _ = try await instance.visit(.reauthentication(session)) }
      instance.provider.change { $0.subject = "248289761001" }
      // The answer to a re-authentication doesn't sign anyone in.
      let start = try await instance.identity.consoleProviders.begin(
        .reauthentication(session), redirect: Instance.redirect)
      #expect(start.address.hasSuffix("&max_age=0&prompt=login"))
      let answer = try instance.provider.signIn(at: start.address)
      await expect("ended") { _ = try await instance.come(start, answer) }
      let other = try await instance.providerSession()
      await expect("ended") { _ = try await instance.come(start, answer, session: other) }
    }
  }

  @Test func `without MFA, only actions that need no second factor are possible`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let session = try await instance.providerSession()
      instance.provider.change { $0.amr = ["pwd"] }
      instance.clock.advance(3_000)
      guard
        case .reauthenticated(let renewed, let hasSecondFactor) = try await instance.visit(
          .reauthentication(session))
      else { throw Unexpected("not re-authenticated") }
      #expect(!hasSecondFactor)
      let authorization = instance.identity.authorization
      #expect(
        try await !authorization.eligibility(.grantRole, renewed.session).needsReauthentication)
      #expect(
        try await authorization.eligibility(.changeSessionLimits, renewed.session)
          .needsReauthentication)
    }
  }

  @Test func `linking needs a recent confirmation, and nobody is linked twice`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .owner)
      let session = try await instance.giveConsolePassword(nora).session.session
      instance.clock.advance(301)
      await expect("reauthenticationRequired") { _ = try await instance.visit(.link(session)) }
      try await instance.link(nora)
      let dora = try await instance.administrator("dora", .support)
      await expect("linkedElsewhere") { try await instance.link(dora) }
      await expect("notLinked") {
        let own = try await instance.giveConsolePassword(dora).session.session
        _ = try await instance.visit(.reauthentication(own))
      }
    }
  }

  @Test func `unlinking takes the groups' roles, and ends the provider's sessions`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      let own = try await instance.link(nora)
      _ = try await instance.providerSession()
      let providers = instance.identity.consoleProviders
      try await providers.unlink(own, by: instance.author(nora))
      #expect(try await instance.grants(of: nora.id) == [Grant(role: .auditor)])
      let left = try await instance.identity.consoleSessions.list(of: nora.id)
      #expect(left.map(\.provider) == [nil])
      await expect("notLinked") { try await providers.unlink(own, by: instance.author(nora)) }
      // Someone without a password or passkey has no other way in.
      instance.provider.change { behavior in
        (behavior.subject, behavior.email) = ("another", "pia@example.com")
      }
      let provisioned = try await instance.providerSession()
      await expect("linkRequired") {
        try await providers.unlink(
          provisioned, by: instance.author(provisioned.administrator))
      }
    }
  }
}
