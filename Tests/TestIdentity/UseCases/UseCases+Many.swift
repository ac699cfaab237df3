import Identity
import OTP

extension UseCase {
  private static let terms = CampaignTerms(days: 7, reminds: true, sentence: "")

  /// Bulk removals and requests for approval.
  static let many: [UseCase] = [
    UseCase("preview a bulk removal", []) { i in
      try await i.addUsers(1)
      let agent = try await i.agent()
      return { _ = try await i.draft("u0", by: agent) }
    },
    UseCase("start a bulk removal", [.bulkStart]) { i in
      try await i.addUsers(2)
      let agent = try await i.agent()
      let job = try await i.draft("u0\nu1", by: agent)
      return { try await i.begin(job, by: agent) }
    },
    UseCase("run a bulk removal", [.factorRemoveAll, .factorRemoveAll, .bulkFinish]) { i in
      try await i.addUsers(2)
      let agent = try await i.agent()
      try await i.begin(try await i.draft("u0\nu1", by: agent), by: agent)
      return { _ = try await i.identity.bulkRemovals.step() }
    },
    UseCase("stop a bulk removal", [.bulkStop]) { i in
      try await i.addUsers(1)
      let agent = try await i.agent()
      let job = try await i.draft("u0", by: agent)
      try await i.begin(job, by: agent)
      return { try await i.identity.bulkRemovals.stop(job, in: i.acme, agent.request(nil)) }
    },
    UseCase("undo a bulk removal", [.bulkUndo]) { i in
      let id = try await i.removed(by: try await i.agent())
      let other = try await i.agent("omar")
      return { _ = try await i.identity.bulkRemovals.undo(id, in: i.acme, other.request(.mistake)) }
    },
    UseCase("finish the undo of a bulk removal", [.factorRestore, .bulkFinishUndo]) { i in
      let id = try await i.removed(by: try await i.agent())
      let other = try await i.agent("omar")
      _ = try await i.identity.bulkRemovals.undo(id, in: i.acme, other.request(.mistake))
      return { _ = try await i.identity.bulkRemovals.step() }
    },
    UseCase("stop the undo of a bulk removal", [.bulkStopUndo]) { i in
      let id = try await i.removed(by: try await i.agent())
      _ = try await i.agent("olivia", role: .owner)
      let other = try await i.agent("omar")
      _ = try await i.identity.bulkRemovals.undo(id, in: i.acme, other.request(.mistake))
      _ = try await i.identity.administrators.revoke(
        Grant(role: .support), from: other.administrator.id,
        by: .program(Author(actor: .commandLine)))
      return { _ = try await i.identity.bulkRemovals.step() }
    },
    UseCase("start a campaign", [.bulkStartLinks]) { i in
      _ = try await i.account(.alice)
      let agent = try await i.agent()
      let job = try await i.draftLinks(by: agent)
      return { try await i.begin(job, by: agent, terms: terms) }
    },
    UseCase("send a campaign's links", [.factorSendLink]) { i in
      _ = try await i.account(.alice)
      let agent = try await i.agent()
      try await i.begin(try await i.draftLinks(by: agent), by: agent, terms: terms)
      return { _ = try await i.identity.bulkRemovals.step() }
    },
    UseCase("finish a campaign", [.bulkFinishLinks]) { i in
      _ = try await i.account(.alice)
      _ = try await i.campaign(by: try await i.agent())
      i.clock.advance(7 * 86_400)
      return { _ = try await i.identity.bulkRemovals.step() }
    },
    UseCase("stop a campaign", [.bulkStopLinks]) { i in
      _ = try await i.account(.alice)
      let agent = try await i.agent()
      let job = try await i.draftLinks(by: agent)
      try await i.begin(job, by: agent, terms: terms)
      return { try await i.identity.bulkRemovals.stop(job, in: i.acme, agent.request(nil)) }
    },
    UseCase("renew a campaign's link", [.factorSendLink]) { i in
      _ = try await i.account(.alice)
      _ = try await i.campaign(by: try await i.agent())
      let link = try await i.linkCode("enrollment-link", to: "/__/auth/enroll")
      i.clock.advance(7 * 86_400)
      return { try await i.identity.enrollmentLinks.renew(link, by: Instance.visitor) }
    },
    UseCase("give the password at a campaign's link", []) { i in
      _ = try await i.account(.alice)
      _ = try await i.campaign(by: try await i.agent())
      let link = try await i.linkCode("enrollment-link", to: "/__/auth/enroll")
      return {
        _ = try await i.identity.enrollmentLinks.prove(
          link, password: Person.alice.password, by: Instance.visitor)
      }
    },
    UseCase("give the emailed code at a campaign's link", []) { i in
      _ = try await i.account(.alice)
      try await i.allow(password: false, emailLink: true)
      _ = try await i.campaign(by: try await i.agent())
      let link = try await i.linkCode("enrollment-link", to: "/__/auth/enroll")
      return {
        let links = i.identity.enrollmentLinks
        try await links.sendCode(link, by: Instance.visitor)
        _ = try await links.prove(
          link, typed: TypedCode(try await i.emailedCode()), by: Instance.visitor)
      }
    },
    UseCase("request approval of a bulk removal", [.approvalAsk]) { i in
      try await i.addUsers(1)
      try await i.setSupportRules { $0.approvalOverUsers = 0 }
      let agent = try await i.agent()
      let job = try await i.draft("u0", by: agent)
      return { try await i.begin(job, by: agent) }
    },
    UseCase("request approval of a removal", [.approvalAsk]) { i in
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
    UseCase("reject a removal", [.approvalRefuse]) { i in
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
  /// Enrolls Alice in a pool where removing her last factor requires approval.
  func lastFactor() async throws -> (Device, Agent) {
    let device = try await enrolled(.alice)
    _ = try await identity.policies.change(acme, by: .program(Self.boss)) {
      $0.pattern = .mandatory
    }
    try await setSupportRules { $0.approvalForLastFactor = true }
    return (device, try await agent())
  }

  /// Requests a removal for Alice that requires approval.
  func waiting() async throws -> Int64 {
    let (device, agent) = try await lastFactor()
    return try await waiting(device, agent)
  }

  /// Requests the removal of a device that requires approval.
  func waiting(_ device: Device, _ agent: Agent) async throws -> Int64 {
    _ = try await identity.factorRemovals.remove(acme, device.account.id, nil, agent.request())
    return try await identity.approvals.waiting(for: device.account.id, in: acme)?.id ?? 0
  }
}
