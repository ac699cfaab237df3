@testable import Identity
import Testing
import Text

@testable import TestIdentity

struct FactorNameTests {
  private func rename(
    _ instance: Instance, _ device: Device, to name: String, _ request: ActionRequest
  ) async throws -> ActionOutcome<Renaming> {
    try await instance.identity.support.rename(
      instance.acme, device.account.id, device.factor, to: name, request)
  }

  @Test func `renaming a factor is audited once, and an unchanged name isn't audited`() async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let rows = try await instance.log().count
      let outcome = try await rename(
        instance, device, to: "  Tablet \n", agent.request(.replaced, ticket: "HD-5"))
      #expect((outcome.value.factor.label, outcome.value.name) == ("phone", "Tablet"))
      await expect("nothingToDo") {
        try await rename(instance, device, to: "Tablet", agent.request())
      }
      let log = try await instance.log()
      #expect(log.count == rows + 1)
      #expect(AuditRow.factors(log.first?.old(.factors)).map(\.displayName) == ["phone"])
      #expect(AuditRow.factors(log.first?.new(.factors)).map(\.displayName) == ["Tablet"])
      #expect(log.first?.reason == "replaced" && log.first?.ticket == "HD-5")
      let account = try await instance.reload(device.account)
      #expect(account.factors.map(\.displayName) == ["Tablet"])
    }
  }

  @Test(
    arguments: [
      ("", "nameRequired"), (" \n ", "nameRequired"),
      (String(repeating: "x", count: 101), "nameTooLong"),
      ("e" + String(repeating: "\u{301}", count: 100), "nameTooLong"),
      (String(repeating: "字", count: 100), "done"),
    ])
  func `a name has 1 to 100 characters`(name: String, expected: String) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      await expect(expected) { try await rename(instance, device, to: name, agent.request()) }
    }
  }

  @Test func `renaming an unnamed phone is audited with no former name`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.withPhone(.alice).account
      var change = AccountChange()
      change.factors = .replace([FactorEntry(phoneNumber: "+15550001111")])
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      let phone = try #require(try await instance.reload(account).factors.first)
      let agent = try await instance.agent()
      let outcome = try await instance.identity.support.rename(
        instance.acme, account.id, phone.id, to: "Support phone", agent.request(.asked))
      #expect(outcome.value.factor.displayName == nil)
      let row = try #require(try await instance.log().first)
      #expect(AuditRow.factors(row.old(.factors)).map(\.displayName) == [nil])
      #expect(AuditRow.factors(row.new(.factors)).map(\.displayName) == ["Support phone"])
    }
  }

  @Test
  func `renaming is a support action with its checks: reason, proof, code, limit, protection`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      var settings = SupportRules()
      (settings.identityProof, settings.actionsPerHour) = (["called back"], 1)
      try await instance.identity.support.change(
        instance.acme, to: settings, by: .program(Instance.boss))
      let agent = try await instance.agentWithDevice("dev")
      let proofs: Set = ["called back"]
      await expect("reasonRequired") {
        try await rename(instance, device, to: "x", agent.request(nil, proofs: proofs))
      }
      await expect("proofMissing") {
        try await rename(instance, device, to: "x", agent.request())
      }
      instance.clock.advance(16 * 60)
      await expect("codeRequired") {
        try await rename(instance, device, to: "x", agent.request(proofs: proofs))
      }
      // The code isn't checked while the name is invalid, so that it can be used again.
      let code = try #require(try agent.device?.code(at: instance.now))
      await expect("nameRequired+reasonRequired+proofMissing+codeNotLookedAt") {
        try await rename(instance, device, to: " ", agent.request(nil, code: code))
      }
      let done = try await rename(
        instance, device, to: "x", agent.request(proofs: proofs, code: code))
      #expect(done.renewed != nil)
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.proof) == (.factorRename, "called back"))
      let renewed = try #require(done.renewed).session
      let again = ActionRequest(
        agent: renewed, author: agent.author, reason: .asked,
        proofs: Set(proofs.map { UntrustedText($0) }))
      await expect("held") { try await rename(instance, device, to: "y", again) }
      let auditor = try await instance.agent("iris", role: .auditor)
      await expect("notAllowed") {
        try await rename(instance, device, to: "y", auditor.request(proofs: proofs))
      }
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.support.protect(
        instance.acme, device.account.id, true, owner.request(.asked, proofs: proofs))
      let other = try await instance.agent("erik")
      await expect("protectedAccount") {
        try await rename(instance, device, to: "y", other.request(proofs: proofs))
      }
    }
  }

  @Test func `the user is notified of both names, and names can't contain links`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await rename(
        instance, device, to: "see evil.example/x", agent.request(.asked))
      let message = try #require(
        try await instance.records(of: device.account).messages.first {
          $0.purpose == "notice-factor-renamed"
        })
      let text = try await instance.identity.messages.open(
        instance.acme, message.id, by: .program(Instance.boss)
      ).value
      #expect(text.subject.hasSuffix(": a second factor was renamed"))
      #expect(text.body.contains("the second factor “phone” was renamed to “see evil example x”"))
      #expect(text.body.contains("Its codes still work."))
      #expect(text.body.contains("/__/auth/not-me?code="))
    }
  }

  @Test func `removing all factors ends sessions and updates the counts`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let factorRemovals = instance.identity.factorRemovals
      let before = try await factorRemovals.consequences(instance.acme, device.account.id, nil)
      let agent = try await instance.agent()
      #expect(before.account.factors.count == 2 && before.sessionsEnded == 2)
      await expect("noteRequired") {
        try await factorRemovals.remove(
          instance.acme, device.account.id, nil, agent.request(.other, note: " "))
      }
      _ = try await factorRemovals.remove(
        instance.acme, device.account.id, nil, agent.request(.stolen, note: "HD-3"))
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorRemoveAll && row.reason == "stolen" && row.note == "HD-3")
      #expect(AuditRow.factors(row.old(.factors)).contains { $0.displayName == "second phone" })
      #expect(row.new(.sessionsEnded) == .number(2))
      let counts = try await instance.identity.accounts.counts(instance.acme)
      #expect(counts.enrolledUsers == 0)
      await expect("tokenExpired") { try await instance.identity.sessions.check(device.session) }
      await expect("factorNotFound") {
        try await factorRemovals.remove(instance.acme, device.account.id, nil, agent.request())
      }
    }
  }

  @Test func `an ended session can't change the account`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.support)
      var change = AccountChange()
      change.password = .set(Person.wrong)
      let late = change
      await expect("tokenExpired") {
        try await instance.identity.accounts.update(
          instance.acme, alice.id, late, by: Instance.visitor, in: session)
      }
      _ = try await instance.session(.alice)
    }
  }
}
