import Testing

@testable import Identity
@testable import TestIdentity

/// Names that nobody could see, of which lists show something else.
struct LabelTests {
  private static let invisible = ["\u{200B}", " \u{2060}\u{202E}", "\u{3164}", "\u{0301}"]

  @Test(arguments: invisible)
  func `lists and reports show what can be seen of a user`(name: String) async throws {
    try await withInstance { instance in
      var new = NewAccount()
      (new.displayName, new.phoneNumber) = (name, Instance.number)
      (new.email, new.emailVerified) = ("alice@example.com", true)
      new.phones = [FactorEntry(displayName: name, phoneNumber: Instance.otherNumber)]
      let created = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      var change = AccountChange()
      change.email = .clear
      let account = try await instance.identity.accounts.update(
        instance.acme, created.id, change, by: Instance.boss)
      let agent = try await instance.agent("o", role: .owner)
      _ = try await instance.identity.exemptions.grant(
        instance.acme, account.id, until: instance.now.advanced(bySeconds: 86_400),
        agent.request(.other, note: "Parental leave"))
      instance.clock.advance(86_400 - 1)
      let exempt = try await instance.identity.exemptions.list(
        in: instance.acme, isWhole: false, endingAfter: instance.now)
      #expect(exempt.map(\.label) == [Instance.number])
      #expect(exempt.map(\.account) == [account.id] && exempt.map(\.note) == ["Parental leave"])
      let factors = try await instance.identity.reports.factors(
        in: instance.acme, .unused(days: 0)
      ).items
      #expect(factors.map(\.label) == [Instance.number])
      #expect(factors.map(\.account) == [account.id] && factors.map(\.displayName) == [nil])
      #expect(account.label == Instance.number)
      #expect(account.factors.map(\.label) == [Instance.otherNumber])
    }
  }

  @Test(arguments: invisible)
  func `names that administrators enter can be seen`(name: String) {
    #expect(!PoolRules.isDisplayName(name))
    #expect(PoolRules.isDisplayName(name + "a"))
  }
}
