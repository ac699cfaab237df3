import Crypto
import Database
import DatabaseSQLite
import Identity
import OTP
import Testing

struct SecondStepTests {
  @Test func `with a factor the password alone begins no session`() async throws {
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

  @Test(arguments: [-2, -1, 0, 1, 2])
  func `one step on each side of now counts`(steps: Int64) async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(90)
      let code = try device.code(at: instance.now, steps: steps)
      await expect(abs(steps) <= 1 ? "done" : "wrongCode") {
        try await instance.signIn(device, code: code)
      }
    }
  }

  @Test func `a code counts once, and none before it counts any more`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(60)
      let now = instance.now
      let codes = try [0, 0, -1, 1].map { try device.code(at: now, steps: $0) }
      var outcomes: [String] = []
      for code in codes {
        outcomes.append(await outcome { try await instance.signIn(device, code: code) })
      }
      #expect(outcomes == ["done", "wrongCode", "wrongCode", "done"])
    }
  }

  @Test func `the code that set the factor up is used up`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let code = try device.code(at: instance.now, steps: -1)
      await expect("wrongCode") { try await instance.signIn(device, code: code) }
    }
  }

  @Test func `of eight equal codes at once one counts`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let code = try device.code(at: instance.now)
      var pending: [String] = []
      for _ in 0..<4 {
        pending.append(try await instance.giveConsolePassword(device.administrator).pending)
      }
      let doors = pending
      let outcomes = try await atOnce(4) { number in
        await outcome { try await instance.finish(doors[number], code: code) }
      }
      #expect(outcomes.tally == ["done": 1, "wrongCode": 3])
    }
  }

  @Test func `what a password gave counts once, for ten minutes, and for that password`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let sessions = instance.identity.consoleSessions
      let used = try await instance.giveConsolePassword(device.administrator).pending
      #expect(try await sessions.isPending(used))
      _ = try await instance.finish(used, code: device.code(at: instance.now))
      #expect(try await !sessions.isPending(used))
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

  @Test func `five wrong codes close the door for 30 s, doubling to an hour, apart from passwords`()
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

  @Test func `of 64 wrong codes at once five are looked at`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let pending = try await instance.giveConsolePassword(device.administrator).pending
      let wrong = try device.wrongCode(at: instance.now)
      let outcomes = try await atOnce(64) { _ in
        await outcome { try await instance.finish(pending, code: wrong) }
      }
      #expect(outcomes.tally == ["wrongCode": 5, "throttled": 59])
    }
  }

  /// Gives the right password, and lets something happen before it has been hashed.
  private func signIn(
    _ instance: Instance, _ administrator: Administrator, during change: () async throws -> Void
  ) async throws -> Result<ConsoleSignIn, any Error> {
    let gate = Gate()
    let crowded = try instance.identity(hasher: gate.hasher(width: 1))
    // It holds the only turn, so that the sign-in's password waits for its own.
    let holder = Task {
      var new = NewAccount()
      (new.email, new.password) = (Person.bob.email, Person.bob.password)
      _ = try await crowded.accounts.create(instance.acme, new, by: Instance.boss)
    }
    await gate.isReached()
    let signIn = Task {
      try await crowded.consoleSessions.signIn(
        email: administrator.email, password: Instance.consolePassword, address: "a",
        userAgent: "Browser")
    }
    // The old hash has been read as soon as the guess is counted.
    while try await instance.guesses(at: "administrator") == 0 { await Task.yield() }
    try await change()
    gate.open()
    try await holder.value
    return await signIn.result
  }

  @Test func `a password that is reset while the old one is hashed begins no session`()
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
      #expect(try await instance.wholeLog().first?.action == .administratorSignInRefused)
    }
  }

  @Test func `a second factor set up while the password is hashed is asked for`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let result = try await signIn(instance, olga) { _ = try await instance.enroll(olga) }
      _ = try result.get().pending
      #expect(try await instance.identity.consoleSessions.list(of: olga.id).isEmpty)
    }
  }

  @Test func `an administrator removed while the password is hashed is refused`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let eve = try await instance.administrator("eve", .auditor)
      let result = try await signIn(instance, eve) {
        try await instance.identity.administrators.remove(eve.id, by: instance.author(olga))
      }
      await expect("refused") { try result.get() }
    }
  }

  @Test func `a sealed secret that was moved to another administrator does not open there`()
    async throws
  {
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
