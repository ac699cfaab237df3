import Database
import Identity
import Testing

/// Which removal is that of the last factor.
struct LastFactorTests {
  @Test func `a factor of a kind that's disabled doesn't make another one any less the last`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.identity.policies.change(instance.acme, by: Instance.boss) { edit in
        edit.pattern = .mandatory
      }
      try await instance.setSupportRules { $0.approvalForLastFactor = true }
      let alice = try await instance.enrolled(.alice)
      let uid = alice.account.id
      try await instance.addSecondDevice(to: alice)
      // A phone, which isn't required at sign-in, because text messages are disabled.
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ factor SET kind = 'phone', phone = '+15555550100'
          WHERE enrollment_id = 'second'
          """)
      }
      let removals = instance.identity.factorRemovals
      let app = try await removals.consequences(instance.acme, uid, alice.factor)
      let phone = try await removals.consequences(instance.acme, uid, ID("second"))
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
