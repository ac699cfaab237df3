import Crypto
import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

struct SecondStepTests {
  @Test func `with a second factor, the password alone starts no session`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let before = try await instance.wholeLog().count
      let pending = try await instance.giveConsolePassword(device.administrator).pending
      let due = try await instance.wholeLog()
      #expect(due.count == before + 1)
      #expect(due.first?.action == .administratorCodeDue)
      #expect(due.first?.objectID == device.administrator.id.text)
      #expect(
        try await instance.identity.consoleSessions.list(of: device.administrator.id).isEmpty)
      #expect(try await instance.identity.consoleSessions.find(token: pending) == nil)
      let new = try await instance.finish(pending, code: device.code(at: instance.now))
      #expect(new.session.secondFactor == .enrolled)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorSignIn && row.new(.verification) == .code("totp"))
    }
  }

  @Test func `a session keeps its ID when its token is replaced, so that it can be ended`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let session = try await instance.signIn(device).session
      let sessions = instance.identity.consoleSessions
      let listed = try await sessions.list(of: device.administrator.id)
      let (now, random) = (instance.now, RandomSource.system)
      let renewed = try await instance.database.write { connection in
        try ConsoleSessions.renew(session, at: now, random: random, connection)
      }
      #expect(renewed?.session.id == session.id)
      #expect(try await sessions.list(of: device.administrator.id).map(\.id) == listed.map(\.id))
      #expect(listed.contains { $0.id == session.id })
    }
  }

  @Test(arguments: [-2, -1, 0, 1, 2])
  func `codes one time step early or late are accepted`(steps: Int64) async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(90)
      let code = try device.code(at: instance.now, steps: steps)
      await expect(abs(steps) <= 1 ? "done" : "wrongCode") {
        try await instance.signIn(device, code: code)
      }
    }
  }

  @Test func `a code is accepted once, and older codes are rejected afterward`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(60)
      let now = instance.now
      let codes = try [0, 0, -1, 1].map { try device.code(at: now, steps: $0) }
      var outcomes: [String] = []
      for code in codes {
        outcomes.append(await outcome { try await instance.signIn(device, code: code) })
      }
      #expect(outcomes == ["done", "usedCode", "wrongCode", "done"])
    }
  }

  @Test func `the code used for enrollment can't be used to sign in`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let code = try device.code(at: instance.now, steps: -1)
      await expect("usedCode") { try await instance.signIn(device, code: code) }
    }
  }

  @Test func `V13: an administrator is told that a code was used, which still counts as wrong`()
    async throws
  {
    try await withInstance { (instance: Instance) async throws in
      let dev = try await instance.agentWithDevice()
      let device = try #require(dev.device)
      let used = try device.code(at: instance.now, steps: -1)
      await expect("usedCode") { try await instance.signIn(device, code: used) }
      await expect("usedCode") {
        try await instance.identity.passkeys.reauthenticate(
          code: TypedCode(used), in: dev.session, by: dev.author)
      }
      await expect("usedCurrentCode") {
        try await instance.identity.administratorFactors.makeRecoveryCodes(
          for: device.administrator.id, currentCode: TypedCode(used), by: dev.author)
      }
      instance.clock.advance(16 * 60)
      let later = try device.code(at: instance.now)
      _ = try await instance.signIn(device, code: later)
      let bob = try await instance.enrolled(.bob)
      instance.clock.advance(-30)
      await expect("usedCode") {
        try await instance.identity.factorRemovals.remove(
          instance.acme, bob.account.id, nil, dev.request(.lost, code: later))
      }
      for _ in 0..<4 { _ = await outcome { try await instance.signIn(device, code: later) } }
      await expect("throttled") { try await instance.signIn(device, code: later) }
    }
  }

  @Test func `V1: of concurrent uses of one code, one succeeds`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let code = try device.code(at: instance.now)
      var pending: [String] = []
      for _ in 0..<4 {
        pending.append(try await instance.giveConsolePassword(device.administrator).pending)
      }
      let tokens = pending
      let outcomes = try await concurrently(4) { number in
        await outcome { try await instance.finish(tokens[number], code: code) }
      }
      #expect(outcomes.tally == ["done": 1, "usedCode": 3])
    }
  }

  @Test func `a pending sign-in is single-use, expires in ten minutes, and ends with its password`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let sessions = instance.identity.consoleSessions
      let used = try await instance.giveConsolePassword(device.administrator).pending
      #expect(try await sessions.methods(used) == [.totp])
      _ = try await instance.finish(used, code: device.code(at: instance.now))
      #expect(try await sessions.methods(used).isEmpty)
      instance.clock.advance(30)
      await expect("ended") { try await instance.finish(used, code: device.code(at: instance.now)) }

      let old = try await instance.giveConsolePassword(device.administrator).pending
      instance.clock.advance(601)
      await expect("ended") { try await instance.finish(old, code: device.code(at: instance.now)) }

      let before = try await instance.giveConsolePassword(device.administrator).pending
      try await instance.identity.ownAccount.resetPassword(
        of: device.administrator, new: Secret("another pass phrase"),
        by: Author(actor: .commandLine))
      await expect("ended") {
        try await instance.finish(before, code: device.code(at: instance.now))
      }
      for text in ["", "x", String(before.dropLast()), before + "A"] {
        await expect("ended") { try await instance.finish(text, code: "123456") }
      }
    }
  }

  @Test
  func `V4: five wrong codes block for 30 s, doubling up to an hour, separately from passwords`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      var waits: [Int64] = []
      for round in 0..<13 {
        let pending = try await instance.giveConsolePassword(device.administrator).pending
        let wrong = try device.wrongCode(at: instance.now)
        if round < 4 { waits.append(0) }
        await expect("wrongCode") { try await instance.finish(pending, code: wrong) }
        let right = try device.code(at: instance.now)
        guard round >= 4 else { continue }
        let error = try await thrown(ConsoleSignInError.self) {
          try await instance.finish(pending, code: right)
        }
        guard case .throttled(let until) = error else {
          Issue.record("not throttled after \(round + 1)")
          return
        }
        waits.append(until.seconds - instance.now.seconds)
        instance.clock.advance(until.seconds - instance.now.seconds)
      }
      #expect(waits == [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
      _ = try await instance.signIn(device)
      instance.clock.advance(30)
      let wrong = try device.wrongCode(at: instance.now)
      await expect("wrongCode") { try await instance.signIn(device, code: wrong) }
      await expect("done") { try await instance.signIn(device) }
    }
  }

  @Test func `of 64 concurrent wrong codes, five are checked`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let pending = try await instance.giveConsolePassword(device.administrator).pending
      let wrong = try device.wrongCode(at: instance.now)
      let outcomes = try await concurrently(64) { _ in
        await outcome { try await instance.finish(pending, code: wrong) }
      }
      #expect(outcomes.tally == ["wrongCode": 5, "throttled": 59])
    }
  }

  /// Signs in with the correct password and makes a change before it has been hashed.
  private func signIn(
    _ instance: Instance, _ administrator: Administrator, during change: () async throws -> Void
  ) async throws -> Result<ConsoleSignIn, any Error> {
    let latch = Latch()
    let crowded = try instance.identity(hasher: latch.hasher(width: 1))
    // Occupies the only slot of the hasher, so that the password of the sign-in has to wait.
    let holder = Task {
      var new = NewAccount()
      (new.email, new.password) = (Person.bob.email, Person.bob.password)
      _ = try await crowded.accounts.create(instance.acme, new, by: .program(Instance.boss))
    }
    await latch.isReached()
    let signIn = Task {
      try await crowded.consoleSessions.signIn(
        email: administrator.email, password: Instance.consolePassword, address: "a",
        userAgent: "Browser")
    }
    // The old hash has been read as soon as the attempt is counted.
    while try await instance.guesses(at: "administrator") == 0 { await Task.yield() }
    try await change()
    latch.open()
    try await holder.value
    return await signIn.result
  }

  @Test func `a password reset while the old one is being hashed prevents the sign-in`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let result = try await signIn(instance, olga) {
        try await instance.identity.ownAccount.resetPassword(
          of: olga, new: Secret("another pass phrase"), by: Author(actor: .commandLine))
      }
      #expect(throws: ConsoleSignInError.self) { _ = try result.get() }
      #expect(try await instance.identity.consoleSessions.list(of: olga.id).isEmpty)
      // Bob's account may be created before or after the refusal.
      let latest = try await instance.wholeLog().prefix(2).map(\.action)
      #expect(latest.contains(.administratorSignInRefused))
    }
  }

  @Test func `password sign-in turned off while the password is being hashed prevents the sign-in`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let otto = try await instance.administrator("otto", .owner)
      let result = try await signIn(instance, olga) {
        try await instance.database.write { connection in
          try PasswordSignIn.setting.store(otto.id.text, connection)
        }
      }
      #expect(throws: ConsoleSignInError.self) { _ = try result.get() }
      #expect(try await instance.identity.consoleSessions.list(of: olga.id).isEmpty)
    }
  }

  @Test func `a second factor enrolled while the password is being hashed is required`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let result = try await signIn(instance, olga) { _ = try await instance.enroll(olga) }
      _ = try result.get().pending
      #expect(try await instance.identity.consoleSessions.list(of: olga.id).isEmpty)
    }
  }

  @Test func `an administrator removed while the password is being hashed is refused`() async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let eve = try await instance.administrator("eve", .auditor)
      let result = try await signIn(instance, eve) {
        try await instance.identity.administrators.remove(
          eve.id, by: .program(instance.author(olga)))
      }
      await expect("refused") { try result.get() }
    }
  }

  @Test func `K1: a sealed secret moved to another administrator can't be opened`() async throws {
    try await withInstance { instance in
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      let eve = try await instance.enroll(try await instance.administrator("eve", .auditor))
      let (olgaID, eveID) = (olga.administrator.id.text, eve.administrator.id.text)
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ administrator SET totp_last_step = NULL, totp_secret =
            (SELECT totp_secret FROM administrator WHERE administrator_id = \(eveID))
          WHERE administrator_id = \(olgaID)
          """)
      }
      let pending = try await instance.giveConsolePassword(olga.administrator).pending
      for device in [olga, eve] {
        let code = try device.code(at: instance.now)
        await expect("unavailable") { try await instance.finish(pending, code: code) }
      }
    }
  }
}
