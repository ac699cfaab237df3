import Crypto
import Identity
import Testing

/// Browsers that an administrator has signed in with before.
struct DeviceTests {
  private static let network = "198.51.100.1"

  private func signIn(
    _ instance: Instance, _ administrator: Administrator,
    password: Secret = Instance.consolePassword, devices: [String] = [], from: String = network
  ) async -> String {
    await outcome {
      try await instance.identity.consoleSessions.signIn(
        email: administrator.email, password: password, address: from, userAgent: "Browser",
        devices: devices)
    }
  }

  private func device(
    _ instance: Instance, _ administrator: Administrator, replacing tokens: [String] = []
  ) throws -> String {
    try instance.identity.consoleSessions.deviceToken(
      for: administrator.id, replacing: tokens
    ).revealedText
  }

  /// Locks a name for everybody, and the network of its owner.
  private func lockOut(_ instance: Instance, _ administrator: Administrator) async {
    for number in 0..<100 {
      _ = await signIn(
        instance, administrator, password: Person.wrong, from: "2001:db8:\(number)::1")
    }
    for number in 0..<100 {
      _ = await outcome {
        try await instance.identity.consoleSessions.signIn(
          email: "x\(number)@example.com", password: Person.wrong, address: Self.network,
          userAgent: "x")
      }
    }
  }

  @Test func `a known device signs in while all networks are locked out`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let device = try device(instance, olga)
      await lockOut(instance, olga)
      #expect(await signIn(instance, olga) == "throttled")
      #expect(await signIn(instance, olga, devices: ["", "x", device]) == "done")
      // The password is asked for as ever.
      #expect(
        await signIn(instance, olga, password: Person.wrong, devices: [device]) == "refused")
    }
  }

  @Test func `a device of one administrator is none of another, and a forged one of nobody`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let eve = try await instance.administrator("eve", .auditor)
      let (hers, eves) = (try device(instance, olga), try device(instance, eve))
      await lockOut(instance, olga)
      for token in [eves, String(hers.dropLast()), hers + "A", String(hers.reversed())] {
        #expect(await signIn(instance, olga, devices: [token]) == "throttled")
      }
      // A browser of both knows both.
      #expect(await signIn(instance, olga, devices: [eves, hers]) == "done")
    }
  }

  @Test func `guesses with a device are bounded by a count of its own`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let device = try device(instance, olga)
      for _ in 0..<10 {
        #expect(
          await signIn(instance, olga, password: Person.wrong, devices: [device]) == "refused")
      }
      #expect(await signIn(instance, olga, devices: [device]) == "throttled")
      // Signing in gives the same device a new cookie, not a new count.
      let renewed = try self.device(instance, olga, replacing: [device])
      #expect(renewed != device)
      #expect(await signIn(instance, olga, devices: [renewed]) == "throttled")
      // The guesses are counted nowhere else, and another device has its own.
      #expect(await signIn(instance, olga) == "done")
      #expect(await signIn(instance, olga, devices: [try self.device(instance, olga)]) == "done")
      instance.clock.advance(30)
      #expect(await signIn(instance, olga, devices: [device]) == "done")
    }
  }

  @Test func `a device is known for 90 days after its last sign-in`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let device = try device(instance, olga)
      instance.clock.advance(89 * 86_400)
      let renewed = try self.device(instance, olga, replacing: [device])
      instance.clock.advance(86_401)
      await lockOut(instance, olga)
      #expect(await signIn(instance, olga, devices: [device]) == "throttled")
      #expect(await signIn(instance, olga, devices: [renewed]) == "done")
    }
  }

  @Test func `a device's cookie opens nothing else`() async throws {
    try await withInstance { instance in
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      let device = try device(instance, olga.administrator)
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.find(token: device) == nil)
      #expect(try await !sessions.isPending(device))
      let code = try olga.code(at: instance.now)
      await expect("ended") { try await instance.finish(device, code: code) }
      let pending = try await instance.giveConsolePassword(olga.administrator).pending
      await lockOut(instance, olga.administrator)
      // Nor is what a password gave a device.
      #expect(await signIn(instance, olga.administrator, devices: [pending]) == "throttled")
    }
  }
}
