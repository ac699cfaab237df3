import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// Tests factors whose clock can't be set.
struct ResynchronizationTests {
  /// Runs a test with Alice, whose device an agent may resynchronize, in a pool with a narrow window.
  private func withDevice(
    window: Int = 1, _ body: (Instance, Device, Agent) async throws -> Void
  ) async throws {
    try await withInstance { instance in
      try await instance.setWindow(window)
      try await instance.allowResynchronization()
      let device = try await instance.enrolled(.alice)
      try await body(instance, device, try await instance.agent())
    }
  }

  @Test(arguments: [-40 + 1, -25, -2, 0, 2, 25, 40] as [Int64])
  func `two consecutive codes store how far the clock is off, and both are used`(
    offset: Int64
  ) async throws {
    try await withDevice { instance, device, agent in
      // So that no step of the pair is the enrollment's.
      instance.clock.advance(3_600)
      try await instance.reauthenticate(agent.session)
      let codes = try instance.pair(of: device, off: offset)
      #expect(try await instance.resynchronize(device, by: agent, codes).offset == Int(offset))
      #expect(try await instance.clockOffset(device) == Int(offset))
      for code in [codes.first, codes.second] {
        #expect(try await instance.enterCode(device, code: code.text) == "invalidCode")
      }
      instance.clock.advance(30)
      let next = try device.code(at: instance.now, steps: offset)
      #expect(try await instance.enterCode(device, code: next) == "done")
      #expect(try await instance.codeAttempts(device.account).first?.distance == 0)
      let row = try #require(
        try await instance.log().first { $0.action == .factorResynchronize })
      #expect(row.old(.clockOffset) == .absent && row.new(.clockOffset) == .number(Int(offset)))
      #expect(row.reason == "locked")
      #expect(try await instance.mails("notice-factor-resynchronized").count == 1)
    }
  }

  @Test func `the window is shifted, not widened`() async throws {
    try await withDevice { instance, device, agent in
      try await instance.setCodeCap(100)
      try await instance.resynchronize(device, by: agent, off: 12)
      var accepted: [Int64] = []
      for offset in -2...25 as ClosedRange<Int64> {
        instance.clock.advance(7_200)
        let code = try device.code(at: instance.now, steps: offset)
        if try await instance.enterCode(device, code: code) == "done" { accepted.append(offset) }
      }
      #expect(accepted == [11, 12, 13])
      let attempts = try await instance.codeAttempts(device.account)
      // Near misses are those near the factor's time; the newest attempts are of 6 to 25.
      let misses = attempts.filter { $0.result == .late || $0.result == .early }
      #expect(misses.compactMap(\.distance) == [10, 9, 8, 7, 6, 5, 4, 3, 2, -2, -3, -4, -5, -6])
    }
  }

  @Test func `codes that don't match are one incorrect code, and change nothing else`()
    async throws
  {
    try await withDevice { instance, device, agent in
      let codes = try instance.pair(of: device, off: 12)
      let swapped = CodePair(first: codes.second, second: codes.first)
      guard case .codesWrong = try await instance.resynchronize(device, by: agent, swapped) else {
        Issue.record("codes in the wrong order match")
        return
      }
      let account = try await instance.reload(device.account)
      #expect(account.wrongCodes == 1 && account.factors.first?.clockOffset == nil)
      let attempt = try #require(try await instance.codeAttempts(device.account).first)
      #expect((attempt.way, attempt.result) == (.resynchronization, .wrong))
      #expect(attempt.origin.address.isEmpty && attempt.origin.userAgent.isEmpty)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorRefuseResynchronization && row.reason == "locked")
      #expect(row.old(.wrongCodes) == .number(0) && row.new(.wrongCodes) == .number(1))
      #expect(try await instance.mails("notice-factor-resynchronized").isEmpty)
      // Neither code is used.
      #expect(try await instance.resynchronize(device, by: agent, codes).offset == 12)
      // A success doesn't reset the count.
      #expect(try await instance.reload(device.account).wrongCodes == 1)
    }
  }

  @Test func `text that isn't a code is no try`() async throws {
    try await withDevice { instance, device, agent in
      for (first, second, faults) in [
        ("12345", "123456", "firstCodeMalformed"), ("123456", "", "secondCodeMalformed"),
        ("a", "b", "firstCodeMalformed+secondCodeMalformed"),
      ] {
        await expect(faults) {
          try await instance.resynchronize(
            device, by: agent, CodePair(first: TypedCode(first), second: TypedCode(second)))
        }
      }
      let account = try await instance.reload(device.account)
      #expect(account.wrongCodes == 0)
      #expect(try await instance.log().allSatisfy { $0.action != .factorRefuseResynchronization })
    }
  }

  @Test func `V1: used steps stay used, whatever the offset becomes`() async throws {
    try await withDevice { instance, device, agent in
      instance.clock.advance(7_200)
      try await instance.reauthenticate(agent.session)
      let used = try device.code(at: instance.now)
      #expect(try await instance.enterCode(device, code: used) == "done")
      let step = instance.now
      // A pair with the used code, or of steps before it, isn't accepted, and isn't counted: also the
      // codes of 20 to 10.5 minutes before, of which none was accepted.
      for offset in [0, 1, -5, -21, -30, -39] as [Int64] {
        let result = try await instance.resynchronize(device, by: agent, off: offset)
        guard case .codesOld(let until) = result else {
          Issue.record("an old step was accepted at \(offset)")
          continue
        }
        #expect(until == instance.now.advanced(bySeconds: (1 - offset) * 30))
      }
      #expect(try await instance.reload(device.account).wrongCodes == 0)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorRefuseResynchronization && row.new(.wrongCodes) == nil)
      try await instance.resynchronize(device, by: agent, off: 30)
      let later = try device.code(at: instance.now, steps: 30)
      #expect(try await instance.enterCode(device, code: later) == "invalidCode")
      let cleared = try await instance.clearOffset(device, by: agent)
      #expect(try await instance.clockOffset(device) == nil)
      // The device shows the right time now; the steps up to that of the pair are used.
      let from = instance.now.advanced(bySeconds: 31 * 30)
      #expect(cleared.acceptedFrom == from)
      #expect(try await instance.enterCode(device, code: used) == "invalidCode")
      guard case .reused(let said) = try await instance.records(of: device.account).diagnosis.cause
      else {
        Issue.record("a used code isn't noticed")
        return
      }
      #expect(said?.seconds == from.seconds)
      // The server's time reaches the used step of the shifted time.
      instance.clock.advance(30 * 30)
      #expect(instance.now.seconds - step.seconds == 900)
      #expect(try await instance.enterCode(device, code: later) == "invalidCode")
      instance.clock.advance(60)
      let next = try device.code(at: instance.now)
      #expect(try await instance.enterCode(device, code: next) == "done")
    }
  }

  /// The clock of the device drifts and is set, and agents resynchronize it; the model is the set of
  /// accepted steps.
  @Test(arguments: 0..<6 as Range<UInt64>)
  func `V1: no step is accepted twice by sign-ins and resynchronizations`(seed: UInt64) async throws
  {
    try await withDevice(window: 3) { instance, device, agent in
      var random = Seeded(seed)
      var accepted: Set<Int64> = []
      var off: Int64 = 0
      for _ in 0..<40 {
        instance.clock.advance(Int64.random(in: 0...1_500, using: &random))
        try await instance.reauthenticate(agent.session)
        try await instance.unlockCodes(of: device)
        if Int.random(in: 0..<4, using: &random) == 0 {
          off = Int64.random(in: -39...40, using: &random)
        }
        let step = instance.now.seconds / 30 + off
        var steps: [Int64] = []
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          let result = try await instance.resynchronize(device, by: agent, off: off)
          if result.offset != nil { steps = [step - 1, step] }
        case 1:
          guard try await instance.clockOffset(device) != nil else { continue }
          try await instance.clearOffset(device, by: agent)
        default:
          let code = try device.code(at: instance.now, steps: off)
          if try await instance.enterCode(device, code: code) == "done" { steps = [step] }
        }
        for step in steps { #expect(accepted.insert(step).inserted) }
      }
      #expect(accepted.count > 5)
    }
  }

  @Test func `two successes in a row with the same remaining direction move the offset`()
    async throws
  {
    try await withDevice { instance, device, agent in
      try await instance.resynchronize(device, by: agent, off: 12)
      func signIn(_ offset: Int64) async throws -> Int? {
        instance.clock.advance(3_600)
        let code = try device.code(at: instance.now, steps: offset)
        #expect(try await instance.enterCode(device, code: code) == "done")
        return try await instance.clockOffset(device)
      }
      #expect(try await signIn(13) == 12)
      #expect(try await signIn(13) == 13)
      #expect(try await signIn(14) == 13)
      #expect(try await signIn(13) == 13)
      #expect(try await signIn(12) == 13)
      #expect(try await signIn(12) == 12)
    }
  }

  @Test func `a factor that wasn't resynchronized doesn't follow its codes`() async throws {
    try await withDevice { instance, device, _ in
      for _ in 0..<4 {
        instance.clock.advance(3_600)
        let code = try device.code(at: instance.now, steps: 1)
        #expect(try await instance.enterCode(device, code: code) == "done")
      }
      #expect(try await instance.clockOffset(device) == nil)
      let attempts = try await instance.codeAttempts(device.account).prefix(4)
      #expect(attempts.allSatisfy { $0.distance == 1 })
    }
  }

  @Test func `the diagnosis and the histogram use the remaining offset`() async throws {
    try await withDevice { instance, device, agent in
      for _ in 0..<2 {
        instance.clock.advance(600)
        let code = try device.code(at: instance.now, steps: -7)
        #expect(try await instance.enterCode(device, code: code) == "invalidCode")
      }
      guard case .drift = try await instance.records(of: device.account).diagnosis.cause else {
        Issue.record("a slow clock isn't noticed")
        return
      }
      try await instance.reauthenticate(agent.session)
      try await instance.resynchronize(device, by: agent, off: -7)
      #expect(try await instance.records(of: device.account).diagnosis.cause == nil)
      for _ in 0..<2 {
        instance.clock.advance(600)
        let code = try device.code(at: instance.now, steps: -8)
        #expect(try await instance.enterCode(device, code: code) == "done")
      }
      #expect(try await instance.records(of: device.account).diagnosis.drift == nil)
      let histogram = try await instance.identity.activity.offsets(in: instance.acme, days: 1)
      #expect(histogram.accepted[9] == 2 && histogram.accepted.reduce(0, +) == 2)
      // The sign-in doesn't confirm near misses of the former time.
      #expect(histogram.confirmed.allSatisfy { $0 == 0 })
    }
  }

  @Test func `codes that don't match aren't taken for backup codes that are off`() async throws {
    try await withDevice { instance, device, agent in
      try await instance.allowBackupCodes()
      _ = try await instance.recoveryCodes(.alice, device)
      try await instance.allowBackupCodes(recovery: false)
      for _ in 0..<3 { try await instance.resynchronize(device, by: agent, off: 100) }
      let records = try await instance.records(of: device.account)
      guard case .incorrect(count: 3) = records.diagnosis.cause else {
        throw Unexpected("another cause")
      }
    }
  }
}
