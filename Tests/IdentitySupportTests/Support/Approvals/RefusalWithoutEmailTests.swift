import Testing

@testable import Identity
@testable import TestIdentity

/// Policies that refuse users without a second factor, which were requested while the server sent
/// emails and are approved when it no longer does.
@Suite struct RefusalWithoutEmailTests {
  /// Changes the policy so that it refuses users and is weaker in another respect.
  private func refuse(_ instance: Instance, by agent: Agent) async throws {
    let version = try await instance.identity.policies.read(instance.acme).version
    let day = try #require(Day("2026-03-01"))
    _ = try await instance.identity.policies.change(
      instance.acme, expecting: version, by: .console(agent.request(nil, note: "Audit"))
    ) { edit throws(PolicyError) in
      edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 9)
      edit.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
    }
  }

  private func mode(_ instance: Instance) async throws -> Enforcement.Mode? {
    try await instance.identity.policies.read(instance.acme).edit.enforcement?.mode
  }

  @Test(arguments: [true, false])
  func `an approval is overtaken if the server no longer sends email`(sends: Bool) async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.setWindow(5)
      let pia = try await instance.agent("pia", role: .policy)
      _ = try await instance.enrolled(.alice)
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      try await refuse(instance, by: pia)
      let otto = try await instance.agent("otto", role: .owner)
      let approvals = (sends ? instance.identity : try instance.identity()).approvals
      let approval = try #require(try await approvals.waiting(visibleTo: otto.administrator).first)
      let outcome = try await approvals.approve(approval.id, in: instance.acme, otto.request(nil))
      if case .overtaken(let obstacle) = outcome.value {
        #expect(!sends && obstacle == .refusalNeedsEmail)
      } else {
        #expect(sends)
      }
      #expect(try await mode(instance) == (sends ? .refuse : nil))
    }
  }
}
