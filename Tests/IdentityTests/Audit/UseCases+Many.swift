import Identity

extension UseCase {
  /// Removals for many users, and what waits for a second administrator.
  static let many: [UseCase] = [
    UseCase("look at a list", []) { i in
      try await i.crowd(1)
      let agent = try await i.agent()
      return { _ = try await i.draft("u0", by: agent) }
    },
    UseCase("begin a removal for many", [.bulkStart]) { i in
      try await i.crowd(2)
      let agent = try await i.agent()
      let job = try await i.draft("u0\nu1", by: agent)
      return { try await i.begin(job, by: agent) }
    },
    UseCase("go through a list", [.factorRemoveAll, .factorRemoveAll, .bulkFinish]) { i in
      try await i.crowd(2)
      let agent = try await i.agent()
      try await i.begin(try await i.draft("u0\nu1", by: agent), by: agent)
      return { _ = try await i.identity.bulkRemovals.step() }
    },
    UseCase("stop a removal for many", [.bulkStop]) { i in
      try await i.crowd(1)
      let agent = try await i.agent()
      let job = try await i.draft("u0", by: agent)
      try await i.begin(job, by: agent)
      return { try await i.identity.bulkRemovals.stop(job, in: i.acme, agent.request(nil)) }
    },
    UseCase("ask for approval of a list", [.approvalAsk]) { i in
      try await i.crowd(1)
      try await i.setSupportRules { $0.approvalOverUsers = 0 }
      let agent = try await i.agent()
      let job = try await i.draft("u0", by: agent)
      return { try await i.begin(job, by: agent) }
    },
    UseCase("ask for approval of a removal", [.approvalAsk]) { i in
      let (device, agent) = try await i.lastFactor()
      return {
        _ = try await i.identity.factorRemovals.remove(
          i.acme, device.account.id, nil, agent.request())
      }
    },
    UseCase("approve a removal", [.factorRemoveAll, .approvalApprove]) { i in
      let (id, other) = (try await i.waiting(), try await i.agent("omar"))
      return {
        _ = try await i.identity.approvals.approve(id, in: i.acme, other.request(nil))
      }
    },
    UseCase("refuse a removal", [.approvalRefuse]) { i in
      let (id, other) = (try await i.waiting(), try await i.agent("omar"))
      return {
        try await i.identity.approvals.refuse(
          id, in: i.acme, answer: "No.", other.request(nil))
      }
    },
    UseCase("withdraw a request", [.approvalWithdraw]) { i in
      let (id, agent) = (try await i.waiting(), try await i.agent())
      return {
        try await i.identity.approvals.withdraw(
          id, in: i.acme, agent.request(nil))
      }
    },
  ]
}

extension Instance {
  /// Alice with her last factor, where that takes a second administrator.
  fileprivate func lastFactor() async throws -> (Device, Agent) {
    let device = try await enrolled(.alice)
    _ = try await identity.policies.change(acme, by: Self.boss) { $0.pattern = .mandatory }
    try await setSupportRules { $0.approvalForLastFactor = true }
    return (device, try await agent())
  }

  /// A removal of Alice's that waits.
  fileprivate func waiting() async throws -> Int64 {
    let (device, agent) = try await lastFactor()
    _ = try await identity.factorRemovals.remove(acme, device.account.id, nil, agent.request())
    return try await identity.approvals.waiting(for: device.account.id, in: acme)?.id ?? 0
  }
}
