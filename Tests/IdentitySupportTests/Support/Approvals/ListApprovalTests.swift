import Identity
import Testing

@testable import TestIdentity

struct ListApprovalTests {
  private func request(
    _ instance: Instance, _ list: String, by agent: Agent
  ) async throws -> Approval {
    let job = try await instance.draft(list, by: agent)
    try await instance.begin(job, by: agent)
    return try #require(
      try await instance.identity.approvals.find(forJob: job, in: instance.acme))
  }

  @Test func `a list with a protected account is approved by those who can act on it`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(3)
      try await instance.mark("u1", isProtected: true)
      try await instance.setSupportRules { $0.approvalOverUsers = 0 }
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let olga = try await instance.agent("olga", role: .owner)
      let otto = try await instance.agent("otto", role: .owner)
      let approvals = instance.identity.approvals
      let theirs = try await request(instance, "u0\nu1", by: olga)
      await expect("protectedAccount") {
        try await approvals.approve(theirs.id, in: instance.acme, dora.request(nil))
      }
      // A protected account that the requester can't act on is skipped, and so prevents nothing.
      let ours = try await request(instance, "u1\nu2", by: dora)
      await expect("done") {
        try await approvals.approve(ours.id, in: instance.acme, omar.request(nil))
      }
      await expect("done") {
        try await approvals.approve(theirs.id, in: instance.acme, otto.request(nil))
      }
      try await instance.runAll()
      #expect(try await instance.log().tally(of: .factorRemoveAll) == 3)
    }
  }
}
