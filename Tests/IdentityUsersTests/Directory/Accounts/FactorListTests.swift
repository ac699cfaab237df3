import Identity
import Testing

@testable import TestIdentity

/// Lists of second factors that an administrator sets.
struct FactorListTests {
  private func replace(
    _ instance: Instance, _ account: Account, _ entries: [FactorEntry]
  ) async throws -> [Factor] {
    var change = AccountChange()
    change.factors = .replace(entries)
    return try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss
    ).factors
  }

  @Test func `phone factors are added, kept, renamed, and replaced; an authenticator app stays`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let moment = instance.now.advanced(bySeconds: -1_000)
      let first = try await replace(
        instance, device.account,
        [
          FactorEntry(
            id: "mine", displayName: "a", phoneNumber: Instance.number, enrolledAt: moment),
          FactorEntry(phoneNumber: Instance.otherNumber),
        ])
      #expect(first.map(\.kind) == [.totp, .phone, .phone])
      #expect(first.map(\.phoneNumber) == [nil, Instance.number, Instance.otherNumber])
      #expect(first[1].id.text == "mine" && first[1].enrolledAt == moment)
      #expect(first[2].displayName == nil && first[2].enrolledAt == instance.now)
      // No factor was removed, so the session stays open. The user is notified of the new factors.
      _ = try await instance.identity.sessions.check(device.session)
      #expect(try await instance.messages() == ["mail notice-factors-added alice@example.com"])
      let second = try await replace(
        instance, device.account,
        [
          FactorEntry(id: device.factor.text, displayName: "app"),
          FactorEntry(id: "mine", displayName: "b"),
        ])
      #expect(second.map(\.label) == ["app", "b"])
      #expect(second[1].phoneNumber == Instance.number && second[1].enrolledAt == moment)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(device.session)
      }
      #expect(
        try await instance.messages() == [
          "mail notice-factors-added alice@example.com",
          "mail notice-factors-removed alice@example.com",
        ])
      let third = try await replace(
        instance, device.account,
        [FactorEntry(id: "mine", displayName: "c", phoneNumber: "+12025550199")])
      #expect(third.map(\.label) == ["app", "c"])
      #expect(third[1].phoneNumber == "+12025550199")
      #expect(try await instance.messages().count == 4)
    }
  }

  @Test func `an invalid list is rejected and nothing changes`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let app = device.factor.text
      let phone = FactorEntry(id: "p", phoneNumber: Instance.number)
      _ = try await replace(instance, device.account, [phone])
      let cases: [(String, [FactorEntry])] = [
        ("tooManyFactors", (0..<6).map { FactorEntry(phoneNumber: "+1202555010\($0)") }),
        ("tooManyFactors", (0..<7).map { FactorEntry(id: "\($0)") }),
        ("duplicateEnrollment", [phone, FactorEntry(id: "p", phoneNumber: Instance.otherNumber)]),
        ("duplicateEnrollment", [FactorEntry(id: app, phoneNumber: Instance.otherNumber)]),
        ("phoneFactorExists", [phone, FactorEntry(phoneNumber: Instance.number)]),
        ("phoneFactorExists", [FactorEntry(id: "p"), FactorEntry(phoneNumber: Instance.number)]),
        ("invalidPhone", [FactorEntry(phoneNumber: "0151")]),
        ("unsupportedSecondFactor", [FactorEntry(id: "other")]),
        ("invalidEnrollment", [FactorEntry(id: "a\nb", phoneNumber: Instance.otherNumber)]),
        (
          "factorNameTooLong",
          [
            FactorEntry(
              displayName: String(repeating: "x", count: 101), phoneNumber: "+12025550101")
          ]
        ),
      ]
      for (expected, entries) in cases {
        await expect(expected) { try await replace(instance, device.account, entries) }
      }
      #expect(
        try await instance.reload(device.account).factors.map(\.id.text) == [app, "p"])
    }
  }

  @Test func `authenticator apps don't count toward the phone limit, nor phones toward theirs`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let five = (0..<5).map { FactorEntry(phoneNumber: "+1202555010\($0)") }
      let kept = FactorEntry(id: device.factor.text)
      for entries in [five, [kept] + five] {
        let factors = try await replace(instance, device.account, entries)
        #expect(factors.count { $0.kind == .phone } == 5 && factors.count { $0.kind == .totp } == 1)
      }
      let bob = try await instance.account(.bob)
      _ = try await replace(instance, bob, five)
      _ = try await instance.enroll(try await instance.session(.bob).session)
      #expect(try await instance.reload(bob).factors.count == 6)
    }
  }

  @Test func `an account is created with phone factors, and clearing them notifies the user`()
    async throws
  {
    try await withInstance { instance in
      var new = NewAccount()
      (new.email, new.emailVerified) = ("new@example.com", true)
      new.phones = [
        FactorEntry(displayName: "one", phoneNumber: Instance.number),
        FactorEntry(phoneNumber: Instance.otherNumber),
      ]
      let created = new
      let account = try await instance.identity.accounts.create(
        instance.acme, created, by: .program(Instance.boss)
      ).value
      #expect(account.factors.map(\.label) == ["one", Instance.otherNumber])
      #expect(try await instance.identity.policies.read(instance.acme).phoneUsers == 1)
      var change = AccountChange()
      change.factors = .clear
      (change.email, change.password) = (.set("changed@example.com"), .set(Person.alice.password))
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      #expect(
        try await instance.messages() == [
          "mail notice-email-changed new@example.com",
          "mail notice-factors-removed new@example.com",
          "mail notice-password-changed new@example.com",
        ])
      #expect(try await instance.identity.policies.read(instance.acme).phoneUsers == 0)
    }
  }

  @Test func `a time in the future means now, and writing back what was read changes nothing`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let future = instance.now.advanced(bySeconds: 86_400)
      let (number, other) = (Instance.number, Instance.otherNumber)
      let added = try await replace(
        instance, alice, [FactorEntry(id: "p", phoneNumber: number, enrolledAt: future)])
      #expect(added.map(\.enrolledAt) == [Instant(milliseconds: instance.now.milliseconds)])
      let moment = Instant(microseconds: (instance.now.seconds - 1_000) * 1_000_000 + 123_456)
      _ = try await replace(
        instance, alice, [FactorEntry(id: "q", phoneNumber: other, enrolledAt: moment)])
      let rows = try await instance.log().count
      for read in [
        moment, Instant(milliseconds: moment.milliseconds), Instant(seconds: moment.seconds), nil,
      ] {
        let kept = try await replace(instance, alice, [FactorEntry(id: "q", enrolledAt: read)])
        #expect(kept.map(\.enrolledAt) == [moment])
      }
      #expect(try await instance.log().count == rows)
      let later = try await replace(instance, alice, [FactorEntry(id: "q", enrolledAt: future)])
      #expect(later.map(\.enrolledAt) == [Instant(milliseconds: instance.now.milliseconds)])
      let earlier = moment.advanced(bySeconds: -1)
      let changed = try await replace(instance, alice, [FactorEntry(id: "q", enrolledAt: earlier)])
      #expect(changed.map(\.enrolledAt) == [earlier])
    }
  }
}
