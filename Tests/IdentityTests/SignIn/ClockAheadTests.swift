import Identity
import Testing

/// Tests codes after the server's clock was ahead and was set back.
struct ClockAheadTests {
  @Test func `V1: a code stays used after a sign-in while the clock was ahead`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let used = try device.code(at: instance.now)
      #expect(await instance.entering(used, device) == "done")
      let days: Int64 = 400 * 86_400
      instance.clock.advance(days)
      #expect(await instance.entering(try device.code(at: instance.now), device) == "done")
      instance.clock.advance(-days)
      #expect(await instance.entering(used, device) == "invalidCode")
      instance.clock.advance(30)
      #expect(await instance.entering(try device.code(at: instance.now), device) == "done")
    }
  }
}

extension Instance {
  fileprivate func entering(_ code: String, _ device: Device) async -> String {
    do { return try await enterCode(device, code: code) } catch { return "\(error)" }
  }
}
