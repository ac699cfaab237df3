import Crypto
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// How a locked account signs in.
struct LockedSignInTests {
  private static let former = AccountLockTests.former

  /// A way to sign in to Alice's account.
  private enum Way: CaseIterable { case password, phone, provider, customToken }

  private func signIn(_ way: Way, _ alice: Account, _ instance: Instance) async throws {
    let (identity, pool) = (instance.identity, instance.acme)
    switch way {
    case .password: _ = try await instance.firstFactor(.alice)
    case .phone:
      let info = try await identity.signIns.sendCode(pool, instance.request())
      _ = try await identity.signIns.phone(
        pool,
        PhoneSignIn(
          proof: .code(sessionInfo: info, code: TypedCode(Instance.code)), purpose: .signIn),
        by: Instance.visitor)
    case .provider: _ = try await instance.signIn(withProviderSaying: #""email_verified":false"#)
    case .customToken:
      let noon = FixedClock.noon.seconds
      let payload = """
        {"iss":"back@acme.example","sub":"back@acme.example","aud":"\(CustomTokens.audience)",\
        "iat":\(noon),"exp":\(noon + 3600),"uid":"\(alice.id.text)"}
        """
      _ = try await identity.customTokens.signIn(
        pool, token: try TestTokenIssuer.back.token(payload), by: Instance.visitor)
    }
  }

  @Test func `no method signs in to a locked account until its mailbox resets the password`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.administrator("olga", .owner)
      try await instance.allowPhones()
      try await instance.configureProvider()
      _ = try await instance.identity.trustedTokenKeys.add(
        to: instance.acme.project, issuer: "back@acme.example", keyID: nil,
        key: TestTokenIssuer.back.pem(), by: .program(Instance.boss))
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.phoneNumber = .set(Instance.number)
      change.link = ProviderLink(provider: "oidc.acme", rawID: "user-1")
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let before = try await instance.session(.alice)
      for way in Way.allCases { try await signIn(way, alice, instance) }
      try await instance.reportChange(of: alice.id)
      for way in Way.allCases {
        await expect("userDisabled") { try await signIn(way, alice, instance) }
      }
      await expect("tokenExpired") {
        try await instance.identity.sessions.refresh(
          before.refreshToken, project: instance.acme.project)
      }
      #expect(try await instance.reload(alice).lock?.signIn == .afterReset)
      let mail = try #require(try await instance.mails("alert-changes-locked").first)
      #expect(mail.body.contains("until its password is reset with a link to the mailbox"))
      try await instance.reset(.alice)
      for way in Way.allCases { try await signIn(way, alice, instance) }
      // A second report closes it again.
      try await instance.reportChange(of: alice.id)
      await expect("userDisabled") { try await signIn(.password, alice, instance) }
      #expect(try await instance.mails("alert-changes-locked").count == 2)
      let owner = try await instance.agent("otto", role: .owner)
      _ = try await instance.identity.support.allowChanges(
        instance.acme, alice.id, owner.request(.mistake))
      for way in Way.allCases { try await signIn(way, alice, instance) }
      #expect(try await instance.reload(alice).lock == nil)
    }
  }

  @Test(arguments: [false, true])
  func `without a password, an owner decides`(hasMethod: Bool) async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.administrator("olga", .owner)
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      if hasMethod { change.password = .clear }
      change.phoneNumber = .set(Instance.number)
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      try await instance.allowPhones()
      if !hasMethod { try await instance.allow(password: false) }
      try await instance.reportChange(of: alice.id)
      #expect(try await instance.reload(alice).lock?.signIn == .afterDecision)
      let mail = try #require(try await instance.mails("alert-changes-locked").first)
      #expect(mail.body.contains("until an owner unlocks it."))
      await expect("changesLocked") { try await instance.reset(.alice) }
      try await instance.allowPhones()
      await expect("userDisabled") { try await signIn(.phone, alice, instance) }
      let owner = try await instance.agent("otto", role: .owner)
      _ = try await instance.identity.support.allowChanges(
        instance.acme, alice.id, owner.request(.mistake))
      try await signIn(.phone, alice, instance)
    }
  }

  @Test func `a thief who changed the address can't reset the password, but the victim can`()
    async throws
  {
    try await withInstance { instance in
      // Alice's address is the thief's, and the victim's is the former one.
      let account = try await instance.account(.alice)
      try await instance.setInitialEmail(Self.former, of: account)
      let recovery = try #require(try await instance.mails("recover-email").last).code
      try await instance.reportChange(of: account.id, from: Self.former)
      #expect(try await instance.reload(account).lock?.signIn == .afterReset)
      await expect("changesLocked") { try await instance.reset(.alice) }
      try await instance.identity.outOfBandCodes.apply(recovery, by: Instance.visitor)
      await expect("userDisabled") { try await instance.signedIn(.alice, as: Self.former) }
      let codes = instance.identity.outOfBandCodes
      _ = try await codes.send(
        OutOfBandRequest(.passwordReset, for: .email(Self.former)), in: instance.acme,
        hidingUsers: false, from: nil)
      let code = try #require(try await instance.mails("reset-password").last).code
      try await codes.resetPassword(
        code, to: Person.alice.password, by: Instance.visitor)
      _ = try await instance.signedIn(.alice, as: Self.former)
      #expect(try await instance.reload(account).lock?.signIn == .open)
    }
  }

  @Test func `of two mailboxes that claim an account, an owner decides`() async throws {
    try await withInstance { instance in
      // The thief reports first.
      let account = try await instance.account(.alice)
      try await instance.setInitialEmail(Self.former, of: account)
      let recovery = try #require(try await instance.mails("recover-email").last).code
      try await instance.reportChange(of: account.id)
      try await instance.reset(.alice)
      try await instance.identity.outOfBandCodes.apply(recovery, by: Instance.visitor)
      let restored = try await instance.reload(account)
      #expect(restored.email == Self.former && restored.lock?.signIn == .afterDecision)
      await expect("userDisabled") { try await instance.signedIn(.alice, as: Self.former) }
    }
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      try await instance.setInitialEmail(Self.former, of: account)
      try await instance.reportChange(of: account.id)
      try await instance.reportChange(of: account.id, from: Self.former)
      #expect(try await instance.reload(account).lock?.signIn == .afterDecision)
      await expect("changesLocked") { try await instance.reset(.alice) }
    }
  }

  @Test func `a mailbox that's neither the account's nor can be restored leaves it to an owner`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      try await instance.setInitialEmail(Self.former, of: account)
      instance.clock.advance(7 * 86_400)
      try await instance.reportChange(of: account.id, from: Self.former)
      #expect(try await instance.reload(account).lock?.signIn == .afterDecision)
    }
  }
}
