@testable import Identity
import Testing

@testable import TestIdentity

/// The users without a second factor of an enabled kind, who have to enroll where it's mandatory.
struct UnenrolledUsersTests {
  /// Alice has no factor, Bob and Mallory have a phone while SMS is off, Mallory is exempt, and
  /// another user is anonymous.
  private func withUsers(_ body: (Instance) async throws -> Void) async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.account(.alice)
      let owner = try await instance.agent("o", role: .owner)
      for (person, number) in [(Person.bob, "+15555550101"), (.mallory, "+15555550102")] {
        let account = try await instance.account(person)
        var change = AccountChange()
        change.factors = .replace([FactorEntry(phoneNumber: number)])
        _ = try await instance.identity.accounts.update(
          instance.acme, account.id, change, by: Instance.boss)
        guard person == .mallory else { continue }
        _ = try await instance.identity.exemptions.grant(
          instance.acme, account.id, until: instance.now.advanced(bySeconds: 86_400),
          owner.request(.lost))
      }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.anonymous = true }
      _ = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      try await body(instance)
    }
  }

  @Test func `factors of disabled kinds, anonymous users, and exemptions are told apart`()
    async throws
  {
    try await withUsers { instance in
      let policies = instance.identity.policies
      let off = try await policies.unenrolledUsers(try await policies.read(instance.acme))
      #expect((off.total, off.exempt, off.anonymous, off.required) == (4, 1, 1, 2))
      #expect(off.haveDisabledFactors)
      _ = try await policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.setSMS(true)
      }
      let on = try await policies.unenrolledUsers(try await policies.read(instance.acme))
      #expect((on.total, on.exempt, on.anonymous, on.required) == (2, 0, 1, 1))
      #expect(!on.haveDisabledFactors)
    }
  }

  @Test func `the preview counts those whom enforcement would find due`() async throws {
    try await withUsers { instance in
      let policies = instance.identity.policies
      let day = try #require(Day("2026-03-01"))
      func due(sms: Bool) async throws -> Int {
        let preview = try await policies.preview(instance.acme) { edit in
          var edit = edit
          edit.pattern = .mandatory
          edit.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
          edit.configuration.setSMS(sms)
          return edit
        }
        return try await policies.unenrolledUsers(
          preview.policy, under: preview.new.configuration
        ).required
      }
      #expect(try await due(sms: false) == 2)
      #expect(try await due(sms: true) == 1)
      try await instance.enforce(.refuse)
      for person in [Person.alice, .bob] {
        guard case .enrollmentRequired = try await instance.firstFactor(person) else {
          throw Unexpected("\(person) isn't refused")
        }
      }
      let exempt = try await instance.session(.mallory)
      #expect(!exempt.mustEnroll)
    }
  }

  @Test(arguments: [90, 5] as [Int])
  func `an exempt user isn't in grace, whichever factors are off`(grace: Int) async throws {
    try await withUsers { instance in
      // With 5 days, the time is over for those who had an account on the first day.
      try await instance.enforce(.claim, from: "2026-02-20", grace: grace)
      let policies = instance.identity.policies
      let policy = try await policies.read(instance.acme)
      let unenrolled = try await policies.unenrolledUsers(policy)
      #expect(try await policies.usersInGrace(policy, of: unenrolled) == 2)
    }
  }

  @Test func `users with only one kind of factor are counted whether it's enabled or not`()
    async throws
  {
    try await withUsers { instance in
      _ = try await instance.enroll(try await instance.session(.bob).session)
      let policy = try await instance.identity.policies.read(instance.acme)
      var both = policy.configuration
      both.setSMS(true)
      #expect((policy.totpUsers, policy.phoneUsers, policy.enrolledUsers) == (1, 2, 2))
      #expect(policy.usersOnly(with: .phone, under: policy.configuration) == 1)
      #expect(policy.usersOnly(with: .totp, under: both) == 0)
      #expect(policy.usersOnly(with: .totp) == 1)
    }
  }
}
