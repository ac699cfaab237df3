import Crypto
import Identity
import Testing

@testable import TestIdentity

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

  /// Blocks an administrator's email for all networks, and their own network.
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

  @Test func `a known device can sign in while all networks are blocked`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let device = try device(instance, olga)
      await lockOut(instance, olga)
      #expect(await signIn(instance, olga) == "throttled")
      #expect(await signIn(instance, olga, devices: ["", "x", device]) == "done")
      // The password is still checked.
      #expect(
        await signIn(instance, olga, password: Person.wrong, devices: [device]) == "refused")
    }
  }

  @Test func `a device token is valid for its administrator only, and a forged one for no one`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let eve = try await instance.administrator("eve", .auditor)
      let (olgas, eves) = (try device(instance, olga), try device(instance, eve))
      await lockOut(instance, olga)
      for token in [eves, String(olgas.dropLast()), olgas + "A", String(olgas.reversed())] {
        #expect(await signIn(instance, olga, devices: [token]) == "throttled")
      }
      // A browser that both use has both tokens.
      #expect(await signIn(instance, olga, devices: [eves, olgas]) == "done")
    }
  }

  @Test func `attempts from a known device are limited separately`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let device = try device(instance, olga)
      for _ in 0..<10 {
        #expect(
          await signIn(instance, olga, password: Person.wrong, devices: [device]) == "refused")
      }
      #expect(await signIn(instance, olga, devices: [device]) == "throttled")
      // Signing in renews the cookie of the device, but doesn't reset its attempts.
      let renewed = try self.device(instance, olga, replacing: [device])
      #expect(renewed != device)
      #expect(await signIn(instance, olga, devices: [renewed]) == "throttled")
      // The attempts aren't counted elsewhere, and another device has a separate limit.
      #expect(await signIn(instance, olga) == "done")
      #expect(await signIn(instance, olga, devices: [try self.device(instance, olga)]) == "done")
      instance.clock.advance(30)
      #expect(await signIn(instance, olga, devices: [device]) == "done")
    }
  }

  @Test func `a device is remembered for 90 days after its last sign-in`() async throws {
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

  @Test func `a device cookie is valid for nothing else`() async throws {
    try await withInstance { instance in
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      let device = try device(instance, olga.administrator)
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.find(token: device) == nil)
      #expect(try await sessions.methods(device).isEmpty)
      let code = try olga.code(at: instance.now)
      await expect("ended") { try await instance.finish(device, code: code) }
      let pending = try await instance.giveConsolePassword(olga.administrator).pending
      await lockOut(instance, olga.administrator)
      // Nor is a pending sign-in valid as a device token.
      #expect(await signIn(instance, olga.administrator, devices: [pending]) == "throttled")
    }
  }
}
