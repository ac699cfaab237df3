import Identity
import Testing

/// Factors whose codes are refused for a while.
struct SuspensionTests {
  private func suspend(
    _ instance: Instance, _ device: Device, seconds: Int64
  ) async throws -> Suspension {
    let agent = try await instance.agent()
    return try await instance.identity.desk.suspend(
      instance.acme, device.account.id, device.factor,
      until: instance.now.advanced(bySeconds: seconds), agent.request()
    ).value
  }

  @Test func `a second factor stays due, its codes are wrong ones, and it ends by itself`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let suspended = try await instance.reload(device.account)
      #expect(suspended.factors.first?.isSuspended(at: instance.now) == true)
      let pending = try await instance.pending(.alice)
      await expect("invalidCode") {
        try await instance.finalize(
          device, pending, code: device.code(at: instance.now))
      }
      // It counts as a wrong one does: neither more nor less tells that it was right.
      #expect(try await instance.reload(device.account).wrongCodes == 1)
      let log = try await instance.log()
      let row = try #require(log.first { $0.action == "factor.suspend" })
      #expect(row.reason == "lost" && row.to?.hasPrefix("suspended until 2026-") == true)
      instance.clock.advance(600)
      let after = try await instance.reload(device.account)
      #expect(after.factors.first?.isSuspended(at: instance.now) == false)
      _ = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      #expect(try await instance.reload(device.account).wrongCodes == 0)
    }
  }

  @Test func `a session that is open does not withdraw it`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let (session, id) = (device.session, device.factor.text)
      await expect("factorSuspended") {
        try await instance.identity.enrolments.withdraw(
          session, enrolment: id, by: Instance.visitor)
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
      instance.clock.advance(600)
      _ = try await instance.identity.enrolments.withdraw(
        session, enrolment: id, by: Instance.visitor)
      #expect(try await instance.reload(device.account).factors.isEmpty)
    }
  }

  @Test func `right codes of a suspended factor are slowed down as wrong ones are`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 3_600)
      let pending = try await instance.pending(.alice)
      for _ in 0..<4 {
        instance.clock.advance(30)
        await expect("invalidCode") {
          try await instance.finalize(device, pending, code: device.code(at: instance.now))
        }
      }
      await expect("quotaExceeded") {
        try await instance.finalize(device, pending, code: device.code(at: instance.now))
      }
    }
  }

  @Test func `a suspension that is ended early lets codes count at once`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let agent = try await instance.agent()
      let (desk, id) = (instance.identity.desk, device.account.id)
      _ = try await desk.resume(instance.acme, id, device.factor, agent.request(.found))
      await expect("nothingToDo") {
        try await desk.resume(instance.acme, id, device.factor, agent.request(.found))
      }
      _ = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      let row = try #require(try await instance.log().first { $0.action == "factor.resume" })
      #expect(row.reason == "found" && row.from?.contains("suspended until") == true)
    }
  }

  @Test func `thirty days at most, and not in the past`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for seconds in [0, -1, 30 * 86_400 + 1] as [Int64] {
        await expect("untilOutOfRange") {
          try await suspend(instance, device, seconds: seconds)
        }
      }
      let agent = try await instance.agent()
      await expect("untilOutOfRange") {
        try await instance.identity.desk.suspend(
          instance.acme, device.account.id, device.factor, until: nil, agent.request())
      }
      _ = try await suspend(instance, device, seconds: 30 * 86_400)
      // Another moment takes its place, with what it was in the row.
      _ = try await suspend(instance, device, seconds: 60)
      #expect(try await instance.log().first?.from?.contains("suspended until") == true)
    }
  }

  @Test func `a phone that is suspended lets nobody in either`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.withPhone(.alice).account
      let phone = try #require(account.factors.first)
      let agent = try await instance.agent()
      _ = try await instance.identity.desk.suspend(
        instance.acme, account.id, phone.id, until: instance.now.advanced(bySeconds: 600),
        agent.request())
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: account)
      await expect("invalidCode") { try await instance.finalizePhone(pending, info) }
      instance.clock.advance(600)
      let later = try await instance.pending(.alice)
      let other = try await instance.sendCode(later, to: account)
      _ = try await instance.finalizePhone(later, other)
    }
  }

  @Test func `what is removed while suspended comes back suspended`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let dora = try await instance.agent()
      let erik = try await instance.agent("erik")
      let removal = try await instance.identity.unenrolments.remove(
        instance.acme, device.account.id, device.factor, dora.request()
      ).value.removal
      let id = try #require(removal.apart?.id)
      _ = try await instance.identity.unenrolments.undo(
        instance.acme, device.account.id, id, erik.request(.mistake))
      let factor = try #require(try await instance.reload(device.account).factors.first)
      #expect(factor.isSuspended(at: instance.now))
    }
  }
}
