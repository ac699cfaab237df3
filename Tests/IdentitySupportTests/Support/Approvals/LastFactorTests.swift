import Identity
import Testing

@testable import TestIdentity

/// Which removal is that of the last factor.
struct LastFactorTests {
  @Test func `a factor of a kind that's disabled doesn't make another one any less the last`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.pattern = .mandatory
      }
      try await instance.setSupportRules { $0.approvalForLastFactor = true }
      try await instance.allowPhones()
      let alice = try await instance.enrolled(.alice)
      let uid = alice.account.id
      try await instance.enrollPhone(alice.session)
      // The phone isn't required at sign-in once text messages are disabled.
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) { $0.configuration.setSMS(false) }
      let mobile = try #require(
        try await instance.reload(alice.account).factors.first { $0.kind == .phone })
      let removals = instance.identity.factorRemovals
      let app = try await removals.consequences(instance.acme, uid, alice.factor)
      let phone = try await removals.consequences(instance.acme, uid, mobile.id)
      #expect((app.factorsRequired, phone.factorsRequired) == (0, 1))
      #expect((app.factorsLeft, phone.factorsLeft) == (1, 1))
      let agent = try await instance.agent()
      let outcome = try await removals.remove(instance.acme, uid, alice.factor, agent.request())
      guard case .waits = outcome.value else { throw Unexpected("no approval is required") }
      let approval = try await instance.identity.approvals.waiting(for: uid, in: instance.acme)
      #expect(approval?.cause == .lastFactor && approval?.kind == .factor)
    }
  }
}
