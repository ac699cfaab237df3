import Crypto
import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

struct OwnFactorTests {
  @Test func `C1: every role except auditor requires a second factor from the second sign-in`()
    async throws
  {
    try await withInstance { instance in
      for role in Role.allCases {
        let administrator = try await instance.administrator("\(role)", role)
        let isRequired = role != .auditor
        var states: [SecondFactorState] = []
        for _ in 0..<3 {
          states.append(
            try await instance.giveConsolePassword(administrator).session.session.secondFactor)
        }
        #expect(
          states == (isRequired ? [.dueNext, .due, .due] : [.optional, .optional, .optional]))
      }
      let local = try await instance.administrator("l", .support, project: instance.acme.project)
      #expect(
        try await instance.giveConsolePassword(local).session.session.secondFactor == .dueNext)
    }
  }

  @Test func `a newly granted role requires a second factor immediately`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      _ = try await instance.giveConsolePassword(nora)
      let token = try await instance.giveConsolePassword(nora).session.token.revealedText
      try await instance.identity.administrators.grant(
        Grant(role: .support), to: nora.id, by: .program(instance.author(boss)))
      let session = try await instance.identity.consoleSessions.find(token: token)
      #expect(session?.secondFactor == .due)
      _ = try await instance.enroll(nora)
      #expect(try await instance.identity.consoleSessions.find(token: token) == nil)
    }
  }

  @Test
  func `an enrollment is single-use, expires in ten minutes, and is bound to its administrator`()
    async throws
  {
    try await withInstance { instance in
      let factors = instance.identity.administratorFactors
      let (boss, nora) = try await instance.bossAndNora()
      let start = try factors.begin(for: nora)
      let ticket = start.ticket.revealedText
      let secret = Secret(try #require(Base32.decode(start.key.revealedText)))
      let app = OwnDevice(administrator: nora, secret: secret, recoveryCodes: [])
      #expect(secret.count == 20)
      #expect(start.uri.revealedText.hasPrefix("otpauth://totp/Countersign:nora%40example.com?"))
      func finish(_ code: String, for id: ID<Administrator>) async -> String {
        await outcome {
          try await factors.finish(
            ticket, code: TypedCode(code), for: id, by: instance.author(nora))
        }
      }
      #expect(await finish(try app.code(at: instance.now), for: boss.id) == "ended")
      #expect(await finish(try app.wrongCode(at: instance.now), for: nora.id) == "wrongCode")
      #expect(try await factors.resume(ticket, for: nora)?.key == start.key)
      #expect(try await factors.resume(ticket, for: boss) == nil)
      #expect(await finish(try app.code(at: instance.now), for: nora.id) == "done")
      instance.clock.advance(30)
      #expect(await finish(try app.code(at: instance.now), for: nora.id) == "ended")
      instance.clock.advance(600)
      #expect(try await factors.resume(ticket, for: nora) == nil)
    }
  }

  @Test func `L5: enrolling a second factor ends the other sessions`() async throws {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let one = try await instance.giveConsolePassword(nora).session
      let two = try await instance.giveConsolePassword(nora).session
      let factors = instance.identity.administratorFactors
      let start = try factors.begin(for: nora)
      let secret = Secret(try #require(Base32.decode(start.key.revealedText)))
      let app = try #require(OneTimePassword(secret: secret))
      let done = try await factors.finish(
        start.ticket.revealedText,
        code: TypedCode(app.code(step: app.step(at: instance.now.seconds))),
        for: nora.id, in: two.session, by: instance.author(nora))
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.find(token: one.token.revealedText) == nil)
      let renewed = try #require(done.renewed)
      #expect(renewed.session.id == two.session.id)
      #expect(
        try await sessions.find(token: renewed.token.revealedText)?.secondFactor == .enrolled)
    }
  }

  @Test func `C2: setting up or replacing an authenticator app issues a new session token`()
    async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let new = try await instance.giveConsolePassword(nora).session
      let (app, first) = try await instance.addApp(in: new.session)
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.find(token: new.token.revealedText) == nil)
      instance.clock.advance(30)
      let factors = instance.identity.administratorFactors
      let start = try factors.begin(for: nora)
      let second = try await factors.finish(
        start.ticket.revealedText,
        code: try TypedCode(instance.device(start, of: nora).code(at: instance.now)),
        currentCode: try TypedCode(app.code(at: instance.now)), for: nora.id, in: first,
        by: instance.author(nora))
      let renewed = try #require(second.renewed)
      #expect(renewed.session.id == first.id)
      #expect(try await sessions.list(of: nora.id).map(\.id) == [first.id])
      let found = try await sessions.find(token: renewed.token.revealedText)
      #expect(found?.id == first.id)
    }
  }

  @Test func `the first enrollment requires the password unless sign-in was recent`() async throws {
    try await withInstance { instance in
      let factors = instance.identity.administratorFactors
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      func setUp(_ password: Secret?) async throws -> String {
        let start = try factors.begin(for: nora)
        let secret = Secret(try #require(Base32.decode(start.key.revealedText)))
        let app = OwnDevice(administrator: nora, secret: secret, recoveryCodes: [])
        return await outcome {
          try await factors.finish(
            start.ticket.revealedText, code: TypedCode(app.code(at: instance.now)),
            password: password,
            for: nora.id, in: session, by: instance.author(nora))
        }
      }
      instance.clock.advance(299)
      #expect(!factors.asksForPassword(in: session))
      instance.clock.advance(1)
      #expect(factors.asksForPassword(in: session))
      #expect(try await setUp(nil) == "wrongPassword")
      // Attempts are counted before they're checked, and separately from sign-in: someone with a
      // stolen session must not lock out its owner.
      for _ in 0..<10 { #expect(try await setUp(Secret("wrong")) == "wrongPassword") }
      #expect(try await setUp(Instance.consolePassword) == "throttled")
      await expect("done") { try await instance.giveConsolePassword(nora) }
      instance.clock.advance(30)
      #expect(try await setUp(Instance.consolePassword) == "done")
      await expect("done") { try await instance.giveConsolePassword(nora).pending }
    }
  }

  @Test func `the first enrollment requires no password right after sign-in`() async throws {
    try await withInstance { instance in
      let factors = instance.identity.administratorFactors
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      instance.clock.advance(AdministratorFactors.freshness - 1)
      let start = try factors.begin(for: nora)
      let secret = Secret(try #require(Base32.decode(start.key.revealedText)))
      let app = OwnDevice(administrator: nora, secret: secret, recoveryCodes: [])
      await expect("done") {
        try await factors.finish(
          start.ticket.revealedText, code: TypedCode(app.code(at: instance.now)), for: nora.id,
          in: session,
          by: instance.author(nora))
      }
    }
  }

  @Test func `C4: replacing or removing one's own factor requires a code`() async throws {
    try await withInstance { instance in
      let factors = instance.identity.administratorFactors
      let device = try await instance.enroll(try await instance.administrator("nora", .auditor))
      let nora = device.administrator
      let start = try factors.begin(for: nora)
      let app = OwnDevice(
        administrator: nora,
        secret: Secret(try #require(Base32.decode(start.key.revealedText))), recoveryCodes: [])
      func replace(_ current: String?) async -> String {
        await outcome {
          try await factors.finish(
            start.ticket.revealedText, code: TypedCode(app.code(at: instance.now)),
            currentCode: current.map { TypedCode($0) },
            for: nora.id, by: instance.author(nora))
        }
      }
      let wrong = try device.wrongCode(at: instance.now)
      for code in [nil, "", wrong] { #expect(await replace(code) == "wrongCurrentCode") }
      await expect("wrongCurrentCode") {
        try await factors.withdraw(
          from: nora, currentCode: TypedCode(wrong), by: instance.author(nora))
      }
      await expect("wrongCurrentCode") {
        try await factors.makeRecoveryCodes(
          for: nora.id, currentCode: "", by: instance.author(nora))
      }
      // That makes five wrong codes in a row.
      #expect(await replace(try device.code(at: instance.now)) == "throttled")
      instance.clock.advance(30)
      #expect(await replace(try device.code(at: instance.now)) == "done")
      instance.clock.advance(30)
      await expect("wrongCode") {
        try await instance.signIn(device, code: device.code(at: instance.now))
      }
      _ = try await instance.signIn(app)
    }
  }

  @Test func `a recovery code signs in even if the app's secret can't be decrypted`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("nora", .auditor))
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ administrator SET totp_secret = \([UInt8](repeating: 1, count: 48))")
      }
      await expect("unavailable") {
        _ = try await instance.signIn(device, code: try device.code(at: instance.now))
      }
      _ = try await instance.signIn(device, code: device.recoveryCodes[0])
    }
  }

  @Test func `a refused current code is recorded, and what was accepted for re-authentication`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("nora", .auditor))
      let (nora, author) = (device.administrator, instance.author(device.administrator))
      let session = try await instance.signIn(device).session
      await expect("wrongCurrentCode") {
        try await instance.identity.administratorFactors.withdraw(
          from: nora, currentCode: "", in: session, by: author)
      }
      #expect(try await instance.wholeLog().first?.action == .administratorCodeRefused)
      _ = try await instance.identity.passkeys.reauthenticate(
        code: TypedCode(device.recoveryCodes[0]), in: session, by: author)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorStepUp)
      #expect(row.new(.verification) == .code("recovery-code"))
      #expect(row.new(.codesLeft) == .number(9))
    }
  }

  @Test func `the entry of a removed app says how many sessions and recovery codes ended`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("ann", .auditor))
      _ = try await instance.signIn(device)
      instance.clock.advance(30)
      try await instance.identity.administratorFactors.withdraw(
        from: device.administrator, currentCode: TypedCode(device.code(at: instance.now)),
        by: instance.author(device.administrator))
      let row = try #require(
        try await instance.wholeLog().first { $0.action == .administratorWithdraw })
      #expect(row.fields == [.authenticator, .codes, .sessionsEnded])
      #expect(row.old(.codes) == .number(10) && row.new(.sessionsEnded) == .number(1))
    }
  }

  @Test func `roles that require a second factor can't remove it`() async throws {
    try await withInstance { instance in
      let factors = instance.identity.administratorFactors
      for (name, role, expected) in [
        ("olga", Role.owner, "mandatory"), ("sam", .support, "mandatory"),
        ("ann", .auditor, "done"),
      ] {
        let device = try await instance.enroll(try await instance.administrator(name, role))
        let code = try device.code(at: instance.now)
        await expect(expected) {
          try await factors.withdraw(
            from: device.administrator, currentCode: TypedCode(code),
            by: instance.author(device.administrator))
        }
        let record = try await instance.identity.administrators.record(device.administrator.id)
        #expect(record.hasSecondFactor == (expected == "mandatory"))
      }
    }
  }

  @Test func `an owner's reset removes the factor and recovery codes and ends sessions`()
    async throws
  {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let factors = instance.identity.administratorFactors
      await expect("notFound") {
        try await factors.reset(nora.id, by: .program(instance.author(boss)))
      }
      let device = try await instance.enroll(nora)
      let token = try await instance.signIn(device).token.revealedText
      let pending = try await instance.giveConsolePassword(nora).pending
      try await factors.reset(nora.id, by: .program(instance.author(boss)))
      #expect(try await instance.identity.consoleSessions.find(token: token) == nil)
      await expect("ended") { try await instance.finish(pending, code: device.recoveryCodes[0]) }
      #expect(try await instance.identity.ownAccount.recoveryCodesLeft(nora.id) == 0)
      let row = try await instance.wholeLog().first { $0.action == .administratorResetFactor }
      #expect(row?.old(.codes) == .number(10))
      _ = try await instance.giveConsolePassword(nora).session
    }
  }
}

struct RecoveryCodeTests {
  @Test func `K4: there are ten recovery codes of 79 bits, each single-use`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let id = device.administrator.id
      #expect(Set(device.recoveryCodes).count == 10)
      for code in device.recoveryCodes {
        #expect(code.wholeMatch(of: /([A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}/) != nil)
      }
      #expect(try await instance.identity.ownAccount.recoveryCodesLeft(id) == 10)
      let typed = " " + device.recoveryCodes[0].lowercased().replacing("-", with: " ")
      _ = try await instance.signIn(device, code: typed)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.new(.verification) == .code("recovery-code") && row.new(.codesLeft) == .number(9))
      await expect("wrongCode") { try await instance.signIn(device, code: typed) }
      #expect(try await instance.identity.ownAccount.recoveryCodesLeft(id) == 9)
    }
  }

  @Test func `of concurrent uses of one recovery code, one succeeds`() async throws {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      var pending: [String] = []
      for _ in 0..<4 {
        pending.append(try await instance.giveConsolePassword(device.administrator).pending)
      }
      let tokens = pending
      let outcomes = try await concurrently(4) { number in
        await outcome { try await instance.finish(tokens[number], code: device.recoveryCodes[3]) }
      }
      #expect(outcomes.tally == ["done": 1, "wrongCode": 3])
    }
  }

  @Test func `a new set of codes revokes the old one, and codes are bound to their administrator`()
    async throws
  {
    try await withInstance { instance in
      let factors = instance.identity.administratorFactors
      let device = try await instance.enroll(try await instance.administrator("olga", .owner))
      let other = try await instance.enroll(try await instance.administrator("sam", .support))
      await expect("wrongCode") {
        try await instance.signIn(device, code: other.recoveryCodes[0])
      }
      // A recovery code can also be used to generate the next set.
      let codes = try await factors.makeRecoveryCodes(
        for: device.administrator.id, currentCode: TypedCode(device.recoveryCodes[9]),
        by: instance.author(device.administrator))
      #expect(codes.count == 10)
      await expect("wrongCode") {
        try await instance.signIn(device, code: device.recoveryCodes[0])
      }
      await expect("done") { try await instance.signIn(device, code: codes[0].revealedText) }
    }
  }
}
