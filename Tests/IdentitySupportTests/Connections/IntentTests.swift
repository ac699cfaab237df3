import Database
import IdentityToolkitClient
import JSON
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct IntentTests {
  /// A connected pool with a user who has an authenticator app and a phone, and an agent.
  private func withUser(
    access: AccessLevel = .policy, _ body: (Instance, Pool, Agent) async throws -> Void
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      instance.remote.set(TestRemote.user("a", totp: true, phone: "+15555550100"))
      instance.remote.behavior.tenants = ["east": TestRemote.tenant("east")]
      let pool = try await instance.connect(access: access)
      try await instance.sync(pool)
      instance.clock.advance(10)
      try await body(instance, pool, try await instance.agent("olga", role: .owner))
    }
  }

  private func entries(_ instance: Instance) async throws -> [AuditAction] {
    try await instance.wholeLog().reversed().compactMap(\.action).filter { action in
      [
        .changeRequest, .changeRefuse, .changeUnknown, .changeLapse, .factorRemove,
        .factorRemoveAll, .accountChange, .sessionsEnd, .policyChange, .policyWiden,
      ].contains(action)
    }
  }

  @Test func `a factor is removed where the user is, and the others are kept`() async throws {
    try await withUser { instance, pool, agent in
      let (id, intent) = try await instance.removal(of: "a-phone", from: "a", in: pool, by: agent)
      #expect(intent.state == .done && intent.sentAt != nil)
      #expect(
        instance.remote.writes == [
          """
          {"localId":"a","mfa":{"enrollments":[{"mfaEnrollmentId":"a-app","displayName":"phone",\
          "enrolledAt":"2026-01-02T03:04:05.678901Z","totpInfo":{}}]},"validSince":\
          "\(instance.now.seconds + 1)"}
          """
        ])
      let account = try #require(try await instance.identity.accounts.find(pool, ID("a")))
      #expect(account.factors.map(\.id) == [ID("a-app")])
      #expect(try await entries(instance).suffix(2) == [.changeRequest, .factorRemove])
      let rows = try await instance.wholeLog().prefix(2).reversed()
      #expect(rows.first?.id == id && rows.first?.actorName == agent.administrator.displayName)
      #expect(rows.last?.new(.changeRequest) == .number(Int(id)))
      #expect(rows.last?.actorName == agent.administrator.displayName)
      #expect(rows.last?.reason == SupportReason.lost.rawValue)
      // The other Countersign tells its users itself.
      #expect(
        try await instance.test.query("SELECT purpose FROM outbox WHERE purpose LIKE 'notice-%'")
          == [])
    }
  }

  @Test func `all factors are removed, users disabled and enabled, and sessions ended`()
    async throws
  {
    try await withUser { instance, pool, agent in
      let support = instance.identity.support
      let (_, all) = try await instance.removal(of: nil, from: "a", in: pool, by: agent)
      #expect(all.state == .done)
      let changes: [@Sendable () async throws -> ActionOutcome<UserChangeOutcome>] = [
        { try await support.disable(pool, ID("a"), agent.request(.left)) },
        { try await support.enable(pool, ID("a"), agent.request(.mistake)) },
        { try await support.endSessions(pool, ID("a"), agent.request(.lost)) },
      ]
      for change in changes {
        instance.clock.advance(5)
        guard case .requested(let id) = try await change().value else {
          throw Failure("not requested")
        }
        await instance.identity.connections.settle(id)
        #expect(try await instance.identity.connections.change(id, in: pool).state == .done)
      }
      let since = instance.now.seconds
      #expect(
        instance.remote.writes == [
          #"{"localId":"a","mfa":{"enrollments":[]},"validSince":"\#(since - 14)"}"#,
          #"{"localId":"a","disableUser":true,"validSince":"\#(since - 9)"}"#,
          #"{"localId":"a","disableUser":false}"#,
          #"{"localId":"a","validSince":"\#(since + 1)"}"#,
        ])
      #expect(
        try await entries(instance).suffix(8) == [
          .changeRequest, .factorRemoveAll, .changeRequest, .accountChange, .changeRequest,
          .accountChange, .changeRequest, .sessionsEnd,
        ])
    }
  }

  @Test func `a policy is changed by its parts, and its zero is known from then on`()
    async throws
  {
    try await withUser { instance, project, agent in
      let policies = instance.identity.policies
      for tenant in [nil, ID<Tenant>("east")] {
        let pool = try await instance.identity.pools.existing(
          project: project.project, tenant: tenant)
        let version = try await policies.read(pool).version
        let outcome = try await policies.change(
          pool, expecting: version, by: .console(agent.request(nil))
        ) { $0.configuration.totp?.adjacentIntervals = 0 }
        guard case .requested(let id) = outcome.value else {
          throw Failure("not requested")
        }
        await instance.identity.connections.settle(id)
        #expect(try await instance.identity.connections.change(id, in: pool).state == .done)
        #expect(try await policies.read(pool).configuration.totp?.intervals == .number(0))
        #expect(try await entries(instance).suffix(2) == [.changeRequest, .policyChange])
      }
      let path = "v2/projects/remote-app"
      let patches = instance.remote.calls.filter { $0.contains("updateMask") }
      #expect(
        patches.map { $0.replacing("%2C", with: ",") } == [
          "\(path)/config?updateMask=mfa.state,mfa.providerConfigs",
          "\(path)/tenants/east?updateMask=mfaConfig.state,mfaConfig.providerConfigs",
        ])
      #expect(
        instance.remote.writes.first == """
          {"mfa":{"state":"ENABLED","providerConfigs":[{"state":"ENABLED",\
          "totpProviderConfig":{"adjacentIntervals":0}}]}}
          """)
      // A read that says nothing of the number doesn't unlearn it.
      instance.remote.behavior.mfa = [
        "state": "ENABLED", "providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]],
      ]
      try await instance.sync(project)
      #expect(try await policies.read(project).configuration.totp?.intervals == .number(0))
    }
  }

  @Test func `text messages are turned on alone, and nothing else at the same time`()
    async throws
  {
    try await withUser { instance, pool, agent in
      let policies = instance.identity.policies
      let version = try await policies.read(pool).version
      await #expect(throws: PolicyError.self) {
        try await policies.change(pool, expecting: version, by: .console(agent.request(nil))) {
          $0.configuration.setSMS(true)
          $0.configuration.totp?.adjacentIntervals = 1
        }
      }
      let outcome = try await policies.change(
        pool, expecting: version, by: .console(agent.request(nil))
      ) { $0.configuration.setSMS(true) }
      guard case .requested(let id) = outcome.value else { throw Failure("not requested") }
      await instance.identity.connections.settle(id)
      #expect(instance.remote.writes == [#"{"mfa":{"enabledProviders":["PHONE_SMS"]}}"#])
      #expect(try await policies.read(pool).configuration.isSMSOn)
    }
  }

  @Test(arguments: ["enrolled", "gone", "disabled", "sessions", "policy", "user"])
  func `nothing is sent if it isn't what the person saw`(_ what: String) async throws {
    try await withUser { instance, pool, agent in
      let (identity, remote) = (instance.identity, instance.remote)
      var user = TestRemote.user("a", totp: true, phone: "+15555550100")
      switch what {
      case "enrolled":
        let factors = user["mfaInfo"]?.arrayValue ?? []
        user["mfaInfo"] = .array(
          factors + [["mfaEnrollmentId": "new", "displayName": "tablet", "totpInfo": [:]]])
      case "gone": user["mfaInfo"] = .array(Array((user["mfaInfo"]?.arrayValue ?? []).prefix(1)))
      case "disabled": user["disabled"] = true
      case "sessions": user["validSince"] = "1700000900"
      default: break
      }
      what == "user" ? remote.remove("a") : remote.set(user)
      if what == "policy" { remote.behavior.mfa = ["state": "DISABLED"] }
      let id: Int64
      switch what {
      case "disabled":
        guard
          case .requested(let number) = try await identity.support.disable(
            pool, ID("a"), agent.request(.left)
          ).value
        else { throw Failure("not requested") }
        id = number
      case "sessions":
        guard
          case .requested(let number) = try await identity.support.endSessions(
            pool, ID("a"), agent.request(.lost)
          ).value
        else { throw Failure("not requested") }
        id = number
      case "policy":
        let version = try await identity.policies.read(pool).version
        let outcome = try await identity.policies.change(
          pool, expecting: version, by: .console(agent.request(nil))
        ) { $0.configuration.totp?.adjacentIntervals = 1 }
        guard case .requested(let number) = outcome.value else {
          throw Failure("not requested")
        }
        id = number
      default:
        id = try await instance.removal(of: "a-phone", from: "a", in: pool, by: agent).id
      }
      await identity.connections.settle(id)
      let intent = try await identity.connections.change(id, in: pool)
      #expect(intent.state == .refused && intent.sentAt == nil)
      switch what {
      case "enrolled": #expect(intent.cause == .factorEnrolled("tablet"))
      case "gone": #expect(intent.cause == .factorGone("+15555550100"))
      case "disabled": #expect(intent.cause == .isDisabled(true))
      case "sessions": #expect(intent.cause == .sessionsEnded)
      case "policy": #expect(intent.cause?.policy?.configuration.isTOTPOn == false)
      default: #expect(intent.cause == .gone)
      }
      #expect(remote.writes == [])
      #expect(try await entries(instance).contains(.changeRefuse))
    }
  }

  @Test func `a lost answer is read, and what stays unclear is unknown and never sent again`()
    async throws
  {
    try await withUser { instance, pool, agent in
      let remote = instance.remote
      // The answer is lost after the change.
      remote.behavior.afterward = { address in
        if address.contains("accounts:update") { throw Failure("lost") }
      }
      let (_, first) = try await instance.removal(of: "a-phone", from: "a", in: pool, by: agent)
      #expect(first.state == .done)
      #expect(remote.writes.count == 1)
      // Now before it.
      remote.behavior.afterward = nil
      remote.behavior.faults = [
        "accounts:update": RemoteResponse(status: 502, body: Array("down".utf8))
      ]
      instance.clock.advance(5)
      let (id, second) = try await instance.removal(of: nil, from: "a", in: pool, by: agent)
      #expect(second.state == .unknown && second.cause == .unconfirmed)
      #expect(try await entries(instance).suffix(2) == [.changeRequest, .changeUnknown])
      let known = [try await instance.connection(pool)]
      let connections = instance.identity.connections
      #expect(try await connections.unknownChanges(of: known).map(\.id) == [id])
      try await connections.finishChanges()
      // One of them was the connection's check.
      #expect(remote.calls.count { $0.contains("accounts:update") } == 3)
      // Someone looks again later, when the remote has done it after all.
      remote.behavior.faults = [:]
      remote.set(TestRemote.user("a"))
      instance.clock.advance(5)
      await connections.reread(id, in: pool)
      #expect(try await connections.change(id, in: pool).state == .done)
      #expect(try await connections.unknownChanges(of: known).isEmpty)
    }
  }

  @Test(arguments: [
    (RemoteResponse.error(400, "UNSUPPORTED_SECOND_FACTOR : x"), RemoteFault.Cause.factorRefused),
    (RemoteResponse.error(403, "The caller does not have permission"), nil),
    (RemoteResponse.error(429, "Quota exceeded"), .quota(seconds: 5)),
  ])
  func `a refusal changes nothing and isn't repeated`(
    _ response: RemoteResponse, _ cause: RemoteFault.Cause?
  ) async throws {
    try await withUser { instance, pool, agent in
      instance.remote.behavior.faults = ["accounts:update": response]
      let (_, intent) = try await instance.removal(of: "a-phone", from: "a", in: pool, by: agent)
      #expect(intent.state == .refused)
      if let cause { #expect(intent.cause == .remote(cause)) }
      // One of them was the connection's check.
      #expect(instance.remote.calls.count { $0.contains("accounts:update") } == 2)
      let account = try await instance.identity.accounts.find(pool, ID("a"))
      #expect(account?.factors.count == 2)
    }
  }

  @Test func `a change that its sender left lapses if it wasn't sent, or else is read`()
    async throws
  {
    try await withUser { instance, pool, agent in
      // The other process stores its intents, and dies before it sends them.
      let other = try instance.identity()
      let outcome = try await other.factorRemovals.remove(
        pool, ID("a"), ID("a-phone"), agent.request())
      guard case .requested(let id) = outcome.value else { throw Failure("not requested") }
      let connections = instance.identity.connections
      try await connections.finishChanges()
      #expect(try await connections.change(id, in: pool).state == .waiting)
      // Only one change of a user at a time.
      await #expect(throws: ActionDenial.self) {
        try await instance.identity.factorRemovals.remove(
          pool, ID("a"), nil, agent.request())
      }
      instance.clock.advance(90)
      try await connections.finishChanges()
      #expect(try await connections.change(id, in: pool).state == .lapsed)
      #expect(try await entries(instance).last == .changeLapse)
      let sent = try await other.factorRemovals.remove(
        pool, ID("a"), ID("a-phone"), agent.request())
      guard case .requested(let next) = sent.value else { throw Failure("not requested") }
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ intent SET state = 'sent', sent_at = 1 WHERE intent_id = \(next)")
      }
      instance.remote.set(TestRemote.user("a", totp: true))
      instance.clock.advance(90)
      try await connections.finishChanges()
      #expect(try await connections.change(next, in: pool).state == .done)
      #expect(instance.remote.writes == [])
    }
  }

  @Test func `an access level that doesn't include the change doesn't offer it`() async throws {
    try await withUser(access: .support) { instance, pool, agent in
      let version = try await instance.identity.policies.read(pool).version
      await #expect(throws: ActionDenial.self) {
        try await instance.identity.policies.change(
          pool, expecting: version, by: .console(agent.request(nil))
        ) { $0.configuration.totp?.adjacentIntervals = 1 }
      }
      let (_, intent) = try await instance.removal(of: "a-phone", from: "a", in: pool, by: agent)
      #expect(intent.state == .done)
    }
    try await withUser(access: .read) { instance, pool, agent in
      await #expect(throws: ActionDenial.self) {
        try await instance.removal(of: "a-phone", from: "a", in: pool, by: agent)
      }
    }
  }

  @Test func `a paused connection takes no changes, and a restore ends those under way`()
    async throws
  {
    try await withUser { instance, pool, agent in
      let outcome = try await instance.identity.factorRemovals.remove(
        pool, ID("a"), ID("a-phone"), agent.request())
      guard case .requested(let id) = outcome.value else { throw Failure("not requested") }
      let now = instance.now
      try await instance.database.write { connection in
        try Connections.pauseAll(because: .restored, at: now, connection)
      }
      let intent = try await instance.identity.connections.change(id, in: pool)
      #expect(intent.state == .lapsed && intent.cause == .restored)
      await #expect(throws: ActionDenial.self) {
        try await instance.removal(of: nil, from: "a", in: pool, by: agent)
      }
    }
  }
}

extension Instance {
  /// Requests the removal of a factor, or of all, and returns how it went.
  fileprivate func removal(
    of factor: String?, from user: String, in pool: Pool, by agent: Agent
  ) async throws -> (id: Int64, intent: Intent) {
    let outcome = try await identity.factorRemovals.remove(
      pool, ID(user), factor.map { ID($0) }, agent.request())
    guard case .requested(let id) = outcome.value else { throw Failure("not requested") }
    await identity.connections.settle(id)
    return (id, try await identity.connections.change(id, in: pool))
  }
}
