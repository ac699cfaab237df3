import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

/// Forms that were opened before someone else changed the settings.
struct StaleFormTests {
  private static let missing = SettingsVersion(sent: "")

  @Test func `stale support rules don't undo what an owner changed meanwhile`() async throws {
    try await withInstance { instance in
      let support = instance.identity.support
      let olga = try await instance.agent("olga", role: .owner)
      let pia = try await instance.agent("pia", role: .policy)
      let opened = try await support.settings(instance.acme)
      var stricter = opened
      stricter.approvalForLastFactor = true
      stricter.tokensRemoveFactors = false
      let strict = stricter
      _ = try await support.change(
        instance.acme, to: strict, expecting: opened.version, by: .console(olga.request(nil)))
      var stale = opened
      stale.undoHours = 24
      let entered = stale
      for version in [opened.version, Self.missing, SettingsVersion(sent: "\u{202E}x")] {
        await expect("changedMeanwhile") {
          try await support.change(
            instance.acme, to: entered, expecting: version, by: .console(pia.request(nil)))
        }
        #expect(try await support.settings(instance.acme) == strict)
      }
      // The error has the present rules, with which the form can be sent again.
      let error = try await thrown(SupportRulesError.self) {
        try await support.change(
          instance.acme, to: entered, expecting: opened.version, by: .console(pia.request(nil)))
      }
      guard case .changedMeanwhile(let present) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      #expect(present == strict)
      stricter.undoHours = 24
      let both = stricter
      #expect(
        try await support.change(
          instance.acme, to: both, expecting: present.version, by: .console(pia.request(nil))
        ).value)
      #expect(try await support.settings(instance.acme) == both)
      // The same form again changes nothing, so it's no conflict.
      #expect(
        try await !support.change(
          instance.acme, to: both, expecting: present.version, by: .console(pia.request(nil))
        ).value)
    }
  }

  @Test func `every support rule is a part of the version`() {
    let changes: [(inout SupportRules) -> Void] = [
      { $0.codeCap = 11 }, { $0.undoHours = 1 }, { $0.codeAttemptDays = 1 },
      { $0.temporaryCodes = true }, { $0.recoveryCodes = true }, { $0.identityProof = ["a"] },
      { $0.identityProof = ["a", "b"] }, { $0.identityProof = ["a\nb"] },
      { $0.callerVerification = .offered }, { $0.actionsPerHour = 1 },
      { $0.approvalOverUsers = 0 }, { $0.policyApprovalOverUsers = 0 },
      { $0.approvalForLastFactor = true }, { $0.tokensRemoveFactors = false },
      { $0.tokenChangesPerHour = 1 }, { $0.signInGoal = 9_000 },
      { $0.resynchronization = true },
    ]
    let versions = changes.map { change in
      var rules = SupportRules()
      change(&rules)
      return rules.version.text
    }
    #expect(Set(versions + [SupportRules().version.text]).count == changes.count + 1)
  }

  @Test func `stale session limits don't undo what another owner changed meanwhile`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      let olga = try await instance.agentWithDevice("olga", role: .owner)
      let opened = try await sessions.limits()
      let strict = SessionLimits(idleMinutes: 60, hours: 12, requiresSecondFactor: true)
      _ = try await sessions.setLimits(strict, expecting: opened.version, olga.request(nil))
      let entered = SessionLimits(idleMinutes: 30, hours: 12)
      for version in [opened.version, Self.missing] {
        await expect("changedMeanwhile") {
          try await sessions.setLimits(entered, expecting: version, olga.request(nil))
        }
        #expect(try await sessions.limits() == strict)
      }
      #expect(
        try await sessions.setLimits(entered, expecting: strict.version, olga.request(nil)).value)
      #expect(try await sessions.limits() == entered)
    }
  }

  @Test func `a stale provider form doesn't restore a group's role or undo a removal`()
    async throws
  {
    try await withInstance { instance in
      let providers = instance.identity.consoleProviders
      let auditors = GroupRole(group: "audit", grant: Grant(role: .auditor))
      let olga = try await instance.setUpProvider([Instance.owners, auditors])
      let opened = try #require(try await providers.find())
      let request = olga.request(nil, note: "Single sign-on")
      let fewer = Instance.consoleProvider([auditors])
      _ = try await providers.save(
        fewer, secret: nil, expecting: opened.version, request)
      var stale = Instance.consoleProvider([Instance.owners, auditors])
      stale.name = "Renamed"
      let entered = stale
      for version in [opened.version, Self.missing] {
        await expect("changedMeanwhile") {
          try await providers.save(
            entered, secret: nil, expecting: version, request)
        }
        #expect(try await providers.find()?.roles == [auditors])
      }
      _ = try await providers.remove(request)
      await expect("changedMeanwhile") {
        try await providers.save(
          entered, secret: nil, expecting: fewer.version, request)
      }
      #expect(try await providers.find() == nil)
      #expect(
        try await providers.save(
          entered, secret: nil, expecting: ConsoleProvider().version, request
        ).value)
    }
  }
}
