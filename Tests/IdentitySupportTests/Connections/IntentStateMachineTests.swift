import Database
import IdentityToolkitClient
import JSON
import Synchronization
import TestDatabases
import Testing
import Text

@testable import Identity
@testable import TestIdentity

/// Random changes there and here, lost answers, crashes, and old answers.
@Suite struct IntentStateMachineTests {
  private static let users = ["a", "b", "c"]
  private static let steps = 40

  @Test(arguments: 0..<6)
  func `the mirror converges, and each change is written once at most and has its entries`(
    _ seed: Int
  ) async throws {
    try await withInstance { instance in
      let machine = try await Machine(instance, seed: UInt64(seed))
      for _ in 0..<Self.steps { try await machine.step() }
      try await machine.settle()
      try await machine.check()
    }
  }

  private final class Machine {
    let instance: Instance
    let pool: Pool
    let agent: Agent
    var dice: Seeded
    /// The factors that were removed by a change that's done.
    var removed: Set<String> = []
    private var number = 0

    var remote: TestRemote { instance.remote }
    var connections: Connections { instance.identity.connections }

    init(_ instance: Instance, seed: UInt64) async throws {
      self.instance = instance
      dice = Seeded(seed)
      for user in users {
        instance.remote.set(
          TestRemote.user(user, totp: true, phone: "+1555555010\(user.utf8.count)"))
      }
      pool = try await instance.connect(access: .policy)
      try await instance.sync(pool)
      agent = try await instance.agent("olga", role: .owner)
    }

    func step() async throws {
      instance.clock.advance(Int64.random(in: 1...20, using: &dice))
      switch Int.random(in: 0..<10, using: &dice) {
      case 0...2: changeThere()
      case 3: try await read()
      case 4: try await connections.finishChanges()
      default: try await changeHere()
      }
    }

    private func changeThere() {
      let id = users.randomElement(using: &dice) ?? "a"
      guard var user = remote.behavior.users[""]?[id] else { return }
      var factors = user["mfaInfo"]?.arrayValue ?? []
      switch Int.random(in: 0..<4, using: &dice) {
      case 0:
        number += 1
        factors.append([
          "mfaEnrollmentId": .string("\(id)-new-\(number)"), "totpInfo": [:],
          "enrolledAt": "2026-02-03T04:05:06Z",
        ])
        user["mfaInfo"] = .array(factors)
      case 1: user["mfaInfo"] = .array(Array(factors.dropFirst()))
      case 2: user["disabled"] = .bool(Bool.random(using: &dice))
      default:
        let intervals = JSON.Number(Int.random(in: 1...10, using: &dice))
        remote.behavior.mfa = [
          "state": "ENABLED",
          "providerConfigs": [
            ["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": .number(intervals)]]
          ],
        ]
        return
      }
      remote.set(user)
    }

    /// Reads everything, sometimes with a change while a page is on its way, so that its answer is old.
    private func read() async throws {
      if Bool.random(using: &dice) {
        let isFirst = Mutex(true)
        let change = try await request()
        remote.behavior.afterward = { [instance, connections] address in
          guard address.contains("batchGet"),
            isFirst.withLock({ first in
              defer { first = false }
              return first
            }), let change
          else { return }
          instance.clock.advance(2)
          try await connections.carryOut(change)
        }
      }
      try await instance.sync(pool)
      remote.behavior.afterward = nil
    }

    private func changeHere() async throws {
      let failure = Int.random(in: 0..<6, using: &dice)
      switch failure {
      case 0:
        remote.behavior.afterward = { address in
          if address.contains("accounts:update") || address.contains("updateMask") {
            throw Failure("lost")
          }
        }
      case 1:
        remote.behavior.faults = [
          "accounts:update": RemoteResponse(status: 502, body: []),
          "updateMask": RemoteResponse(status: 502, body: []),
        ]
      case 2: remote.behavior.faults = ["accounts:update": .error(403, "no")]
      default: break
      }
      let id = try await request()
      // Otherwise, the process dies before it sends it.
      if let id, failure != 3 { await connections.settle(id) }
      remote.behavior.faults = [:]
      remote.behavior.afterward = nil
      guard let id else { return }
      let intent = try await connections.change(id, in: pool)
      if intent.state == .done, case .factorsRemoved(let factor, let seen) = intent.change {
        removed.formUnion(factor.map { [$0.text] } ?? seen.map(\.text))
      }
    }

    /// Requests a change; nil if it's denied.
    private func request() async throws -> Int64? {
      let user = ID<Account>(users.randomElement(using: &dice) ?? "a")
      let kind = Int.random(in: 0..<5, using: &dice)
      let intervals = Int.random(in: 1...10, using: &dice)
      let account = try await instance.identity.accounts.find(pool, user)
      do {
        switch kind {
        case 0, 1:
          let factor = account?.factors.randomElement(using: &dice)?.id
          let outcome = try await instance.identity.factorRemovals.remove(
            pool, user, kind == 0 ? factor : nil, agent.request())
          if case .requested(let id) = outcome.value { return id }
        case 2:
          let support = instance.identity.support
          let outcome =
            try await account?.disabled == true
            ? support.enable(pool, user, agent.request(.mistake))
            : support.disable(pool, user, agent.request(.left))
          if case .requested(let id) = outcome.value { return id }
        case 3:
          let outcome = try await instance.identity.support.endSessions(
            pool, user, agent.request(.lost))
          if case .requested(let id) = outcome.value { return id }
        default:
          let policies = instance.identity.policies
          let version = try await policies.read(pool).version
          let outcome = try await policies.change(
            pool, expecting: version, by: .console(agent.request(nil, note: "why"))
          ) { $0.configuration.totp?.adjacentIntervals = intervals }
          if case .requested(let id) = outcome.value { return id }
        }
      } catch is ActionDenial {}
      return nil
    }

    /// Lets everything come to rest.
    func settle() async throws {
      instance.clock.advance(120)
      try await connections.finishChanges()
      try await instance.sync(pool)
    }

    func check() async throws {
      for id in users {
        let account = try #require(try await instance.identity.accounts.find(pool, ID(id)))
        let there = try #require(remote.behavior.users[""]?[id])
        let factors = there["mfaInfo"]?.arrayValue ?? []
        #expect(
          account.factors.map(\.id.text)
            == factors.compactMap { $0["mfaEnrollmentId"]?.textValue?.text })
        #expect(account.disabled == (there["disabled"]?.boolValue ?? false))
        #expect(removed.isDisjoint(with: account.factors.map(\.id.text)))
      }
      let policy = try await instance.identity.policies.read(pool)
      let mfa = remote.behavior.mfa["providerConfigs"]?.arrayValue?.first
      let intervals = mfa?["totpProviderConfig"]?["adjacentIntervals"]?.numberValue?.int64
      #expect(policy.configuration.totp?.adjacentIntervals.map { Int64($0) } == intervals)
      let intents = try await instance.database.read { connection in
        try Intent.all("i.intent_id > 0", connection)
      }
      #expect(!intents.isEmpty && intents.allSatisfy { $0.endedAt != nil })
      let calls = remote.calls.count {
        $0.contains("accounts:update") || $0.contains("updateMask")
      }
      // One of them was the connection's check.
      #expect(calls - 1 <= intents.count { $0.sentAt != nil })
      #expect(remote.writes.count <= calls - 1)
      let log = try await instance.wholeLog()
      for intent in intents {
        let request = log.filter { $0.id == intent.id }
        #expect(request.map(\.action) == [.changeRequest])
        let ends = log.filter { $0.new(.changeRequest) == .number(Int(intent.id)) }
        // One that was unknown can be done later.
        #expect(ends.count == 1, "\(intent.state) \(ends.map(\.action))")
      }
    }
  }
}
