import Crypto
import Identity
import Testing

@testable import TestIdentity

struct SecondFactorTests {
  /// Every time step of every window, and those just outside.
  static let steps: [(window: Int, step: Int64)] = [0, 1, 5, 10].flatMap { window in
    let outside = Int64(window) + 1
    return (-outside...outside).map { (window: window, step: $0) }
  }

  @Test func `V7: only codes within the window are accepted`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      // Far from the time step of the enrollment, so that only the window decides.
      instance.clock.advance(3_600)
      for (window, step) in Self.steps {
        try await instance.setWindow(window)
        instance.clock.advance(1_200)
        let pending = try await instance.pending(.alice)
        let code = try device.code(at: instance.now, steps: step)
        await expect(abs(step) <= window ? "done" : "invalidCode") {
          try await instance.finalize(device, pending, code: code)
        }
      }
    }
  }

  @Test func `five adjacent intervals are accepted by default`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for (step, expected) in [(-5, "done"), (5, "done"), (-6, "invalidCode"), (6, "invalidCode")] {
        instance.clock.advance(1_200)
        let pending = try await instance.pending(.alice)
        let code = try device.code(at: instance.now, steps: Int64(step))
        await expect(expected) { try await instance.finalize(device, pending, code: code) }
      }
    }
  }

  @Test func `a code is valid through the last second of its time step`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(0)
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(300)
      let code = try device.code(at: instance.now)
      let pending = try await instance.pending(.alice)
      instance.clock.advance(29)
      _ = try await instance.finalize(device, pending, code: code)
      instance.clock.advance(1)
      let next = try device.code(at: instance.now)
      let second = try await instance.pending(.alice)
      instance.clock.advance(30)
      await expect("invalidCode") { try await instance.finalize(device, second, code: next) }
    }
  }

  @Test func `V1: a used code and older codes are rejected; newer ones are accepted`() async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(600)
      let pending = try await instance.pending(.alice)
      let now = try device.code(at: instance.now, steps: 2)
      _ = try await instance.finalize(device, pending, code: now)
      for (step, expected) in [(2, "invalidCode"), (1, "invalidCode"), (0, "invalidCode")] {
        let again = try await instance.pending(.alice)
        let code = try device.code(at: instance.now, steps: Int64(step))
        await expect(expected) { try await instance.finalize(device, again, code: code) }
      }
      let again = try await instance.pending(.alice)
      let newer = try device.code(at: instance.now, steps: 3)
      _ = try await instance.finalize(device, again, code: newer)
    }
  }

  @Test func `V1: of 20 concurrent uses of one code, one succeeds, with one credential or several`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for isShared in [true, false] {
        instance.clock.advance(3_600)
        let code = try device.code(at: instance.now)
        var credentials: [String] = []
        for _ in 0..<20 { credentials.append(try await instance.pending(.alice)) }
        let all = credentials
        let outcomes = try await concurrently(20) { number in
          await outcome {
            try await instance.finalize(device, all[isShared ? 0 : number], code: code)
          }
        }
        #expect(outcomes.tally["done"] == 1)
        #expect(
          Set(outcomes).subtracting(["done"])
            == (isShared ? ["invalidPendingCredential"] : ["invalidCode", "quotaExceeded"]))
      }
    }
  }

  @Test func `the session names the second factor and the sign-in time`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      instance.clock.advance(60)
      let code = try device.code(at: instance.now)
      let grant = try await instance.finalize(device, pending, code: code)
      let claim = SecondFactorClaim(kind: .totp, enrollment: device.factor)
      #expect(grant.session.secondFactor == claim)
      #expect(grant.session.authTime == instance.now.seconds)
      #expect(grant.session.provider == .password)
      #expect(grant.session.pool == instance.acme)
      let account = try await instance.reload(device.account)
      #expect(account.lastLoginAt == instance.now)
      #expect(account.factors.first?.lastUsedAt == instance.now)
      let refreshed = try await instance.identity.sessions.refresh(
        grant.refreshToken, project: instance.acme.project)
      #expect(refreshed.session.secondFactor == claim)
      #expect(refreshed.session.authTime == grant.session.authTime)
    }
  }

  @Test(arguments: ["", "12345", "1234567", "abcdef", "１２３４５６", " 12345", "0x1234"])
  func `a malformed code counts as an incorrect code`(code: String) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      await expect("invalidCode") { try await instance.finalize(device, pending, code: code) }
      #expect(try await instance.reload(device.account).wrongCodes == 1)
    }
  }
}

struct CodeGuessingTests {
  @Test func `of 64 concurrent wrong codes, five are checked`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      let wrong = try device.wrongCode(at: instance.now)
      let outcomes = try await concurrently(64) { _ in
        await outcome { try await instance.finalize(device, pending, code: wrong) }
      }
      #expect(outcomes.tally == ["invalidCode": 4, "quotaExceeded": 60])
      #expect(try await instance.reload(device.account).wrongCodes == 5)
    }
  }

  @Test func `V5, V6: from the fifth wrong code, the block doubles from 30 s to an hour`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setCodeCap(100)
      let device = try await instance.enrolled(.alice)
      for _ in 0..<4 {
        await expect("invalidCode") { try await guess(instance, device) }
      }
      for seconds in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600] as [Int64] {
        let error = try await thrown(SignInError.self) { try await guess(instance, device) }
        guard case .quotaExceeded(let until) = error else {
          throw Unexpected("\(String(describing: error))")
        }
        #expect(until == instance.now.advanced(bySeconds: seconds))
        instance.clock.advance(seconds - 1)
        let pending = try await instance.pending(.alice)
        let right = try device.code(at: instance.now)
        await expect("quotaExceeded") {
          try await instance.finalize(device, pending, code: right)
        }
        instance.clock.advance(1)
      }
      let pending = try await instance.pending(.alice)
      let right = try device.code(at: instance.now)
      _ = try await instance.finalize(device, pending, code: right)
      let account = try await instance.reload(device.account)
      #expect((account.wrongCodes, account.codesBlockedUntil) == (0, nil))
    }
  }

  private func guess(_ instance: Instance, _ device: Device) async throws -> SessionGrant {
    let wrong = try device.wrongCode(at: instance.now)
    return try await instance.finalize(device, instance.pending(.alice), code: wrong)
  }

  @Test func `V5: a new first factor or session doesn't reset the count of wrong codes`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for _ in 0..<3 { await expect("invalidCode") { try await guess(instance, device) } }
      _ = try await instance.identity.sessions.renew(device.session)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp?.state = .disabled
      }
      _ = try await instance.session(.alice)
      try await instance.setWindow(nil)
      #expect(try await instance.reload(device.account).wrongCodes == 3)
      await expect("invalidCode") { try await guess(instance, device) }
      await expect("quotaExceeded") { try await guess(instance, device) }
    }
  }

  @Test func `wrong codes are counted per user`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      for _ in 0..<6 { _ = await outcome { try await guess(instance, alice) } }
      let code = try bob.code(at: instance.now)
      _ = try await instance.finalize(bob, instance.pending(.bob), code: code)
    }
  }
}
