import Crypto
import Identity
import Testing

@testable import TestIdentity

struct ChangeOfAddressTests {
  private let new = "alice@elsewhere.example"

  /// Requests a new email as its user and returns the code of the link.
  private func request(_ instance: Instance, to email: String) async throws -> String {
    let session = try await instance.session(.alice).session
    var request = OutOfBandRequest(.changeEmail, for: .session(session))
    request.newEmail = email
    _ = try await instance.identity.outOfBandCodes.send(
      request, in: instance.acme, hidingUsers: true, from: nil)
    let mail = try #require(try await instance.mails().last)
    #expect(mail.recipient == email && mail.purpose == "verify-new-email")
    return try mail.code
  }

  /// Requests a new email as its user and opens the link.
  private func change(_ instance: Instance, to email: String) async throws {
    let code = try await request(instance, to: email)
    _ = try await instance.identity.outOfBandCodes.apply(code, by: Instance.visitor)
  }

  @Test func `a new email takes effect once verified and can be undone from the old one`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let before = try await instance.session(.alice).session
      instance.clock.advance(1)
      try await change(instance, to: new)
      let changed = try await instance.reload(alice)
      #expect(changed.email == new && changed.emailVerified)
      #expect(changed.initialEmail == Person.alice.email)
      await expect("tokenExpired") { try await instance.identity.sessions.check(before) }
      let mail = try #require(try await instance.mails().last)
      #expect(mail.recipient == Person.alice.email && mail.purpose == "recover-email")
      #expect(mail.body.contains(new))
      let seen = try await instance.identity.outOfBandCodes.look(at: try mail.code)
      #expect(seen.kind == .recoverEmail && seen.email == Person.alice.email)
      #expect(seen.newEmail == new)
      _ = try await instance.identity.outOfBandCodes.apply(try mail.code, by: Instance.visitor)
      let recovered = try await instance.reload(alice)
      #expect(recovered.email == Person.alice.email && recovered.emailVerified)
      #expect(
        try await instance.log().prefix(2).map(\.action) == [
          .accountRecoverEmail, .accountChangeEmail,
        ])
    }
  }

  @Test func `an attacker who changed the email twice can't undo the recovery`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await change(instance, to: "mallory-1@example.com")
      let first = try #require(try await instance.mails().last).code
      instance.clock.advance(60)
      var request = OutOfBandRequest(.changeEmail, for: .email("mallory-1@example.com"))
      request.newEmail = "mallory-2@example.com"
      let link = try await instance.identity.outOfBandCodes.link(
        request, in: instance.acme, by: Instance.boss)
      _ = try await instance.identity.outOfBandCodes.apply(link.code, by: Instance.visitor)
      let second = try #require(try await instance.mails().last)
      #expect(second.recipient == "mallory-1@example.com")
      _ = try await instance.identity.outOfBandCodes.apply(first, by: Instance.visitor)
      let code = try second.code
      await expect("usedCode") {
        try await instance.identity.outOfBandCodes.apply(code, by: Instance.visitor)
      }
      let used = try await instance.identity.outOfBandCodes.remains(of: first)
      let replaced = try await instance.identity.outOfBandCodes.remains(of: code)
      #expect(used?.usedAt == instance.now && used?.isReplaced == false)
      #expect(replaced?.usedAt == instance.now && replaced?.isReplaced == true)
      #expect(try await instance.reload(alice).email == Person.alice.email)
    }
  }

  /// What ends the sessions of Alice, one of which requested a new email.
  enum Ending: CaseIterable {
    case support, backend, password, disabling, report
    // Taking over an account whose email isn't verified.
    case passwordReset, emailLink, provider

    var isVerified: Bool {
      switch self {
      case .passwordReset, .emailLink, .provider: false
      case .support, .backend, .password, .disabling, .report: true
      }
    }
  }

  private func end(_ ending: Ending, of alice: Account, _ instance: Instance) async throws {
    let identity = instance.identity
    var change = AccountChange()
    switch ending {
    case .support:
      try await identity.sessions.endAll(instance.acme, alice.id, by: Instance.support)
    case .backend:
      change.validSince = instance.now.seconds - 30
      _ = try await identity.accounts.update(instance.acme, alice.id, change, by: Instance.boss)
    case .password:
      change.password = .set(Secret("a new password"))
      let session = try await instance.session(.alice).session
      _ = try await identity.accounts.update(
        instance.acme, alice.id, change, by: Author(actor: .user(alice.id)), in: session)
    case .disabling:
      for isDisabled in [true, false] {
        change.disabled = isDisabled
        _ = try await identity.accounts.update(instance.acme, alice.id, change, by: Instance.boss)
      }
    case .report: try await instance.reportChange(of: alice.id)
    case .passwordReset:
      let code = try await instance.code(.passwordReset)
      try await identity.outOfBandCodes.resetPassword(
        code, to: Secret("a new password"), by: Instance.visitor)
    case .emailLink:
      try await instance.allow(emailLink: true)
      _ = try await identity.signIns.emailLink(
        instance.acme, email: Person.alice.email, code: instance.code(.signIn),
        by: Instance.visitor)
    case .provider:
      try await instance.configureProvider()
      _ = try await instance.signIn(
        withProviderSaying: #""email":"alice@example.com","email_verified":true"#)
    }
  }

  @Test(arguments: Ending.allCases)
  func `L5: what ends sessions also voids the links with which they would change the email`(
    ending: Ending
  ) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice, isVerified: ending.isVerified)
      let code = try await request(instance, to: "mallory@example.com")
      instance.clock.advance(60)
      // Signing in again doesn't void the link.
      _ = try await instance.session(.alice)
      await expect("done") { try await instance.identity.outOfBandCodes.look(at: code) }
      try await end(ending, of: alice, instance)
      await expect("invalidCode") {
        try await instance.identity.outOfBandCodes.apply(code, by: Instance.visitor)
      }
      #expect(try await instance.reload(alice).email == Person.alice.email)
      // The page can tell that the account has changed.
      let remains = try await instance.identity.outOfBandCodes.remains(of: code)
      #expect(remains?.kind == .changeEmail && remains?.usedAt == nil)
    }
  }

  @Test func `once the email is restored, a second link can't change it again`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let second = try await request(instance, to: "mallory-2@example.com")
      try await change(instance, to: "mallory-1@example.com")
      let recovery = try #require(try await instance.mails("recover-email").last).code
      _ = try await instance.identity.outOfBandCodes.apply(recovery, by: Instance.visitor)
      await expect("invalidCode") {
        try await instance.identity.outOfBandCodes.apply(second, by: Instance.visitor)
      }
      #expect(try await instance.reload(alice).email == Person.alice.email)
    }
  }

  @Test func `an email taken in the meantime stays with its account`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let code = try await instance.code(.changeEmail, newEmail: Person.bob.email)
      _ = try await instance.account(.bob)
      let codes = instance.identity.outOfBandCodes
      await expect("emailExists") { try await codes.apply(code, by: Instance.visitor) }
      #expect(try await instance.reload(alice).email == Person.alice.email)
      // Nothing changed, so the code is still valid.
      await expect("done") { try await codes.look(at: code) }
    }
  }

  @Test func `changing the email in a session sends a recovery link to the old one`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      var change = AccountChange()
      change.email = .set(new)
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.visitor, in: session)
      let mail = try #require(try await instance.mails("recover-email").last)
      #expect(mail.recipient == Person.alice.email)
      // A change by an administrator can't be undone by a link.
      change.email = .set("third@example.com")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      #expect(try await instance.mails("recover-email").count == 1)
    }
  }

  @Test func `the link in the enrollment email removes the new second factor`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let mail = try #require(try await instance.mails("revert-factor").last)
      #expect(mail.recipient == Person.alice.email && mail.body.contains("“phone”"))
      let codes = instance.identity.outOfBandCodes
      let seen = try await codes.look(at: try mail.code)
      #expect(seen.kind == .revertFactor && seen.factor?.id == device.factor)
      _ = try await codes.apply(try mail.code, by: Instance.visitor)
      #expect(try await instance.reload(device.account).factors.count == 0)
      await expect("tokenExpired") { try await instance.identity.sessions.check(device.session) }
      let code = try mail.code
      await expect("usedCode") { try await codes.apply(code, by: Instance.visitor) }
      #expect(try await instance.log().first?.action == .factorRevert)
    }
  }

  @Test func `the link can't remove a factor that is already gone`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let code = try #require(try await instance.mails("revert-factor").last).code
      _ = try await instance.identity.enrollments.withdraw(
        device.session, enrollment: device.factor.text, by: Instance.visitor)
      _ = try await instance.enroll(try await instance.session(.alice).session)
      await expect("invalidCode") {
        try await instance.identity.outOfBandCodes.apply(code, by: Instance.visitor)
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
    }
  }

  /// Changes the email immediately, as a user can without email enumeration protection.
  private func set(_ email: String, of account: Account, _ instance: Instance) async throws {
    var change = AccountChange()
    change.email = .set(email)
    let session = try await instance.signedIn(
      .alice, as: instance.reload(account).email ?? ""
    ).session
    _ = try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Author(actor: .user(account.id)), in: session)
    // An address that was never verified gets one notice only.
    var verification = AccountChange()
    verification.emailVerified = true
    _ = try await instance.identity.accounts.update(
      instance.acme, account.id, verification, by: Instance.boss)
  }

  @Test func `repeated email changes are limited, to protect mailboxes`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      for number in 1...5 {
        let isBack = number.isMultiple(of: 2)
        try await set(isBack ? Person.alice.email : new, of: account, instance)
      }
      await expect("tooManyMails") { try await set(Person.alice.email, of: account, instance) }
      #expect(try await instance.reload(account).email == new)
      #expect(try await instance.mails("recover-email").count == 5)
      instance.clock.advance(3_600)
      try await set(Person.alice.email, of: account, instance)
      // Requested emails are counted separately and leave room for the warning.
      instance.clock.advance(3_600)
      for _ in 0..<10 { _ = try await instance.code(.passwordReset) }
      await expect("tooManyMails") { _ = try await instance.code(.passwordReset) }
      try await set(new, of: account, instance)
      #expect(try await instance.mails("recover-email").last?.recipient == Person.alice.email)
    }
  }
}
