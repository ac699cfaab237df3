import Crypto
import Database
import JSON
import OTP
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// Tests who may resynchronize a factor, when, and how long its offset lasts.
struct ResynchronizationRuleTests {
  private func withDevice(
    _ body: (Instance, Device, Agent) async throws -> Void
  ) async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      try await instance.allowResynchronization()
      let device = try await instance.enrolled(.alice)
      try await body(instance, device, try await instance.agent())
    }
  }

  // MARK: - Who and when

  @Test func `it's off unless the pool allows it, and can be undone when it's off again`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      await expect("switchedOff") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      try await instance.allowResynchronization()
      try await instance.resynchronize(device, by: agent, off: 12)
      #expect(try await instance.enterNextCode(device, off: 12) == "done")
      try await instance.allowResynchronization(false)
      // What's stored stays in effect.
      #expect(try await instance.enterNextCode(device, off: 12) == "done")
      try await instance.clearOffset(device, by: agent)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorClearOffset && row.reason == "mistake")
      #expect(row.old(.clockOffset) == .number(12) && row.new(.clockOffset) == .absent)
      #expect(try await instance.mails("notice-clock-offset-cleared").count == 1)
      await expect("nothingToDo") { try await instance.clearOffset(device, by: agent) }
    }
  }

  @Test func `a user who is locked, suspended, or reported a change isn't resynchronized`()
    async throws
  {
    try await withDevice { instance, device, agent in
      for _ in 0..<5 {
        _ = try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
      }
      await expect("codesLocked") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      try await instance.unlockCodes(of: device)
      let support = instance.identity.support
      _ = try await support.suspend(
        instance.acme, device.account.id, device.factor,
        until: instance.now.advanced(bySeconds: 60), agent.request())
      await expect("factorsSuspended") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      instance.clock.advance(60)
      try await instance.reportChange(of: device.account.id)
      await expect("changesLocked") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      #expect(try await instance.clockOffset(device) == nil)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await support.allowChanges(instance.acme, device.account.id, owner.request())
      #expect(try await instance.resynchronize(device, by: agent, off: 12).offset == 12)
    }
  }

  @Test func `an agent doesn't resynchronize their own account, or a protected one`() async throws {
    try await withDevice { instance, device, agent in
      let owner = try await instance.agent("olga", role: .owner)
      let auditor = try await instance.agent("ava", role: .auditor)
      await expect("notAllowed") {
        try await instance.resynchronize(device, by: auditor, off: 12)
      }
      _ = try await instance.identity.support.protect(
        instance.acme, device.account.id, true, owner.request())
      await expect("protectedAccount") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      var change = AccountChange()
      change.email = .set(agent.administrator.email)
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      await expect("ownAccount") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
    }
  }

  @Test func `V10: nothing is compared with a clock that's doubted`() async throws {
    try await withDevice { instance, device, agent in
      let clock = instance.identity.clockGuard
      #expect(try await clock.check() == nil)
      instance.clock.advance(600)
      instance.clock.advance(2 * 3_600)
      #expect(try await clock.check() != nil)
      try await instance.reauthenticate(agent.session)
      await expect("clockDoubted") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      let factor = try #require(device.account.factors.first)
      let rules = try await instance.identity.support.settings(instance.acme)
      let denial = instance.identity.resynchronizations.denial(
        of: factor, of: device.account, by: rules)
      #expect(denial.map(caseName) == "clockDoubted")
      try await clock.confirm(by: .program(Author(actor: .commandLine)))
      #expect(try await instance.resynchronize(device, by: agent, off: 12).offset == 12)
    }
  }

  @Test func `a required code of the caller is used up only by a success`() async throws {
    try await withDevice { instance, device, agent in
      try await instance.setSupportRules { $0.callerVerification = .required }
      await expect("callerCodeRequired") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
      _ = try await instance.identity.support.sendCallerCode(
        to: device.account.id, in: instance.acme, agent.request(nil))
      let mail = try #require(try await instance.mails("caller-code").last)
      let line = mail.body.split(separator: "\n").first { $0.count == 9 && $0.contains(" ") }
      let callerCode = String(try #require(line))
      let wrong = try instance.pair(of: device, off: 100)
      for _ in 0..<2 {
        let result = try await instance.resynchronize(
          device, by: agent, wrong, callerCode: callerCode)
        #expect(result.offset == nil)
      }
      let right = try instance.pair(of: device, off: 12)
      let result = try await instance.resynchronize(
        device, by: agent, right, callerCode: callerCode)
      #expect(result.offset == 12)
      await expect("callerCodeExpired") {
        try await instance.resynchronize(device, by: agent, right, callerCode: callerCode)
      }
      let rows = try await instance.log()
      let row = try #require(rows.first { $0.action == .factorResynchronize })
      #expect(row.new(.callerVerification) == .code("email-code"))
    }
  }

  @Test func `each try is one of the agent's actions, and needs the agent's own code`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowResynchronization()
      try await instance.setSupportRules { $0.actionsPerHour = 2 }
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agentWithDevice()
      instance.clock.advance(16 * 60)
      let wrong = try instance.pair(of: device, off: 100)
      await expect("codeRequired") {
        try await instance.resynchronize(device, by: agent, wrong)
      }
      #expect(try await instance.reload(device.account).wrongCodes == 0)
      let own = try #require(agent.device)
      let outcome = try await instance.identity.resynchronizations.resynchronize(
        device.factor, of: device.account.id, in: instance.acme, with: wrong,
        agent.request(.locked, code: own.code(at: instance.now)))
      // Codes that don't match don't sign the agent out.
      let session = try #require(outcome.renewed).session
      #expect(outcome.value.offset == nil)
      #expect(try await instance.isReplaced(agent.session, by: session))
      let renewed = Agent(session: session)
      try await instance.resynchronize(device, by: renewed, wrong)
      await expect("held") { try await instance.resynchronize(device, by: renewed, off: 12) }
      #expect(try await instance.reload(device.account).wrongCodes == 2)
    }
  }

  @Test func `ten pairs that don't match lock the user's codes, as at sign-in`() async throws {
    try await withDevice { instance, device, agent in
      for _ in 0..<10 {
        instance.clock.advance(4 * 3_600)
        try await instance.reauthenticate(agent.session)
        let wrong = try instance.pair(of: device, off: 100)
        try await instance.resynchronize(device, by: agent, wrong)
      }
      #expect(try await instance.reload(device.account).codeLock(at: instance.now) == .closed)
      await expect("codesLocked") {
        try await instance.resynchronize(device, by: agent, off: 12)
      }
    }
  }

  // MARK: - How long the offset lasts

  @Test func `an undo of a removal keeps the offset, and a new enrollment has none`() async throws {
    try await withDevice { instance, device, agent in
      let erik = try await instance.agent("erik")
      try await instance.resynchronize(device, by: agent, off: 12)
      func remove() async throws -> Removal {
        try await instance.identity.factorRemovals.remove(
          instance.acme, device.account.id, device.factor, agent.request()
        ).value.removal
      }
      let hold = try #require(try await remove().hold)
      _ = try await instance.identity.factorRemovals.undo(
        instance.acme, device.account.id, hold.id, erik.request(.mistake))
      #expect(try await instance.clockOffset(device) == 12)
      #expect(try await instance.enterNextCode(device, off: 12) == "done")
      _ = try await remove()
      let other = try await instance.enroll(try await instance.session(.alice).session)
      #expect(try await instance.clockOffset(other) == nil)
    }
  }

  @Test(arguments: [true, false])
  func `an import keeps the offset of a factor whose ID it keeps, and another starts without`(
    isKept: Bool
  ) async throws {
    try await withDevice { instance, device, agent in
      try await instance.resynchronize(device, by: agent, off: 12)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.project?.importsTOTP = true }
      let id = isKept ? device.factor.text : "another"
      let row = ImportRow.user(.alice) {
        $0.localID = device.account.id.text
        $0.factors = [ImportedFactor(.totp(device.secret), id: id)]
      }
      let outcome = try await instance.identity.imports.run(
        instance.acme, [row], ImportOptions(existing: .replace), by: Instance.boss)
      #expect(outcome.replaced == 1)
      let factor = try #require(try await instance.reload(device.account).factors.first)
      #expect(factor.id.text == id && factor.clockOffset == (isKept ? 12 : nil))
    }
  }

  @Test func `an update of the user keeps the offset`() async throws {
    try await withDevice { instance, device, agent in
      try await instance.resynchronize(device, by: agent, off: 12)
      var change = AccountChange()
      change.factors = .replace([FactorEntry(id: device.factor.text, displayName: "token")])
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      #expect(try await instance.clockOffset(device) == 12)
    }
  }

  @Test func `the user's data has the offset`() async throws {
    try await withDevice { instance, device, agent in
      try await instance.resynchronize(device, by: agent, off: 12)
      let bytes = try await instance.identity.userData.export(
        instance.acme, device.account.id, by: .program(Instance.boss)
      ).value
      let factor = try #require(try JSON.parse(bytes)["factors"]?.arrayValue?.first)
      #expect(factor["clockOffset"]?.numberValue?.int64 == 12)
    }
  }

  @Test(arguments: [-30, 30] as [Int64])
  func `V1: a restore uses up the steps through the server's time and the device's`(
    offset: Int64
  ) async throws {
    try await withDevice { instance, device, agent in
      instance.clock.advance(3_600)
      try await instance.reauthenticate(agent.session)
      try await instance.resynchronize(device, by: agent, off: offset)
      try await instance.test.withRestored { restored, former in
        instance.clock.advance(60)
        #expect(try await instance.enterNextCode(device, off: offset) == "done")
        let now = instance.now.seconds / 30
        for known in [nil, former] as [(any Database)?] {
          let identity = try Identity(
            database: restored, keys: instance.keys, profile: .standalone, hasher: .cheap,
            mail: TestMail.writer, clock: instance.clock.wall)
          _ = try await identity.endTheRestoredPast(
            file: "f", keepsSessions: false, former: known, by: Author(actor: .commandLine))
          let row = try await restored.read { connection in
            try connection.first(
              "SELECT /* test */ last_step, unused_steps, clock_offset FROM factor"
            ) { row in
              (
                used: UsedSteps(last: try row.next(), unused: try row.next()),
                offset: try row.next() as Int64?
              )
            }
          }
          let (used, stored) = try #require(row.map { ($0.used, $0.offset) })
          let last = now + max(offset, 0)
          #expect(stored == offset)
          #expect(used.contains(last) && !used.contains(last + 1))
          #expect(used.contains(now + offset))
        }
      }
    }
  }
}

extension Instance {
  /// Signs in with the next code of a device whose clock is off.
  @discardableResult
  fileprivate func enterNextCode(_ device: Device, off offset: Int64) async throws -> String {
    clock.advance(30)
    return try await enterCode(device, code: device.code(at: now, steps: offset))
  }
}
