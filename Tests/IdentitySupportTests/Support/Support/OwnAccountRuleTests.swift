import Database
import Identity
import Testing

@testable import TestIdentity

/// Tests that agents can't act on their own account, whatever address it has now.
struct OwnAccountRuleTests {
  /// The agent's own address, as assigned by the fixture.
  private static let own = "dora@desk.example.com"

  /// Creates an account with the agent's address, then changes the address in the given way.
  private func account(_ instance: Instance, until way: String) async throws -> Account {
    let identity = instance.identity
    var new = NewAccount()
    new.localID = "moved"
    new.email = Self.own
    new.emailVerified = true
    new.password = Person.alice.password
    let account = try await identity.accounts.create(
      instance.acme, new, by: .program(Instance.boss)
    ).value
    let session = try await instance.signedIn(.alice, as: Self.own).session
    let other = "other@example.com"
    var change = AccountChange()
    switch way {
    case "token":
      change.email = .set(other)
      try await identity.accounts.update(instance.acme, account.id, change, by: instance.program())
    case "token, then taken away":
      change.email = .clear
      try await identity.accounts.update(instance.acme, account.id, change, by: instance.program())
    case "user":
      change.email = .set(other)
      _ = try await identity.accounts.update(
        instance.acme, account.id, change, by: Author(actor: .user(account.id)), in: session)
    case "import":
      let row = ImportRow.user(.alice) {
        $0.localID = account.id.text
        $0.email = other
      }
      _ = try await identity.imports.run(
        instance.acme, [row], ImportOptions(existing: .replace), by: Instance.boss)
    case "link in a mail":
      var request = OutOfBandRequest(.changeEmail, for: .session(session))
      request.newEmail = other
      _ = try await identity.outOfBandCodes.send(
        request, in: instance.acme, hidingUsers: false, from: nil)
      let code = try #require(try await instance.mails().last).code
      _ = try await identity.outOfBandCodes.apply(code, by: Instance.visitor)
    default: throw Unexpected(way)
    }
    // Change it again, because not only the last address must be remembered.
    change = AccountChange()
    change.email = .set("third@example.com")
    return try await identity.accounts.update(
      instance.acme, account.id, change, by: instance.program())
  }

  @Test(arguments: ["token", "token, then taken away", "user", "import", "link in a mail"])
  func `an agent can't act on an account that ever had their address, however it changed`(
    way: String
  ) async throws {
    try await withInstance { instance in
      let moved = try await account(instance, until: way)
      let agent = try await instance.agent()
      try await expectOwn(moved, agent, instance)
    }
  }

  @Test func `an agent can't act on an account that once had their address at a provider`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for email in [Self.own, "new@example.com"] {
        var change = AccountChange()
        change.link = ProviderLink(provider: "google.com", rawID: "g", email: email)
        try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: instance.program())
      }
      var change = AccountChange()
      change.unlinksAll = true
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: instance.program())
      let agent = try await instance.agent()
      try await expectOwn(alice, agent, instance)
    }
  }

  @Test(arguments: [
    "DORA@Desk.Example.com", "dora@desk.example.com.", "dora@desk.example.com..",
    "\u{FF44}ora@desk.example.com", "dora@desk\u{FF0E}example\u{3002}com",
    "do\u{200B}ra@desk.example.com",
  ])
  func `different spellings of one mailbox are the same address`(spelling: String) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      for isFormer in [false, true] {
        // A provider's address isn't checked.
        var change = AccountChange()
        change.link = ProviderLink(
          provider: "google.com", rawID: "g", email: isFormer ? "other@example.com" : spelling)
        try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: instance.program())
        try await expectOwn(alice, agent, instance)
      }
    }
  }

  @Test func `composed and decomposed accents are the same address`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent("ren\u{E9}", role: .support)
      var change = AccountChange()
      change.email = .set("RENE\u{301}@desk.example.com")
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: instance.program())
      try await expectOwn(alice, agent, instance)
    }
  }

  /// Expects single actions, bulk removals, and approvals to refuse the agent's own account.
  private func expectOwn(_ account: Account, _ agent: Agent, _ instance: Instance) async throws {
    let support = instance.identity.support
    await expect("ownAccount") {
      try await support.endSessions(instance.acme, account.id, agent.request())
    }
    let job = try await instance.draft(account.id.text, by: agent)
    #expect(try await instance.results(instance.job(job, by: agent)) == ["own"])
    let other = try await instance.agent("erik-\(instance.now.microseconds)")
    try await instance.setSupportRules { $0.approvalOverUsers = 0 }
    var change = AccountChange()
    change.emailVerified = true
    change.factors = .replace([FactorEntry(phoneNumber: Instance.number)])
    try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss)
    let asked = try await instance.draft(account.id.text, by: other)
    try await instance.begin(asked, by: other)
    let approval = try #require(
      try await instance.identity.approvals.find(forJob: asked, in: instance.acme))
    await expect("ownAccount") {
      try await instance.identity.approvals.approve(
        approval.id, in: instance.acme, agent.request(nil))
    }
    try await instance.identity.approvals.withdraw(
      approval.id, in: instance.acme, other.request(nil))
    instance.clock.advance(1)
  }
}
