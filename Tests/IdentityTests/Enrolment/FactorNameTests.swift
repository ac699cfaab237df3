import Identity
import Testing

struct FactorNameTests {
  @Test func `a factor is renamed with one audit row, and the same name writes none`() async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let rows = try await instance.log().count
      for _ in 0..<2 {
        try await instance.identity.enrolments.rename(
          instance.acme, device.account.id, device.factor, to: "  Tablet \n", by: Instance.desk)
      }
      let log = try await instance.log()
      #expect(log.count == rows + 1)
      #expect(log.first?.from == "TOTP “phone” (\(device.factor.text))")
      #expect(log.first?.to == "TOTP “Tablet” (\(device.factor.text))")
      let account = try await instance.reload(device.account)
      #expect(account.factors.map(\.displayName) == ["Tablet"])
    }
  }

  @Test(
    arguments: [
      ("", "missingDisplayName"), (" \n ", "missingDisplayName"),
      (String(repeating: "x", count: 101), "displayNameTooLong"),
      ("e" + String(repeating: "\u{301}", count: 100), "displayNameTooLong"),
      (String(repeating: "字", count: 100), "done"),
    ])
  func `a name has 1 to 100 characters`(name: String, expected: String) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      await expect(expected) {
        try await instance.identity.enrolments.rename(
          instance.acme, device.account.id, device.factor, to: name, by: Instance.desk)
      }
    }
  }

  @Test func `all factors go at once, with sessions and counts`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let unenrolments = instance.identity.unenrolments
      let before = try await unenrolments.consequences(instance.acme, device.account.id, nil)
      let agent = try await instance.agent()
      #expect(before.account.factors.count == 2 && before.sessionsEnded == 2)
      await expect("noteRequired") {
        try await unenrolments.remove(
          instance.acme, device.account.id, nil, agent.request(.other, note: " "))
      }
      _ = try await unenrolments.remove(
        instance.acme, device.account.id, nil, agent.request(.stolen, note: "HD-3"))
      let row = try #require(try await instance.log().first)
      #expect(row.action == "factor.remove-all" && row.reason == "stolen" && row.note == "HD-3")
      #expect(row.from?.contains("second phone") == true)
      #expect(row.from?.hasSuffix("2 sessions") == true)
      let counts = try await instance.identity.accounts.counts(instance.acme)
      #expect(counts.enrolledUsers == 0)
      await expect("tokenExpired") { try await instance.identity.sessions.check(device.session) }
      await expect("factorNotFound") {
        try await unenrolments.remove(instance.acme, device.account.id, nil, agent.request())
      }
    }
  }

  @Test func `a session that has ended changes nothing any more`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.desk)
      var change = AccountChange()
      change.password = .set(Person.wrong)
      let late = change
      await expect("session.tokenExpired") {
        try await instance.identity.accounts.update(
          instance.acme, alice.id, late, renewing: session, by: Instance.visitor)
      }
      _ = try await instance.session(.alice)
    }
  }
}
