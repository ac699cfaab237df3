import Testing

@testable import Identity
@testable import TestIdentity

/// The actions for which the table requires a second approver.
struct SecondApproverTests {
  static let actions = ConsoleAction.allCases.filter {
    $0.requirements.secondApprover != .never
  }

  @Test(arguments: actions)
  func `C4: an action with a second approver changes nothing until approved`(action: ConsoleAction)
    async throws
  {
    try await withInstance { instance in
      let agent = try await instance.agent("olga", role: .owner)
      try await instance.setWindow(1)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.pattern = .mandatory
      }
      try await instance.setSupportRules {
        $0.approvalForLastFactor = true
        $0.approvalOverUsers = 0
        $0.policyApprovalOverUsers = 0
      }
      let alice = try await instance.enrolled(.alice)
      let version = try await instance.identity.policies.read(instance.acme).version
      switch action {
      case .removeFactor, .removeAllFactors:
        _ = try await instance.identity.factorRemovals.remove(
          instance.acme, alice.account.id, action == .removeFactor ? alice.factor : nil,
          agent.request())
      case .startBulkRemoval:
        try await instance.begin(
          try await instance.draft(alice.account.id.text, by: agent), by: agent)
        try await instance.runAll()
      case .startCampaign:
        _ = try await instance.account(.bob)
        try await instance.begin(
          try await instance.draftLinks(by: agent), by: agent, terms: .usual)
        try await instance.runAll()
      case .weakenPolicy:
        _ = try await instance.identity.policies.change(
          instance.acme, expecting: version,
          by: .console(agent.request(nil, note: "Clocks are off."))
        ) { $0.configuration.totp = nil }
      default: Issue.record("\(action) has no case in this test")
      }
      #expect(try await instance.log().first?.action == .approvalAsk)
      #expect(try await instance.reload(alice.account).factors.count == 1)
      #expect(try await instance.identity.policies.read(instance.acme).version == version)
      let waiting = try await instance.identity.approvals.waiting(
        visibleTo: agent.session.administrator)
      #expect(waiting.count == 1)
    }
  }
}
