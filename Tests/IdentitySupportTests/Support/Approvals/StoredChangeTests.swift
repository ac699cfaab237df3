import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// What a request for approval stores, and what's read of a request of the version before this one.
@Suite struct StoredChangeTests {
  private static let open = PolicyEdit(configuration: MFAConfiguration(), pattern: nil)
  private static let openText = #"""
    {"totp":["none"],"adjacent-intervals":["none"],"sms":["flag","false"],"mfa-state":["none"],\#
    "enrollment-pattern":["none"],"mandatory-from":["none"],"enforcement":["none"],\#
    "enforced-from":["none"],"grace-days":["none"]}
    """#
  private static let strict = PolicyEdit(
    configuration: MFAConfiguration(
      state: .enabled, smsEnabled: true,
      totp: TOTPConfiguration(state: .mandatory, adjacentIntervals: 0)),
    pattern: .mandatory, mandatoryFrom: Day("2026-03-01"),
    enforcement: Day("2026-04-01").flatMap { Enforcement(.refuse, from: $0, graceDays: 7) })
  private static let strictText = #"""
    {"totp":["code","mandatory"],"adjacent-intervals":["number","0"],"sms":["flag","true"],\#
    "mfa-state":["code","enabled"],"enrollment-pattern":["code","mandatory"],\#
    "mandatory-from":["day","2026-03-01"],"enforcement":["code","refuse"],\#
    "enforced-from":["day","2026-04-01"],"grace-days":["number","7"]}
    """#
  /// The default number of adjacent intervals, which isn't 0.
  private static let standard = PolicyEdit(
    configuration: MFAConfiguration(
      totp: TOTPConfiguration(state: .enabled, adjacentIntervals: nil)), pattern: .stepUp)
  private static let standardText = #"""
    {"totp":["code","enabled"],"adjacent-intervals":["code","default"],"sms":["flag","false"],\#
    "mfa-state":["none"],"enrollment-pattern":["code","step-up"],"mandatory-from":["none"],\#
    "enforcement":["none"],"enforced-from":["none"],"grace-days":["none"]}
    """#

  private static let changes: [(DirectoryChange, String)] = [
    (
      .policy(open, version: 3, seen: strict),
      #"{"change":"policy","to":\#(openText),"version":3,"seen":\#(strictText)}"#
    ),
    (
      .policy(standard, version: 1, seen: nil),
      #"{"change":"policy","to":\#(standardText),"version":1,"seen":null}"#
    ),
    (
      .factorsRemoved(ID("my \"phone\""), seen: [ID("a"), ID("my \"phone\"")]),
      #"{"change":"factors-removed","to":"my \"phone\"","seen":["a","my \"phone\""]}"#
    ),
    (
      .factorsRemoved(nil, seen: [ID("a")]),
      #"{"change":"factors-removed","to":null,"seen":["a"]}"#
    ),
    (.disabled(true, seen: false), #"{"change":"disabled","to":true,"seen":false}"#),
    (.disabled(false, seen: true), #"{"change":"disabled","to":false,"seen":true}"#),
    (
      .sessionsEnded(seen: 1_795_252_320),
      #"{"change":"sessions-ended","to":null,"seen":1795252320}"#
    ),
  ]

  @Test(arguments: changes)
  func `a change is stored in a form that stays the same, and read again`(
    change: DirectoryChange, text: String
  ) {
    #expect(change.stored == text)
    #expect(DirectoryChange(stored: text) == change)
  }

  private static let unreadable: [String] = [
    "", "null", "[]", "{}", #"{"change":"policy"}"#,
    #"{"change":"locked","to":true,"seen":false}"#,
    // Which factor isn't said, and that doesn't mean all.
    #"{"change":"factors-removed","seen":["a"]}"#,
    #"{"change":"factors-removed","to":1,"seen":["a"]}"#,
    #"{"change":"factors-removed","to":"a","seen":["a",1]}"#,
    #"{"change":"factors-removed","to":"a","seen":null}"#,
    #"{"change":"disabled","to":1,"seen":false}"#, #"{"change":"disabled","to":true,"seen":null}"#,
    #"{"change":"sessions-ended","to":null,"seen":"1"}"#,
    #"{"change":"policy","to":\#(openText),"seen":null}"#,
    #"{"change":"policy","to":\#(openText),"version":3,"seen":{}}"#,
    #"{"change":"policy","to":{},"version":3,"seen":null}"#,
    #"{"change":"policy","to":{"locked":["flag","true"],"#
      + #"\#(openText.dropFirst()),"version":3,"seen":null}"#,
    #"{"change":"policy","to":\#(strictText.replacing("refuse", with: "lock")),"#
      + #""version":3,"seen":null}"#,
  ]

  @Test(arguments: unreadable)
  func `what a later version stores isn't read in part`(text: String) {
    #expect(DirectoryChange(stored: text) == nil)
  }

  /// A waiting request.
  private struct Request {
    let approval: Approval
    let requester: Agent
    let decider: Agent
    /// The user with an authenticator app and the phone `second`; nil for an action on many users.
    let device: Device?
  }

  private func ask(_ kind: Approval.Kind, _ instance: Instance) async throws -> Request {
    let acme = instance.acme
    let policies = instance.identity.policies
    let role: Role = kind == .policy ? .policy : .support
    var device: Device?
    switch kind {
    case .factor, .factors:
      _ = try await policies.change(acme, by: .program(Instance.boss)) { $0.pattern = .mandatory }
      try await instance.setSupportRules { $0.approvalForLastFactor = true }
      let alice = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: alice)
      device = alice
      _ = try await instance.identity.factorRemovals.remove(
        acme, alice.account.id, kind == .factor ? alice.factor : nil,
        try await instance.agent("rita", role: role).request())
    case .job:
      try await instance.addUsers(2)
      try await instance.setSupportRules { $0.approvalOverUsers = 0 }
      let rita = try await instance.agent("rita", role: role)
      try await instance.begin(try await instance.draft("u0\nu1", by: rita), by: rita)
    case .policy:
      try await instance.setWindow(1)
      device = try await instance.enrolled(.alice)
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      let old = try await policies.change(acme, by: .program(Instance.boss)) { edit in
        edit.configuration.state = .enabled
        edit.configuration.smsEnabled = true
        edit.pattern = .mandatory
        edit.mandatoryFrom = Day("2026-03-01")
        edit.enforcement = Day("2026-04-01").flatMap { Enforcement(.claim, from: $0, graceDays: 7) }
      }
      _ = try await policies.change(
        acme, expecting: old.value.policy.version,
        by: .console(
          try await instance.agent("rita", role: role).request(nil, note: "Clocks are off."))
      ) { $0.configuration.totp?.adjacentIntervals = 9 }
    }
    let decider = try await instance.agent("otto", role: .owner)
    let waiting = try await instance.identity.approvals.waiting(visibleTo: decider.administrator)
    return Request(
      approval: try #require(waiting.first),
      requester: try await instance.agent("rita", role: role), decider: decider, device: device)
  }

  /// Returns whether the change that a request is for was made.
  private func isDone(_ request: Request, _ instance: Instance) async throws -> Bool {
    switch request.approval.kind {
    case .factor, .factors:
      let account = try #require(request.device).account
      let left = try await instance.reload(account).factors.map(\.id.text)
      return request.approval.kind == .factor ? left == ["second"] : left.isEmpty
    case .job:
      let job = try #require(request.approval.job)
      return try await instance.job(job, by: request.requester).state == .running
    case .policy:
      let policy = try await instance.identity.policies.read(instance.acme)
      return policy.configuration.totp?.adjacentIntervals == 9
    }
  }

  private func setChange(_ text: String?, _ instance: Instance) async throws {
    try await instance.database.write { connection in
      try connection.run("UPDATE /* test */ approval SET change = \(text)")
    }
  }

  private static let kinds: [Approval.Kind] = [.factor, .factors, .job, .policy]

  @Test(arguments: kinds)
  func `the version before reads what it would have stored`(kind: Approval.Kind) async throws {
    try await withInstance { instance in
      let request = try await ask(kind, instance)
      let app = request.device?.factor.text ?? ""
      let uid = request.device?.account.id.text ?? ""
      let expected: [String] =
        switch kind {
        case .factor:
          ["factor", uid, "alice@example.com", "\(app)\n", "phone", "\(app)\nsecond\n", "0", "1"]
        case .factors:
          [
            "factors", uid, "alice@example.com", "\(app)\nsecond\n", "phone\nsecond phone",
            "\(app)\nsecond\n", "0", "1",
          ]
        case .job: ["job", "", "", "", "", "", "\(request.approval.job ?? -1)", "2"]
        case .policy: ["policy", "", "", "", "", "", "0", "1"]
        }
      let (columns, policies) = try await instance.database.read { connection in
        let columns = try connection.all(
          """
          SELECT /* test */ kind, uid, user_name, factors, factor_names, all_factors,
            coalesce(job_id, 0), users
          FROM approval
          """
        ) { row in
          try (0..<6).map { _ in try row.next() as String }
            + (0..<2).map { _ in String(try row.next() as Int) }
        }
        let policies = try connection.all(
          """
          SELECT /* test */ policy_version, mfa_state, sms, totp_state, totp_intervals, grace_days,
            pattern, mandatory_from, enforcement, enforced_from
          FROM approval_policy
          """
        ) { row in
          try (0..<6).map { _ in String(try row.next() as Int) }
            + (0..<4).map { _ in try row.next() as String }
        }
        return (columns, policies)
      }
      #expect(columns == [expected])
      let version = try await instance.identity.policies.read(instance.acme).version
      let values = [
        "\(version)", "2", "1", "2", "9", "7", "mandatory", "2026-03-01", "claim", "2026-04-01",
      ]
      #expect(policies == (kind == .policy ? [values] : []))
    }
  }

  @Test(arguments: kinds)
  func `a request of the version before is decided`(kind: Approval.Kind) async throws {
    for state in [Approval.State.approved, .refused, .withdrawn, .overtaken] {
      // The state of a list has nothing to do with what a request stores.
      if kind == .job, state == .overtaken { continue }
      try await withInstance { instance in
        let request = try await ask(kind, instance)
        try await setChange(nil, instance)
        let (approvals, id) = (instance.identity.approvals, request.approval.id)
        switch state {
        case .refused:
          try await approvals.refuse(
            id, in: instance.acme, answer: "No.", request.decider.request(nil))
        case .withdrawn:
          try await approvals.withdraw(id, in: instance.acme, request.requester.request(nil))
        default:
          if state == .overtaken {
            if kind == .policy {
              try await instance.setWindow(0)
            } else {
              // In place of the other phone.
              let account = try #require(request.device).account
              try await instance.addPhone("third", named: "third", to: account.id)
            }
          }
          _ = try await approvals.approve(id, in: instance.acme, request.decider.request(nil))
        }
        let closed = try await approvals.find(id, in: instance.acme)
        #expect(closed.state == state)
        #expect(try await isDone(request, instance) == (state == .approved), "\(state)")
        if state == .overtaken {
          let obstacles: [Approval.Kind: ApprovalObstacle] = [
            .factor: .factorEnrolled, .factors: .factorGone, .policy: .policyChanged,
          ]
          #expect(closed.obstacle == obstacles[kind])
        }
      }
    }
  }

  @Test(arguments: [Approval.Kind.factor, .factors, .policy])
  func `a request that a later version stored isn't carried out, and not lost`(
    kind: Approval.Kind
  ) async throws {
    try await withInstance { instance in
      let request = try await ask(kind, instance)
      let (approvals, id) = (instance.identity.approvals, request.approval.id)
      for text in [#"{"change":"locked","to":true,"seen":false}"#, "", Self.changes[4].1] {
        try await setChange(text, instance)
        let found = try await approvals.find(id, in: instance.acme)
        #expect(try await approvals.obstacle(to: found) == nil)
        await expect("unavailable") {
          try await approvals.approve(id, in: instance.acme, request.decider.request(nil))
        }
        #expect(try await approvals.find(id, in: instance.acme).state == .waiting)
      }
      #expect(try await !isDone(request, instance))
      try await approvals.refuse(
        id, in: instance.acme, answer: "No.", request.decider.request(nil))
      #expect(try await approvals.find(id, in: instance.acme).state == .refused)
    }
  }
}
