import Crypto
import Database
@testable import Identity
import OTP
import Testing

@testable import TestIdentity

struct CodeAttemptTests {
  private static let origin = RequestOrigin(address: "203.0.113.9", userAgent: "Firefox/130 Linux")

  /// Returns a summary of each code attempt: its way, result, and distance.
  private func summaries(_ codeAttempts: [CodeAttempt]) -> [String] {
    codeAttempts.map { codeAttempt in
      [codeAttempt.way.rawValue, codeAttempt.result.rawValue, codeAttempt.distance.map { "\($0)" }]
        .compactMap { $0 }.joined(separator: " ")
    }
  }

  @Test func `L3: each code is recorded with its result, origin, and factor`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(2)
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(3_600)
      let now = instance.now
      try await instance.enterCode(device, code: device.code(at: now, steps: -5), from: Self.origin)
      try await instance.enterCode(device, code: device.code(at: now, steps: 7))
      try await instance.enterCode(device, code: device.wrongCode(at: now))
      try await instance.enterCode(device, code: "12345")
      instance.clock.advance(30)
      try await instance.enterCode(device, code: device.code(at: now, steps: 0))
      try await instance.enterCode(device, code: device.code(at: now, steps: 0))
      try await instance.enterCode(device, code: device.code(at: now, steps: -1))
      let codeAttempts = try await instance.codeAttempts(device.account)
      #expect(
        summaries(codeAttempts) == [
          "app older -2", "app used -1", "app accepted -1", "app unreadable", "app wrong",
          "app early 7", "app late -5", "enrollment accepted 0",
        ])
      let first = try #require(codeAttempts.dropLast().last)
      #expect(first.origin == Self.origin)
      #expect(first.enrollment == device.factor)
      #expect(first.at == now)
      #expect(first.step == now.seconds / 30 - 5)
      #expect(first.window?.adjacentIntervals == 2)
      let enrollment = try #require(codeAttempts.last)
      #expect(enrollment.origin.address == Instance.visitor.address)
      #expect(enrollment.enrollment == device.factor)
      #expect(zip(codeAttempts, codeAttempts.dropFirst()).allSatisfy { $0.at > $1.at })
    }
  }

  @Test func `a wrong code during enrollment is recorded without a factor`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let start = try await instance.identity.enrollments.start(session)
      let secret = Secret(try #require(Base32.decode(start.sharedSecret.revealedText)))
      let app = try #require(OneTimePassword(secret: secret))
      await expect("invalidCode") {
        try await instance.identity.enrollments.finalize(
          session, sessionInfo: start.sessionInfo,
          code: TypedCode(app.code(step: app.step(at: instance.now.seconds) - 8)),
          displayName: "phone",
          by: Instance.visitor, userAgent: "okhttp/4.12")
      }
      let codeAttempt = try #require(try await instance.codeAttempts(account).first)
      #expect(
        (codeAttempt.way, codeAttempt.result, codeAttempt.distance) == (.enrollment, .late, -8))
      #expect(codeAttempt.enrollment == nil)
      #expect(codeAttempt.origin == RequestOrigin(address: "203.0.113.5", userAgent: "okhttp/4.12"))
      #expect(try await instance.reload(account).wrongCodes == 0)
    }
  }

  @Test func `neither codes nor other entered text are stored`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let codes = [
        try device.code(at: instance.now), try device.wrongCode(at: instance.now),
        "my password by mistake",
      ]
      for code in codes { try await instance.enterCode(device, code: code) }
      let cells = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ * FROM code_attempt") { row in
          try (0..<14).map { _ in try row.next() as SQLValue }
        }
      }.flatMap { $0 }
      #expect(cells.count == 4 * 14)
      for cell in cells {
        guard case .text(let text) = cell else { continue }
        #expect(!codes.contains { text.contains($0) })
      }
    }
  }

  @Test func `20 concurrent uses of one code are all recorded, with distinct timestamps`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setCodeCap(100)
      let device = try await instance.enrolled(.alice)
      var credentials: [String] = []
      for _ in 0..<20 { credentials.append(try await instance.pending(.alice)) }
      let (all, code) = (credentials, try device.code(at: instance.now))
      _ = try await concurrently(20) { number in
        await outcome { try await instance.finalize(device, all[number], code: code) }
      }
      let codeAttempts = try await instance.codeAttempts(device.account)
      #expect(codeAttempts.reduce(0) { $0 + $1.times } == 21)
      #expect(codeAttempts.count { $0.result == .accepted && $0.way == .app } == 1)
      #expect(Set(codeAttempts.map(\.at)).count == codeAttempts.count)
    }
  }

  @Test func `a page lists the last 20 of 3,000 attempts`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let account = try await instance.reload(device.account)
      let now = instance.now
      try await instance.database.write { connection in
        for number in 1...3_000 as ClosedRange<Int64> {
          let at = now.microseconds + number
          try connection.run(
            """
            INSERT /* test */ INTO code_attempt (scope_key, at, account_key, previous, way, result,
              address, user_agent)
            SELECT scope_key, \(at), account_key, last_code_attempt_at, 'app', 'wrong', '', ''
            FROM account WHERE uid = \(account.id)
            """)
          try connection.run(
            "UPDATE /* test */ account SET last_code_attempt_at = \(at) WHERE uid = \(account.id)"
          )
        }
      }
      let codeAttempts = try await instance.codeAttempts(account)
      #expect(codeAttempts.count == 20)
      #expect(codeAttempts.first?.at.microseconds == now.microseconds + 3_000)
      #expect(codeAttempts.last?.at.microseconds == now.microseconds + 2_981)
      // Deleting the account deletes the newest ones at once, and the cleanup the others.
      try await instance.identity.accounts.delete(instance.acme, account.id, by: Instance.boss)
      try await instance.identity.purgeExpired()
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM code_attempt") {
          try $0.next() as Int
        }
      }
      #expect(left == 0)
    }
  }

  @Test func `a near miss is confirmed by a correct code within 15 minutes, but not later`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(3_600)
      for (seconds, isConfirmed) in [(900, true), (901, false)] as [(Int64, Bool)] {
        instance.clock.advance(3_600)
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: -6))
        try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
        instance.clock.advance(seconds)
        try await instance.enterCode(device, code: device.code(at: instance.now))
        let codeAttempts = try await instance.codeAttempts(device.account)
        #expect(codeAttempts[2].result == .late && codeAttempts[2].isConfirmed == isConfirmed)
        #expect(codeAttempts[1].result == .wrong && !codeAttempts[1].isConfirmed)
        #expect(codeAttempts[2].drift == (isConfirmed ? ClockDrift(steps: -6) : nil))
      }
    }
  }

  @Test(arguments: [false, true])
  func `near misses are confirmed after a block, and after an administrator unlocked the codes`(
    isLocked: Bool
  ) async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      if isLocked { try await instance.setCodeCap(5) }
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(3_600)
      for _ in 0..<5 {
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: -6))
      }
      // Isn't checked, and so isn't counted as an incorrect code.
      try await instance.enterCode(device, code: device.code(at: instance.now))
      if isLocked {
        try await instance.database.write { connection in
          _ = try AccountRecord.unlockCodes(device.account.key, connection)
        }
      }
      instance.clock.advance(120)
      let right = try device.code(at: instance.now)
      #expect(try await instance.enterCode(device, code: right) == "done")
      let codeAttempts = try await instance.codeAttempts(device.account)
      #expect(
        codeAttempts.prefix(7).map(\.result)
          == [.accepted, isLocked ? .closed : .blocked] + Array(repeating: .late, count: 5))
      #expect(codeAttempts.count(where: \.isConfirmed) == 5)
    }
  }

  @Test func `a user agent of 4,000 characters is truncated at a character boundary`() {
    let origin = RequestOrigin(userAgent: "a" + String(repeating: "😀", count: 4_000))
    #expect(origin.userAgent.utf8.count == 197)
    #expect(origin.userAgent.hasSuffix("😀"))
    #expect(RequestOrigin(userAgent: "curl/8").userAgent == "curl/8")
  }
}
