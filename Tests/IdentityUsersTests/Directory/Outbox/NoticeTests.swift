import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct NoticeTests {
  /// Claims all due emails, without those that can undo an enrollment or a change of email.
  private func mails(_ instance: Instance) async throws -> [DueMessage] {
    var mails: [DueMessage] = []
    while let mail = try await instance.claim() { mails.append(mail) }
    return mails.filter { !$0.body.contains("oobCode=") }
  }

  @Test func `a user is notified when someone else sets their password`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice, in: instance.east)
      var change = AccountChange()
      change.password = .set(Secret("another password"))
      try await instance.identity.accounts.update(
        instance.east, account.id, change, by: Instance.boss)
      let mails = try await mails(instance)
      #expect(mails.map(\.recipient) == [Person.alice.email])
      let mail = try #require(mails.first)
      let place = "\(instance.east.projectName) (\(instance.east.name))"
      #expect(mail.subject == "\(place): your password was changed")
      #expect(
        mail.body.contains(
          "about your account alice@example.com at \(place)."))
      let year = Day(instance.now).year
      #expect(
        mail.body.contains(/On [A-Z][a-z]{2} \d{1,2}, (\d{4}), \d\d:\d\d\u{00A0}UTC, the password/))
      #expect(mail.body.contains(", \(year), "))
      #expect(mail.body.contains("Contact the \(place) support team immediately"))
      #expect(!mail.body.contains("another password"))
    }
  }

  @Test func `notifications of a new email and removed factors go to the old address`() async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      var change = AccountChange()
      change.email = .set("new@example.com")
      change.factors = .clear
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      let mails = try await mails(instance)
      #expect(mails.map(\.recipient) == [Person.alice.email, Person.alice.email])
      #expect(mails[0].body.contains("the email address of your account"))
      #expect(!mails[0].body.contains("new@example.com"))
      #expect(mails[1].body.contains("the second factor “phone” was removed"))
    }
  }

  @Test func `a user is notified of a password set in their session, and can report it`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      var change = AccountChange()
      change.password = .set(Secret("another password"))
      _ = try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Author(actor: .user(account.id)), in: session)
      let mails = try await mails(instance)
      #expect(mails.map(\.recipient) == [Person.alice.email])
      #expect(mails[0].subject.hasSuffix(": a password was set"))
      #expect(mails[0].body.contains("This was done by someone signed in to your account."))
      #expect(mails[0].body.contains("/__/auth/not-me?code="))
    }
  }

  @Test func `changes to other fields send no notification`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      var change = AccountChange()
      change.displayName = .set("Alice")
      change.email = .set("ALICE@example.com")
      change.disabled = true
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      #expect(try await mails(instance).isEmpty)
    }
  }

  @Test func `a removal by support sends a notification with the factor's name in one line`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let session = try await instance.session(.alice)
      _ = account
      let device = try await instance.enroll(session.session, name: "my\u{202E} phone")
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, agent.request(note: "a note"))
      let mail = try #require(try await mails(instance).first)
      #expect(mail.subject.hasSuffix(": a second factor was removed"))
      #expect(mail.body.contains("“my phone”"))
      #expect(!mail.body.contains("a note"))
      #expect(!mail.body.contains("Dora"))
    }
  }

  @Test func `a removal of all factors sends one notification`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, nil, agent.request())
      #expect(try await mails(instance).count == 1)
    }
  }

  @Test func `a user without an email isn't notified`() async throws {
    try await withInstance { instance in
      var new = NewAccount()
      new.phoneNumber = "+4915112345678"
      let account = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      var change = AccountChange()
      change.password = .set(Secret("a password"))
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      #expect(try await mails(instance).isEmpty)
    }
  }

  @Test func `a user is notified when their account is deleted, by whomever`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice, in: instance.east)
      try await instance.identity.accounts.delete(instance.east, alice.id, by: Instance.boss)
      let bob = try await instance.account(.bob)
      try await instance.identity.accounts.delete(
        instance.acme, bob.id, by: Author(actor: .user(bob.id)),
        in: try await instance.session(.bob).session)
      var new = NewAccount()
      new.phoneNumber = "+15551230001"
      let phone = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      try await instance.identity.accounts.delete(instance.acme, phone.id, by: Instance.boss)
      let mails = try await mails(instance).sorted { $0.recipient < $1.recipient }
      #expect(mails.map(\.recipient) == [Person.alice.email, Person.bob.email])
      let place = "\(instance.east.projectName) (\(instance.east.name))"
      #expect(mails[0].subject == "\(place): your account was deleted")
      #expect(mails[0].body.contains("your account was deleted. This was done by the"))
      #expect(mails[1].body.contains("This was done by someone signed in to your account."))
      #expect(mails[0].body.contains("your account alice@example.com at \(place)."))
    }
  }

  @Test func `L2: every address is notified of a new factor, the current one with a revert link`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      try await instance.addAddresses(to: account)
      let others = ["first@example.com", "alice@provider.example"]
      let device = try await instance.enroll(try await instance.session(.alice).session)
      let notices = try await instance.mails("notice-new-factor")
      #expect(notices.map(\.recipient) == others)
      #expect(notices.allSatisfy { $0.body.contains("the second factor “phone” was enrolled for") })
      #expect(notices.allSatisfy { !$0.body.contains(Person.alice.email) })
      let revert = try #require(try await instance.mails("revert-factor").last)
      #expect(revert.recipient == Person.alice.email)
      try await instance.identity.outOfBandCodes.apply(revert.code, by: Instance.visitor)
      #expect(try await instance.reload(device.account).factors.isEmpty)
      #expect(try await instance.mails("notice-factor-reverted").map(\.recipient) == others)
    }
  }

  @Test func `L2: every address is notified of factors added by a program and of account deletion`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      try await instance.addAddresses(to: account)
      let all = [Person.alice.email, "first@example.com", "alice@provider.example"]
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(id: "a", displayName: "one", phoneNumber: Instance.number)
      ])
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      let added = try await instance.mails("notice-factors-added")
      #expect(added.map(\.recipient) == all)
      #expect(added[0].body.contains("the second factor “one” was added to your account."))
      let link = try await instance.linkCode("notice-factors-added", to: "/__/auth/not-me")
      #expect(
        try await instance.identity.reportedChanges.look(at: link).fact
          == .notice(UserNotice(.factorsAdded, ["one"])))
      // An unchanged list sends nothing; a different number does.
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      #expect(try await instance.mails("notice-factors-added").count == 3)
      change.factors = .replace([FactorEntry(id: "a", phoneNumber: Instance.otherNumber)])
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      #expect(try await instance.mails("notice-factors-added").count == 6)
      try await instance.identity.accounts.delete(instance.acme, account.id, by: Instance.boss)
      let ends = try await instance.mails("notice-account-deleted")
      #expect(ends.map(\.recipient) == all)
      #expect(ends.filter { $0.body.contains(Person.alice.email) }.count == 1)
    }
  }

  @Test func `a user is notified when changes are allowed again, and can report again`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let owner = try await instance.agent("olga", role: .owner)
      let (identity, id) = (instance.identity, device.account.id)
      _ = try await identity.support.suspend(
        instance.acme, id, device.factor, until: instance.now.advanced(bySeconds: 600),
        agent.request())
      let first = try await instance.linkCode("notice-factor-suspended", to: "/__/auth/not-me")
      try await identity.reportedChanges.object(first, by: Instance.visitor)
      _ = try await identity.support.allowChanges(instance.acme, id, owner.request(.mistake))
      let mail = try #require(try await instance.mails("notice-changes-allowed").first)
      #expect(mail.subject.hasSuffix(": your account was unlocked"))
      let second = try await instance.linkCode("notice-changes-allowed", to: "/__/auth/not-me")
      try await identity.reportedChanges.object(second, by: Instance.visitor)
      #expect(try await instance.reload(device.account).changesLockedAt == instance.now)
    }
  }
}
