import Crypto
import Identity
import Testing

struct ChangeOfAddressTests {
  private let new = "alice@elsewhere.example"

  /// Requests a new email as its user and opens the link.
  private func change(_ instance: Instance, to email: String) async throws {
    let session = try await instance.session(.alice).session
    var request = OutOfBandRequest(.changeEmail, for: .session(session))
    request.newEmail = email
    _ = try await instance.identity.outOfBandCodes.send(
      request, in: instance.acme, hidingUsers: true, from: nil)
    let mail = try #require(try await instance.mails().last)
    #expect(mail.recipient == email && mail.purpose == "verify-new-email")
    _ = try await instance.identity.outOfBandCodes.apply(try mail.code, by: Instance.visitor)
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
  }

  @Test func `repeated email changes are limited, to protect mailboxes`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      for _ in 0..<10 {
        try await set(new, of: account, instance)
        try await set(Person.alice.email, of: account, instance)
      }
      await expect("tooManyMails") { try await set(new, of: account, instance) }
      #expect(try await instance.reload(account).email == Person.alice.email)
      #expect(try await instance.mails("recover-email").count == 20)
      // Requested emails are counted separately and leave room for the warning.
      instance.clock.advance(3_600)
      for _ in 0..<10 { _ = try await instance.code(.passwordReset) }
      await expect("tooManyMails") { _ = try await instance.code(.passwordReset) }
      try await set(new, of: account, instance)
      #expect(try await instance.mails("recover-email").last?.recipient == Person.alice.email)
    }
  }
}
