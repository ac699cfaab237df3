import Database
import Identity
import Testing

/// Email addresses that are marked as bouncing.
struct BouncedAddressTests {
  private func mark(
    _ instance: Instance, _ account: Account, _ address: String? = nil,
    by agent: Agent? = nil
  ) async throws {
    let agent = if let agent { agent } else { try await instance.agent() }
    _ = try await instance.identity.support.markBounces(
      instance.acme, account.id, of: address ?? account.email ?? "", agent.request(.asked))
  }

  @Test func `waiting emails are stopped, later ones aren't sent, and the outbox shows both`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      _ = try await instance.code(.verifyEmail)
      try await mark(instance, account)
      _ = try await instance.identity.outOfBandCodes.send(
        OutOfBandRequest(.passwordReset, for: .email(Person.alice.email)), in: instance.acme,
        hidingUsers: false, from: nil)
      let entries = try await instance.entries()
      for purpose in ["verify-email", "reset-password"] {
        let entry = try #require(entries.first { $0.purpose == purpose })
        #expect(entry.lastError == .addressBounces && entry.state == .failed(instance.now))
      }
      // Only the last email, which says so, is sent.
      #expect(try await instance.claim()?.purpose == "notice-address-bounces")
      #expect(try await instance.claim() == nil)
      #expect(try await instance.texts() == 1)
    }
  }

  @Test func `a link to sign in isn't sent to an address that bounces either`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let account = try await instance.account(.alice)
      try await mark(instance, account)
      #expect(try await instance.claim()?.purpose == "notice-address-bounces")
      for address in [Person.alice.email, "stranger@example.com"] {
        let sent = try await instance.identity.outOfBandCodes.send(
          OutOfBandRequest(.signIn, for: .email(address)), in: instance.acme, hidingUsers: true,
          from: nil)
        #expect(sent == address)
      }
      #expect(try await instance.claim()?.recipient == "stranger@example.com")
      #expect(try await instance.claim() == nil)
    }
  }

  @Test func `every address of the user hears of the mark, and how to report it`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      try await mark(instance, account)
      let mail = try #require(try await instance.mails("notice-address-bounces").first)
      #expect(mail.recipient == "alice@example.com")
      #expect(mail.body.contains("the email address alice@example.com was marked"))
      #expect(mail.body.contains("open this page within seven days to report it"))
    }
  }

  @Test func `without the mark, email is sent again`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let agent = try await instance.agent()
      try await mark(instance, account, by: agent)
      await expect("nothingToDo") { try await mark(instance, account, by: agent) }
      let records = try await instance.records(of: account)
      #expect(records.bouncing.map(\.address) == ["alice@example.com"])
      #expect(account.addresses(without: records.bouncing).isEmpty)
      #expect(account.addresses(without: []) == ["alice@example.com"])
      #expect(records.bouncing.first?.markedBy == "Dora Support")
      _ = try await instance.identity.support.clearBounces(
        instance.acme, account.id, of: "alice@example.com", agent.request(.mistake))
      await expect("nothingToDo") {
        try await instance.identity.support.clearBounces(
          instance.acme, account.id, of: "alice@example.com", agent.request(.mistake))
      }
      _ = try await instance.code(.passwordReset)
      let entry = try #require(try await instance.entries().first)
      #expect(entry.purpose == "reset-password" && entry.state == .waiting)
      let log = try await instance.log()
      let marked = try #require(log.first { $0.action == .accountMarkBounces })
      #expect(marked.new(.bouncingEmail) == .text("alice@example.com") && marked.reason == "asked")
      let cleared = try #require(log.first { $0.action == .accountClearBounces })
      #expect(cleared.old(.bouncingEmail) == .text("alice@example.com"))
    }
  }

  @Test func `the mark is of one account's address`() async throws {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      await expect("nothingToDo") { try await mark(instance, alice, "bob@example.com") }
      try await mark(instance, alice)
      var change = AccountChange()
      change.email = .set("alice2@example.com")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      _ = try await instance.identity.outOfBandCodes.send(
        OutOfBandRequest(.passwordReset, for: .email("alice2@example.com")), in: instance.acme,
        hidingUsers: false, from: nil)
      let newest = try #require(try await instance.entries().first)
      #expect(newest.recipient == "alice2@example.com" && newest.state == .waiting)
      _ = bob
    }
  }

  @Test func `an enrollment link and a caller code aren't sent to a bouncing address`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice, isVerified: true)
      let agent = try await instance.agent()
      try await mark(instance, account, by: agent)
      #expect(try await !instance.records(of: account).canEnrollByLink)
      await expect("addressBounces") {
        try await instance.identity.enrollmentLinks.send(
          agent.request(), to: account.id, in: instance.acme)
      }
      let eligibility = try await instance.identity.support.eligibility(
        agent.session, on: account.id, in: instance.acme, performing: .sendEnrollmentLink)
      #expect(eligibility.bouncing.map(\.address) == ["alice@example.com"])
    }
  }
}
