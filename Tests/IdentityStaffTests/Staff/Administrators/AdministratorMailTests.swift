import Crypto
import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// Emails to administrators about sign-ins and roles.
struct AdministratorMailTests {
  private static let day: Int64 = 86_400

  private func signIn(
    _ instance: Instance, _ administrator: Administrator, devices: [String] = []
  ) async throws -> NewConsoleSession {
    try await instance.identity.consoleSessions.signIn(
      email: administrator.email, password: Instance.consolePassword, address: "192.0.2.44",
      userAgent: "Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0", devices: devices
    ).session
  }

  private func recipients(_ instance: Instance, _ purpose: String) async throws -> [String] {
    // The text of an email is deleted a while after it was of use.
    try await instance.database.read { connection in
      try connection.all(
        "SELECT /* test */ recipient FROM outbox WHERE purpose = \(purpose) ORDER BY recipient"
      ) { try $0.next() as String }
    }
  }

  @Test func `a sign-in from a new browser is reported, the first one and known browsers aren't`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let other = try await instance.administrator("other", .auditor)
      let sessions = instance.identity.consoleSessions
      func count() async throws -> Int { try await instance.mails("administrator-sign-in").count }
      _ = try await signIn(instance, nora)
      #expect(try await count() == 0)
      let device = try sessions.deviceToken(for: nora.id, replacing: []).revealedText
      _ = try await signIn(instance, nora, devices: [device])
      #expect(try await count() == 0)
      let foreign = try sessions.deviceToken(for: other.id, replacing: []).revealedText
      _ = try await signIn(instance, nora, devices: [foreign, "x"])
      #expect(try await count() == 1)
      let mail = try #require(try await instance.mails("administrator-sign-in").first)
      #expect(mail.recipient == nora.email)
      #expect(mail.body.contains("Firefox on Windows") && mail.body.contains("192.0.2.44"))
      #expect(mail.body.hasSuffix("have one:\nhttps://mfa.example.com/account\n"))
      instance.clock.advance(ConsoleSessions.deviceLifetime + 1)
      _ = try await signIn(instance, nora, devices: [device])
      #expect(try await count() == 2)
    }
  }

  @Test func `a sign-in with a code from a new browser is reported`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let device = try await instance.enroll(try await instance.administrator("nora", .auditor))
      _ = try await instance.signIn(device)
      instance.clock.advance(30)
      _ = try await instance.signIn(device)
      #expect(try await recipients(instance, "administrator-sign-in") == ["nora@example.com"])
    }
  }

  @Test func `an administrator gets at most 20 emails of a kind in a day`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let nora = try await instance.administrator("nora", .auditor)
      for _ in 0..<23 { _ = try await signIn(instance, nora) }
      #expect(try await instance.mails("administrator-sign-in").count == 20)
    }
  }

  @Test func `a change to one's own sign-in is reported, each kind by its own purpose`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      let author = instance.author(nora)
      let factors = instance.identity.administratorFactors
      try await instance.identity.ownAccount.changePassword(
        of: session, old: Instance.consolePassword, new: Secret("another pass phrase"), by: author)
      let device = try await instance.enroll(nora)
      let start = try factors.begin(for: nora)
      let app = try instance.device(start, of: nora)
      var codes = try await factors.finish(
        start.ticket.revealedText, code: try TypedCode(app.code(at: instance.now)),
        currentCode: TypedCode(device.recoveryCodes[0]), for: nora.id, by: author
      ).value
      codes = try await factors.makeRecoveryCodes(
        for: nora.id, currentCode: TypedCode(codes[0].revealedText), by: author)
      await expect("wrongCurrentCode") {
        try await factors.withdraw(from: nora, currentCode: "AAAA-AAAA-AAAA-AAAA", by: author)
      }
      try await factors.withdraw(
        from: nora, currentCode: TypedCode(codes[0].revealedText), by: author)
      let mails = try await instance.mails().filter { $0.purpose.hasPrefix("administrator-") }
      #expect(
        mails.map(\.purpose) == [
          "administrator-password", "administrator-authenticator", "administrator-authenticator",
          "administrator-recovery-codes", "administrator-authenticator",
        ])
      #expect(
        mails.map(\.subject) == [
          "Password changed for your Countersign account",
          "Authenticator app set up for your Countersign account",
          "Authenticator app replaced for your Countersign account",
          "New recovery codes for your Countersign account",
          "Authenticator app removed from your Countersign account",
        ])
      #expect(mails.allSatisfy { $0.recipient == nora.email && $0.body.contains(nora.email) })
    }
  }

  @Test func `linking an account at the provider is reported`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.link(nora)
      let mails = try await instance.mails("administrator-provider")
      #expect(
        mails.map(\.subject) == ["Sign-in provider linked with your Countersign account"])
      #expect(
        mails.allSatisfy {
          $0.recipient == nora.email && $0.body.contains(nora.email)
            && $0.body.contains("an account at Example ID")
        })
    }
  }

  @Test func `removal of the provider is reported to those linked with it, with who did it`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let owner = try await instance.setUpProvider()
      // All roles come from a group, and end with the provider.
      let linked = try await instance.providerSession().administrator
      _ = try await instance.identity.consoleProviders.remove(
        owner.request(nil, note: "No longer used"))
      let record = try await instance.identity.administrators.record(linked.id)
      #expect(record.administrator.grants.isEmpty)
      var mails: [DueMessage] = []
      while let mail = try await instance.claim() {
        if mail.purpose == "administrator-provider" { mails.append(mail) }
      }
      #expect(mails.map(\.recipient) == [linked.email])
      let mail = try #require(mails.first)
      #expect(mail.subject == "Sign-in provider unlinked from your Countersign account")
      #expect(mail.body.contains("because the sign-in provider was removed."))
      #expect(mail.body.contains("By: \(owner.administrator.displayName)\n"))
    }
  }

  @Test func `a reset by someone else is reported to the administrator, with who did it`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let boss = try await instance.administrator("boss", .owner)
      let nora = try await instance.administrator("nora", .auditor)
      let factors = instance.identity.administratorFactors
      _ = try await instance.enroll(nora)
      try await factors.reset(nora.id, by: .program(instance.author(boss)))
      let mail = try #require(try await instance.mails("administrator-second-factors").first)
      #expect(mail.recipient == nora.email && mail.body.contains(nora.email))
      #expect(mail.subject == "Second factors of your Countersign account reset")
      #expect(mail.body.contains("Removed: authenticator app\nBy: \(boss.displayName)\n"))
      _ = try await instance.enroll(nora)
      try await factors.reset(nora.id, by: .program(Author(actor: .commandLine)))
      try await instance.identity.ownAccount.resetPassword(
        of: nora, new: Secret("another pass phrase"), by: Author(actor: .commandLine))
      let second = try #require(try await instance.mails("administrator-second-factors").last)
      let password = try #require(try await instance.mails("administrator-password").first)
      for mail in [second, password] {
        #expect(mail.recipient == nora.email)
        #expect(mail.body.contains("By: an operator, with the countersign command\n"))
      }
      #expect(password.subject == "Password of your Countersign account reset")
      #expect(try await recipients(instance, "administrator-second-factors").count == 2)
    }
  }

  @Test func `a reset of passkeys says how many there were`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let (pia, _) = try await instance.passkeyOwner("pia")
      try await instance.identity.administratorFactors.reset(
        pia.id, by: .program(Author(actor: .commandLine)))
      let mail = try #require(try await instance.mails("administrator-second-factors").first)
      #expect(mail.recipient == pia.email && mail.body.contains("Removed: 1 passkey\n"))
    }
  }

  @Test(arguments: [true, false])
  func `a command reports a reset if the server sent emails when it last started`(
    sends: Bool
  ) async throws {
    try await withInstance(carriesMail: sends) { instance in
      try await instance.identity.messages.recordServer(at: Instance.publicURL)
      let nora = try await instance.administrator("nora", .auditor)
      let command = try instance.identity()
      try await command.ownAccount.resetPassword(
        of: nora, new: Secret("another pass phrase"), by: Author(actor: .commandLine))
      #expect(
        try await recipients(instance, "administrator-password") == (sends ? [nora.email] : []))
    }
  }

  @Test func `each change of a role is reported to its holder and the other owners`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let administrators = instance.identity.administrators
      let boss = try await instance.administrator("boss", .owner)
      _ = try await instance.administrator("second", .owner)
      _ = try await instance.administrator("local", .owner, project: instance.acme.project)
      let nora = try await instance.administrator("nora", .auditor)
      let grant = Grant(role: .support, project: instance.acme.project)
      let before = try await instance.mails("grant-given").count
      let author = instance.author(boss)
      let end = instance.now.advanced(bySeconds: 30 * Self.day)
      try await administrators.grant(grant, until: end, to: nora.id, by: .program(author))
      let given = Array(try await instance.mails("grant-given").map(\.recipient).dropFirst(before))
      #expect(given.sorted() == ["nora@example.com", "second@example.com"])
      try await administrators.grant(grant, to: nora.id, by: .program(author))
      #expect(
        try await recipients(instance, "grant-changed")
          == ["nora@example.com", "second@example.com"])
      try await administrators.revoke(grant, from: nora.id, by: .program(author))
      #expect(
        try await recipients(instance, "grant-revoked")
          == ["nora@example.com", "second@example.com"])
    }
  }

  @Test func `a week before its end a role is mentioned once, and at the end again`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let identity = instance.identity
      let (boss, nora) = try await instance.bossAndNora()
      let end = instance.now.advanced(bySeconds: 30 * Self.day)
      let grant = Grant(role: .support)
      try await identity.administrators.grant(
        grant, until: end, to: nora.id, by: .program(instance.author(boss)))
      instance.clock.advance(23 * Self.day - 1)
      try await identity.purgeExpired()
      #expect(try await recipients(instance, "grant-ending").isEmpty)
      instance.clock.advance(1)
      try await identity.purgeExpired()
      try await identity.purgeExpired()
      let both = ["boss@example.com", "nora@example.com"]
      #expect(try await recipients(instance, "grant-ending") == both)
      // A later end is mentioned again.
      try await identity.administrators.grant(
        grant, until: end.advanced(bySeconds: 30 * Self.day), to: nora.id,
        by: .program(instance.author(boss)))
      instance.clock.advance(30 * Self.day)
      try await identity.purgeExpired()
      #expect(try await recipients(instance, "grant-ending") == both.flatMap { [$0, $0] })
      instance.clock.advance(7 * Self.day)
      try await identity.purgeExpired()
      #expect(try await recipients(instance, "grant-ended") == both)
    }
  }

  @Test func `a role for less than a week has no reminder`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      try await instance.identity.administrators.grant(
        Grant(role: .support), until: instance.now.advanced(bySeconds: 7 * Self.day), to: nora.id,
        by: .program(instance.author(boss)))
      instance.clock.advance(Self.day)
      try await instance.identity.purgeExpired()
      #expect(try await recipients(instance, "grant-ending").isEmpty)
    }
  }

  @Test func `without a mail server, nothing is written about administrators`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      _ = try await signIn(instance, nora)
      _ = try await signIn(instance, nora)
      try await instance.identity.administrators.grant(
        Grant(role: .support), to: nora.id, by: .program(instance.author(boss)))
      #expect(try await instance.mails("administrator-sign-in").isEmpty)
      #expect(try await instance.mails("grant-given").isEmpty)
    }
  }
}
