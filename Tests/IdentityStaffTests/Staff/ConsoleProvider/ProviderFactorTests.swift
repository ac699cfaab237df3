import Crypto
import Database
import JSON
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

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
      // Methods of two kinds count as the second factor.
      instance.provider.change { $0.amr = ["pwd", "hwk"] }
      #expect(try await instance.providerSession().secondFactor == .enrolled)
    }
  }

  @Test func `V15: what ends the provider's sessions also ends a sign-in that waits for a factor`()
    async throws
  {
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
      _ = try await instance.identity.consoleProviders.remove(
        owner.request(nil, note: "Replaced"))
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

  /// Methods that are two factors together.
  private static let two: [[String]] = [
    ["mfa"], ["geo", "mfa"], ["pwd", "otp"], ["otp", "pin"], ["hwk", "fpt"], ["kba", "vbm"],
    ["user", "pwd", "sc"],
  ]

  /// Methods that are one factor or none: each of RFC 8176 alone, several of one kind, and others.
  private static let one: [[String]] = [
    ["face"], ["fpt"], ["geo"], ["hwk"], ["iris"], ["kba"], ["mca"], ["otp"], ["pin"], ["pwd"],
    ["rba"], ["retina"], ["sc"], ["sms"], ["swk"], ["tel"], ["user"], ["vbm"], ["wia"],
    [], ["otp", "otp"], ["otp", "hwk", "sms", "tel", "swk", "sc"], ["pwd", "pin", "kba"],
    ["face", "fpt", "iris", "retina", "vbm"], ["otp", "user"], ["hwk", "geo", "rba", "wia", "mca"],
    [""], ["password", "otp"], ["PWD", "otp"], ["pwd otp"],
  ]

  private func isSecondFactor(_ amr: [String], _ instance: Instance) async throws -> Bool {
    instance.provider.change { $0.amr = amr }
    return try await instance.providerSession().secondFactor == .enrolled
  }

  @Test func `V15: one method is one factor, unless an owner chose it`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      for amr in Self.two { #expect(try await isSecondFactor(amr, instance), "\(amr)") }
      for amr in Self.one { #expect(try await !isSecondFactor(amr, instance), "\(amr)") }
      // The context class is no method.
      instance.provider.change { $0.acr = "pwd" }
      #expect(try await !isSecondFactor(["otp"], instance))
    }
    try await withInstance { instance in
      try await instance.setUpProvider(mfaValues: ["otp", "mfa"])
      for amr in [["otp"], ["mfa"]] { #expect(try await isSecondFactor(amr, instance), "\(amr)") }
      for amr in [["hwk"], ["pwd", "hwk"]] {
        #expect(try await !isSecondFactor(amr, instance), "\(amr)")
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
        case .confirmed(let renewed, isLinked: false, let hasSecondFactor) =
          try await instance.visit(in: old)
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
        _ = try await instance.visit(in: session)
      }
      instance.provider.change { $0.claims = ["auth_time": nil] }
      await expect("invalidToken.missingAuthenticationTime") {
        _ = try await instance.visit(in: session)
      }
      instance.provider.change { behavior in
        behavior.claims = [:]
        (behavior.age, behavior.subject) = (0, "another")
      }
      await expect("otherPerson") { _ = try await instance.visit(in: session) }
      instance.provider.change { $0.subject = "248289761001" }
      // The answer to a re-authentication doesn't sign anyone in.
      let start = try await instance.identity.consoleProviders.begin(
        in: session, redirect: Instance.redirect)
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
        case .confirmed(let renewed, isLinked: false, let hasSecondFactor) =
          try await instance.visit(in: session)
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
      await expect("reauthenticationRequired") { _ = try await instance.visit(in: session) }
      try await instance.link(nora)
      let dora = try await instance.administrator("dora", .support)
      await expect("otherPerson") { try await instance.link(dora) }
    }
  }

  @Test func `a link isn't made once the confirmation is too old, or moved to another person`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      let (start, answer) = try await instance.leave(in: session)
      instance.clock.advance(301)
      await expect("reauthenticationRequired") {
        _ = try await instance.come(start, answer, session: session)
      }
      let own = try await instance.link(nora)
      instance.provider.change { $0.subject = "another" }
      await expect("otherPerson") { _ = try await instance.visit(in: own) }
    }
  }

  @Test
  func `V15: roles follow the groups at a re-authentication, and the session ends without any`()
    async throws
  {
    try await withInstance { instance in
      let auditors = GroupRole(group: "audit", grant: Grant(role: .auditor))
      try await instance.setUpProvider([Instance.owners, auditors])
      let session = try await instance.providerSession()
      instance.provider.change { $0.groups = ["audit"] }
      guard
        case .confirmed(let renewed, isLinked: false, _) = try await instance.visit(in: session)
      else { throw Unexpected("not re-authenticated") }
      #expect(renewed.session.administrator.grants == [auditors.grant])
      instance.provider.change { $0.groups = [] }
      await expect("noRole") { _ = try await instance.visit(in: renewed.session) }
      let id = session.administrator.id
      #expect(try await instance.identity.consoleSessions.list(of: id).isEmpty)
    }
  }

  @Test func `V15: a session that began with the provider ends after eight hours`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      let own = try await instance.link(nora)
      let session = try await instance.providerSession()
      #expect(session.expiresAt == instance.now.advanced(bySeconds: 8 * 3_600))
      #expect(own.expiresAt == instance.now.advanced(bySeconds: 12 * 3_600))
      let sessions = instance.identity.consoleSessions
      let (now, id) = (instance.now.advanced(bySeconds: 8 * 3_600), nora.id)
      try await instance.database.write { connection in
        try connection.run(
          """
          UPDATE console_session SET last_seen_at = \(now)
          WHERE administrator_id = \(id)
          """)
      }
      instance.clock.advance(8 * 3_600)
      #expect(try await sessions.list(of: id).map(\.id) == [own.id])
    }
  }

  @Test func `a session whose token is replaced while the provider is asked can still be linked`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      let (start, answer) = try await instance.leave(in: session)
      let (now, random) = (instance.now, instance.identity.store.random)
      try await instance.database.write { connection in
        _ = try ConsoleSessions.renewToken(session, at: now, random: random, connection)
      }
      guard
        case .confirmed(let new, isLinked: true, _) = try await instance.come(
          start, answer, session: session)
      else { throw Unexpected("not linked") }
      let token = new.token.revealedText
      #expect(try await instance.identity.consoleSessions.find(token: token)?.id == session.id)
    }
  }
}
