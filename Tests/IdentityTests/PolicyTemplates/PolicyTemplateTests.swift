import Testing

@testable import Identity

@Suite struct PolicyTemplateTests {
  private func chosen(_ instance: Instance, _ scopes: [Scope]) async throws -> [(
    id: ID<Tenant>, version: Int
  )] {
    var chosen: [(id: ID<Tenant>, version: Int)] = []
    for scope in scopes {
      let version = try await instance.identity.policies.read(scope).version
      chosen.append((try #require(scope.tenant), version))
    }
    return chosen
  }

  private func tenant(_ scope: Scope, _ instance: Instance) async throws -> TemplatedTenant {
    let tenants = try await instance.identity.policyTemplates.tenants(of: scope.project).items
    return try #require(tenants.first { $0.policy.scope.tenant == scope.tenant })
  }

  @Test func `a template changes chosen tenants only, in one action with a row for each`()
    async throws
  {
    try await withInstance { instance in
      let pia = try await instance.agent("pia", role: .policy)
      let templates = instance.identity.policyTemplates
      let west = try await instance.identity.policies.read(instance.west)
      let outcome = try await templates.apply(
        .strict, to: chosen(instance, [instance.east]), of: instance.acme.project,
        pia.request(nil, note: "Audit")
      ).value
      #expect((outcome.changed, outcome.unchanged, outcome.waiting) == (1, 0, 0))
      let east = try await instance.identity.policies.read(instance.east)
      #expect(east.configuration.totp == TOTPConfiguration(state: .mandatory, adjacentIntervals: 1))
      #expect(east.pattern == .mandatory)
      #expect(try await instance.identity.policies.read(instance.west).version == west.version)
      let row = try #require(try await instance.log(instance.east).first)
      #expect(row.new(.policyTemplate) == .text("strict") && row.actorName == "pia")
      let again = try await templates.apply(
        .strict, to: chosen(instance, [instance.east, instance.west]), of: instance.acme.project,
        pia.request(nil, note: "Audit")
      ).value
      #expect((again.changed, again.unchanged) == (1, 1))
    }
  }

  @Test func `a tenant that changes afterward has drifted, until it matches again`() async throws {
    try await withInstance { instance in
      let pia = try await instance.agent("pia", role: .policy)
      let templates = instance.identity.policyTemplates
      func apply() async throws {
        _ = try await templates.apply(
          .strict, to: chosen(instance, [instance.east]), of: instance.acme.project,
          pia.request(nil, note: "Audit"))
      }
      #expect(try await tenant(instance.east, instance).template == nil)
      try await apply()
      #expect(!(try await tenant(instance.east, instance).hasDrifted))
      _ = try await instance.identity.policies.change(instance.east, by: Instance.boss) {
        $0.pattern = nil
      }
      #expect(try await tenant(instance.east, instance).hasDrifted)
      try await apply()
      #expect(!(try await tenant(instance.east, instance).hasDrifted))
    }
  }

  @Test func `nothing changes if one policy has changed since the preview`() async throws {
    try await withInstance { instance in
      let pia = try await instance.agent("pia", role: .policy)
      let both = try await chosen(instance, [instance.east, instance.west])
      _ = try await instance.identity.policies.change(instance.west, by: Instance.boss) {
        $0.pattern = .stepUp
      }
      let east = try await instance.identity.policies.read(instance.east)
      await expect("failed.changedMeanwhile") {
        try await instance.identity.policyTemplates.apply(
          .strict, to: both, of: instance.acme.project, pia.request(nil, note: "Audit"))
      }
      #expect(try await instance.identity.policies.read(instance.east).version == east.version)
    }
  }

  @Test func `weakening any tenant requires a reason, and approval where the tenant does`()
    async throws
  {
    try await withInstance { instance in
      let pia = try await instance.agent("pia", role: .policy)
      let policies = instance.identity.policies
      for scope in [instance.east, instance.west] {
        _ = try await policies.change(scope, by: Instance.boss) {
          $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
        }
      }
      _ = try await instance.enrolled(.alice, in: instance.east)
      var rules = try await instance.identity.support.settings(instance.east)
      rules.policyApprovalOverUsers = 0
      try await instance.identity.support.change(
        instance.east, to: rules, by: Author(actor: .commandLine))
      let both = try await chosen(instance, [instance.east, instance.west])
      let templates = instance.identity.policyTemplates
      let preview = try await templates.preview(
        .standard, for: both.map(\.id), of: instance.acme.project)
      #expect(preview.map(\.needsApproval) == [true, false])
      #expect(preview.map { !$0.weakenings.isEmpty } == [true, true])
      await expect("refused.writtenReasonRequired") {
        try await templates.apply(
          .standard, to: both, of: instance.acme.project, pia.request(nil))
      }
      let outcome = try await templates.apply(
        .standard, to: both, of: instance.acme.project, pia.request(nil, note: "Clocks")
      ).value
      #expect((outcome.changed, outcome.waiting) == (1, 1))
      #expect(try await policies.read(instance.west).configuration.totp?.adjacentIntervals == nil)
      #expect(try await policies.read(instance.east).configuration.totp?.adjacentIntervals == 1)
      let request = try #require(try await instance.log(instance.east).first)
      #expect(request.action == .approvalAsk && request.note == "Clocks")
      #expect(request.new(.approvalCause) == .code("weaker-policy"))
      #expect(request.new(.users) == .number(1) && request.new(.expiresAt) != nil)
      #expect(request.new(.policyTemplate) == .text("default"))
      let otto = try await instance.agent("otto", role: .owner)
      let approvals = instance.identity.approvals
      let approval = try #require(try await approvals.waiting(visibleTo: otto.administrator).first)
      _ = try await approvals.approve(approval.id, in: instance.east, otto.request(nil))
      #expect(try await tenant(instance.east, instance).template?.kind == .standard)
      let row = try #require(
        try await instance.log(instance.east).first { $0.action == .policyWiden })
      #expect(row.new(.policyTemplate) == .text("default"))
    }
  }

  @Test func `own templates belong to one project and have unique names`() async throws {
    try await withInstance { instance in
      let pia = try await instance.agent("pia", role: .policy)
      let templates = instance.identity.policyTemplates
      try await instance.setWindow(2)
      _ = try await templates.create(" Ours ", from: instance.acme, pia.request(nil))
      await expect("failed.nameTaken") {
        try await templates.create("Ours", from: instance.acme, pia.request(nil))
      }
      await expect("failed.invalidName") {
        try await templates.create(
          String(repeating: "x", count: PolicyTemplate.longestName + 1), from: instance.acme,
          pia.request(nil))
      }
      let own = try #require(try await templates.list(instance.acme.project).last)
      #expect(own.name == "Ours" && own.edit.configuration.totp?.adjacentIntervals == 2)
      #expect(try await templates.list(instance.globex.project).allSatisfy { $0.name == nil })
      await expect("notFound") {
        try await templates.preview(own.kind, for: [], of: instance.globex.project)
      }
      guard case .own(let number) = own.kind else { throw Unexpected("a built-in template") }
      await expect("failed.notFound") {
        try await templates.delete(number, of: instance.globex.project, pia.request(nil))
      }
      _ = try await templates.delete(number, of: instance.acme.project, pia.request(nil))
      #expect(try await templates.list(instance.acme.project).allSatisfy { $0.name == nil })
    }
  }

  @Test(arguments: [false, true])
  func `a template that refuses sign-ins can't be applied while no email is sent`(
    carriesMail: Bool
  ) async throws {
    try await withInstance(carriesMail: carriesMail) { instance in
      let pia = try await instance.agent("pia", role: .policy)
      let (templates, project) = (instance.identity.policyTemplates, instance.acme.project)
      let day = try #require(Day("2026-04-01"))
      _ = try await instance.identity.policies.change(instance.acme, by: Instance.boss) {
        $0.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
      }
      _ = try await templates.create("locked", from: instance.acme, pia.request(nil))
      let kind = try #require(try await templates.list(project).last).kind
      let east = try await chosen(instance, [instance.east])
      let result = await outcome {
        try await templates.apply(kind, to: east, of: project, pia.request(nil, note: "Audit"))
      }
      #expect(result == (carriesMail ? "done" : "failed.refusalNeedsEmail"))
      let mode = try await instance.identity.policies.read(instance.east).edit.enforcement?.mode
      #expect(mode == (carriesMail ? .refuse : nil))
    }
  }

  @Test func `a template can't be applied to tenants of another project or without permission`()
    async throws
  {
    try await withInstance { instance in
      let chosen = try await chosen(instance, [instance.east])
      let templates = instance.identity.policyTemplates
      let pia = try await instance.agent("pia", role: .policy)
      await expect("failed.tenantNotFound") {
        try await templates.apply(
          .strict, to: chosen, of: instance.globex.project, pia.request(nil, note: "x"))
      }
      await expect("failed.wrongNumberOfTenants") {
        try await templates.apply(
          .strict, to: [], of: instance.acme.project, pia.request(nil, note: "x"))
      }
      let dora = try await instance.agent("dora")
      await expect("refused.notAllowed") {
        try await templates.apply(
          .strict, to: chosen, of: instance.acme.project, dora.request(nil, note: "x"))
      }
    }
  }
}
