import Foundation
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct PolicyFileTests {
  private static let author = Author(actor: .commandLine)

  private func file(_ pools: String) throws -> PolicyFile {
    let text = "{\"format\": \"countersign-policy/1\", \"pools\": [\(pools)]}"
    return try PolicyFile(parsing: Array(text.utf8))
  }

  private func pool(_ instance: Instance, _ rest: String, version: Int = 0) -> String {
    "{\"project\": \"\(instance.acme.project)\", \"policyVersion\": \(version)\(rest)}"
  }

  private func problems(_ text: String) -> [PolicyFileProblem] {
    do throws(PolicyFileError) {
      _ = try PolicyFile(parsing: Array(text.utf8))
    } catch {
      if case .problems(let problems) = error { return problems }
    }
    return []
  }

  private func apply(
    _ file: PolicyFile, _ instance: Instance, because reason: String? = nil, isDryRun: Bool = false
  ) async throws -> [PolicyDrift] {
    try await instance.identity.policies.apply(
      file, because: reason, by: Self.author, isDryRun: isDryRun)
  }

  private func faults(
    _ file: PolicyFile, _ instance: Instance, because reason: String? = nil
  ) async throws -> [PolicyFileFault] {
    do {
      _ = try await instance.identity.policies.apply(file, because: reason, by: Self.author)
    } catch let error as PolicyFileError {
      if case .problems(let problems) = error { return problems.map(\.fault) }
    }
    return []
  }

  @Test func `an export is the same text after it's parsed, and differs from nothing`() async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      _ = try await policies.change(instance.east, by: .program(Instance.boss)) {
        $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: 0)
        $0.pattern = .mandatory
        $0.mandatoryFrom = Day("2026-12-01")
        $0.enforcement = Day("2027-01-01").flatMap {
          Enforcement(.claim, from: $0, graceDays: 14)
        }
      }
      _ = try await policies.change(instance.west, by: .program(Instance.boss)) {
        $0.configuration = MFAConfiguration()
        $0.pattern = nil
      }
      let file = try await policies.file()
      #expect(file.pools.map(\.name) == file.pools.map(\.name).sorted())
      #expect(file.pools.contains { $0.project == instance.globex.project })
      let parsed = try PolicyFile(parsing: file.serialized())
      #expect(parsed == file)
      #expect(parsed.serialized() == file.serialized())
      #expect(try await policies.drift(from: parsed).isEmpty)
      let own = try await policies.file(of: instance.acme.project)
      #expect(own.pools == file.pools.filter { $0.project == instance.acme.project })
    }
  }

  @Test func `connected pools are exported and compared, and a change of one is refused by name`()
    async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      _ = try await policies.change(instance.east, by: .program(Instance.boss)) {
        $0.configuration.totp = TOTPConfiguration(state: .enabled, intervals: .unsaid)
      }
      _ = try await instance.connected(instance.acme)
      let bytes = try await policies.file().serialized()
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains(#""adjacentIntervals": "0 or default""#))
      let file = try PolicyFile(parsing: bytes)
      #expect(file.serialized() == bytes)
      #expect(try await apply(file, instance).isEmpty)
      let changed = try PolicyFile(
        parsing: Array(text.replacing(#""0 or default""#, with: "1").utf8))
      let drift = try await policies.drift(from: changed)
      #expect(drift.map(\.members) == [[.adjacentIntervals]])
      do {
        _ = try await apply(changed, instance, because: "stricter")
        Issue.record("applied")
      } catch PolicyFileError.problems(let problems) {
        #expect(problems.map(\.fault) == [.connected])
        #expect(problems.map(\.pool) == ["\(instance.acme.project)/\(instance.east.objectID)"])
      }
    }
  }

  @Test func `a hosted pool can't have intervals that nobody tells`() async throws {
    try await withInstance { instance in
      let version = try await instance.setWindow(1).version
      let file = try file(
        pool(instance, ", \"totp\": {\"adjacentIntervals\": \"0 or default\"}", version: version))
      #expect(try await faults(file, instance, because: "x") == [.outOfRange(0...10)])
    }
  }

  @Test func `a difference is reported for each member, and applied by the command line`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(5)
      let policies = instance.identity.policies
      let version = try await policies.read(instance.acme).version
      let file = try file(
        pool(instance, ", \"totp\": {\"adjacentIntervals\": 1}, \"sms\": true", version: version))
      let drift = try await policies.drift(from: file)
      #expect(drift.map(\.members) == [[.sms, .adjacentIntervals]])
      _ = try await apply(file, instance, isDryRun: true)
      #expect(try await policies.read(instance.acme).version == version)
      _ = try await apply(file, instance, because: "Ticket 7")
      let policy = try await policies.read(instance.acme)
      #expect(policy.configuration.totp?.adjacentIntervals == 1)
      #expect(policy.configuration.smsEnabled)
      #expect((policy.changedBy, policy.changeReason) == ("command line", "Ticket 7"))
      // The version is older now, but there is nothing left to change.
      #expect(try await apply(file, instance).isEmpty)
    }
  }

  @Test func `absent fields and pools are left alone`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(0)
      let policies = instance.identity.policies
      let (before, east) = (
        try await policies.read(instance.acme), try await policies.read(instance.east)
      )
      for rest in ["", ", \"totp\": {}", ", \"totp\": {\"state\": \"enabled\"}"] {
        let file = try file(pool(instance, rest, version: before.version))
        #expect(try await apply(file, instance).isEmpty)
      }
      #expect(try await policies.read(instance.acme).edit == before.edit)
      #expect(try await policies.read(instance.east).edit == east.edit)
    }
  }

  @Test func `a new TOTP configuration has to give its intervals`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let policy = try await policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp = nil
      }.value.policy
      let text = ", \"totp\": {\"state\": \"enabled\"}"
      #expect(
        try await faults(file(pool(instance, text, version: policy.version)), instance)
          == [.incompleteTOTP])
    }
  }

  @Test func `weakening requires a reason, and a second administrator where the pool does`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(1)
      _ = try await instance.enrolled(.alice)
      let version = try await instance.identity.policies.read(instance.acme).version
      let file = try file(
        pool(instance, ", \"totp\": {\"adjacentIntervals\": null}", version: version))
      #expect(try await faults(file, instance) == [.reasonRequired])
      #expect(try await faults(file, instance, because: "  ") == [.reasonRequired])
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      #expect(try await faults(file, instance, because: "Clocks") == [.approvalRequired])
      try await instance.setSupportRules { $0.policyApprovalOverUsers = nil }
      _ = try await apply(file, instance, because: "Clocks")
      #expect(try await instance.log().first?.action == .policyWiden)
    }
  }

  @Test func `a file based on another version changes nothing, not even other pools`() async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(3)
      let policies = instance.identity.policies
      let (acme, east) = (
        try await policies.read(instance.acme), try await policies.read(instance.east)
      )
      let tenant = """
        {"project": "\(instance.acme.project)", "tenant": "\(instance.east.objectID)",
          "policyVersion": \(east.version), "sms": \(!east.configuration.smsEnabled)}
        """
      let old = pool(
        instance, ", \"totp\": {\"adjacentIntervals\": 1}", version: acme.version - 1)
      let text = try file(tenant + "," + old)
      #expect(
        try await faults(text, instance, because: "Test") == [.otherVersion(current: acme.version)])
      #expect(try await policies.read(instance.east).version == east.version)
    }
  }

  @Test func `unknown pools and days without the mandatory pattern are refused`() async throws {
    try await withInstance { instance in
      let unknown = try file("{\"project\": \"nowhere\", \"policyVersion\": 0}")
      #expect(try await faults(unknown, instance) == [.poolNotFound])
      let day = ", \"pattern\": \"account\", \"mandatoryFrom\": \"2027-01-01\""
      #expect(try await faults(file(pool(instance, day)), instance) == [.dayWithoutMandatory])
    }
  }

  @Test func `everything wrong in a file is reported with its member`() {
    let text = """
      {"format": "other", "extra": 1, "pools": [
        {"project": "a", "policyVersion": 0, "totp": {"adjacentIntervals": 11, "state": "on"}},
        {"project": "a", "tenant": null, "policyVersion": 1.5, "sms": "yes", "pattern": "none"},
        {"policyVersion": 0, "mandatoryFrom": "2026-02-30", "Totp": null}, 5]}
      """
    #expect(
      problems(text).map(\.member) == [
        "extra", "format", "pools[0].totp.state", "pools[0].totp.adjacentIntervals",
        "pools[1].policyVersion", "pools[1].sms", "pools[1].pattern", "pools[2].Totp",
        "pools[2].project", "pools[2].mandatoryFrom", "pools[3]",
      ])
    let twice = """
      {"format": "countersign-policy/1", "pools": [
        {"project": "a", "policyVersion": 0}, {"project": "a", "policyVersion": 0}]}
      """
    #expect(problems(twice).map(\.fault) == [.duplicatePool])
  }

  @Test(arguments: [nil, false, true])
  func `a file can refuse sign-ins only if the server sent emails when it last started`(
    started: Bool?
  ) async throws {
    try await withInstance(carriesMail: started ?? false) { instance in
      if started != nil {
        try await instance.identity.messages.recordServer(at: Instance.publicURL)
      }
      let enforcement = "{\"mode\": \"refuse\", \"from\": \"2026-04-01\", \"graceDays\": 0}"
      let version = try await instance.identity.policies.read(instance.acme).version
      let file = try file(
        pool(instance, ", \"enforcement\": \(enforcement)", version: version))
      let command = try instance.identity()
      var faults: [PolicyFileFault] = []
      do {
        _ = try await command.policies.apply(file, because: nil, by: Self.author)
      } catch let error as PolicyFileError {
        if case .problems(let problems) = error { faults = problems.map(\.fault) }
      }
      let mode = try await command.policies.read(instance.acme).edit.enforcement?.mode
      #expect(faults == (started == true ? [] : [.refusalNeedsEmail]))
      #expect(mode == (started == true ? .refuse : nil))
    }
  }

  @Test func `a server that stops sending emails is remembered`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.identity.messages.recordServer(at: Instance.publicURL)
      let command = try instance.identity()
      try await command.messages.recordServer(at: Instance.publicURL)
      let day = try #require(Day("2026-04-01"))
      let preview = try await command.policies.preview(instance.acme) { edit in
        var edit = edit
        edit.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
        return edit
      }
      #expect(preview.lacksEmail)
    }
  }

  @Test func `a syntax error is reported with its line`() {
    let error = #expect(throws: PolicyFileError.self) {
      try PolicyFile(parsing: Array("{\n  \"format\": 1,\n  oops\n}".utf8))
    }
    guard case .notJSON(_, line: 3) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `the watched file marks the pools that differ from it until they're equal`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(5)
      let policies = instance.identity.policies
      let owner = try await instance.agent("otto", role: .owner)
      func drifting() async throws -> [DriftingPool] {
        let projects = try await instance.identity.pools.projects(
          visibleTo: owner.session.administrator, search: nil, after: nil, limit: 50
        ).items
        return try await policies.drifting(
          in: projects, visibleTo: owner.session.administrator)
      }
      #expect(policies.fileStatus == .none)
      #expect(try await drifting().isEmpty)
      policies.watch(try file(pool(instance, ", \"totp\": {\"adjacentIntervals\": 1}")))
      #expect(policies.fileStatus == .watched(pools: 1))
      #expect(try await drifting().map(\.fields) == [[.adjacentIntervals]])
      #expect(policies.drift(of: try await policies.read(instance.acme).stored)?.count == 1)
      #expect(policies.drift(of: try await policies.read(instance.east).stored) == nil)
      try await instance.setWindow(1)
      #expect(try await drifting().isEmpty)
      policies.watch(nil)
      #expect(policies.fileStatus == .unreadable)
      #expect(try await drifting().isEmpty)
    }
  }

  @Test func `pools of the watched file that don't exist are named until they do`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let owner = try await instance.agent("otto", role: .owner).administrator
      let (project, tenant) = (instance.acme.project, try #require(instance.east.tenant))
      let admin = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [Grant(role: .policy, project: project)])
      func missing(_ administrator: Administrator) async throws -> [String] {
        let projects = try await instance.identity.pools.projects(
          visibleTo: administrator, search: nil, after: nil, limit: 50
        ).items
        return try await policies.missingFilePools(in: projects, visibleTo: administrator)
      }
      func named(_ project: String, _ tenant: String) -> String {
        #"{"project": "\#(project)", "tenant": "\#(tenant)", "policyVersion": 0}"#
      }
      policies.watch(try file(pool(instance, "") + "," + named(project.text, tenant.text)))
      #expect(try await missing(owner).isEmpty)
      policies.watch(
        try file(
          [
            named(project.text, tenant.text), named(project.text, "typo-1"),
            named("nowhere", "east-1"),
          ].joined(separator: ",")))
      #expect(try await missing(owner) == ["\(project)/typo-1", "nowhere/east-1"].sorted())
      #expect(try await missing(admin) == ["\(project)/typo-1"])
      try await instance.identity.pools.delete(
        project: project, tenant: tenant, by: .program(Instance.boss))
      #expect(try await missing(admin) == ["\(project)/\(tenant)", "\(project)/typo-1"].sorted())
      policies.watch(nil)
      #expect(try await missing(owner).isEmpty)
    }
  }
}
