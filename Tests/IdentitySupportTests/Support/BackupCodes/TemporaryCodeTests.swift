import Crypto
import Database
import Foundation
import Identity
import OTP
import TestDatabases
import Testing

@testable import TestIdentity

struct TemporaryCodeTests {
  private let usedAction = AuditAction.factorUseTemporaryCode

  @Test func `a code signs its user in once, with a session like any other`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account)
      let grant = try await instance.signIn(.alice, device, code: code)
      #expect(grant.session.secondFactor?.enrollment == device.factor)
      #expect(grant.session.secondFactor?.kind == .totp)
      let row = try #require(try await instance.log().first)
      #expect(row.action == usedAction && row.actorKind == "user")
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: code) }
      #expect(try await instance.reload(device.account).wrongCodes == 1)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: "12345") }
      let codeAttempts = try await instance.codeAttempts(device.account)
      #expect(codeAttempts.prefix(3).map(\.result) == [.unreadable, .wrong, .temporary])
      // The app's codes are still accepted.
      instance.clock.advance(30)
      try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      #expect(try await instance.reload(device.account).factors[0].lastUsedAt == instance.now)
    }
  }

  @Test func `a code from before the clock was set back has expired`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(86_400)
      let code = try await instance.temporaryCode(device.account)
      instance.clock.advance(-86_400)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: code) }
    }
  }

  @Test func `exactly one of many concurrent sign-ins with a code succeeds`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account)
      var pending: [String] = []
      for _ in 0..<6 { pending.append(try await instance.pending(.alice)) }
      let credentials = pending
      let results = try await concurrently(6) { index in
        await outcome { try await instance.finalize(device, credentials[index], code: code) }
      }
      #expect(results.tally["done"] == 1)
    }
  }

  @Test func `a code is accepted in any case and spacing, and has no ambiguous characters`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      for write: (String) -> String in [
        { $0 }, { $0.lowercased() }, { $0.replacing("-", with: "") },
        { " " + $0.lowercased().replacing("-", with: " ") + "\n" },
      ] {
        let code = try await instance.temporaryCode(device.account, by: agent)
        #expect(code.utf8.count == 9)
        #expect(code.allSatisfy { $0 == "-" || "ABCDEFGHJKMNPQRSTUVWXYZ23456789".contains($0) })
        try await instance.signIn(.alice, device, code: write(code))
      }
    }
  }

  @Test(arguments: [(1, 1), (4, 4), (8, 8), (24, 24), (25, 1), (0, 1), (-3, 1)])
  func `K4: a code is valid for the chosen 1 to 24 hours, and otherwise for one hour`(
    chosen: Int, valid: Int
  ) async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let first = try await instance.temporaryCode(device.account, hours: chosen, by: agent)
      instance.clock.advance(Int64(valid) * 3_600 - 1)
      try await instance.signIn(.alice, device, code: first)
      try await instance.reauthenticate(agent.session)
      let second = try await instance.temporaryCode(device.account, hours: chosen, by: agent)
      instance.clock.advance(Int64(valid) * 3_600)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: second) }
      try await instance.identity.purgeExpired()
    }
  }

  @Test func `a newer code invalidates the earlier one, and each account has its own`() async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      let agent = try await instance.agent()
      let first = try await instance.temporaryCode(alice.account, by: agent)
      let second = try await instance.temporaryCode(alice.account, by: agent)
      let bobs = try await instance.temporaryCode(bob.account, by: agent)
      await expect("invalidCode") { try await instance.signIn(.alice, alice, code: first) }
      await expect("invalidCode") { try await instance.signIn(.alice, alice, code: bobs) }
      try await instance.signIn(.alice, alice, code: second)
      try await instance.signIn(.bob, bob, code: bobs)
    }
  }

  @Test func `a code is invalidated with the factors that it was generated for`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account)
      let grant = try await instance.signIn(
        .alice, device, code: device.code(at: instance.now))
      _ = try await instance.identity.enrollments.withdraw(
        grant.session, enrollment: device.factor.text, by: Instance.visitor)
      let session = try await instance.session(.alice).session
      let next = try await instance.enroll(session)
      await expect("invalidCode") { try await instance.signIn(.alice, next, code: code) }
    }
  }

  @Test func `K4: a code is refused while the account is locked, and accepted afterwards`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account, hours: 24)
      for guess in 0..<5 {
        _ = await outcome {
          try await instance.signIn(.alice, device, code: "AAAA-AAA\(guess + 2)")
        }
      }
      await expect("quotaExceeded") { try await instance.signIn(.alice, device, code: code) }
      instance.clock.advance(31)
      try await instance.signIn(.alice, device, code: code)
      #expect(try await instance.reload(device.account).wrongCodes == 0)
    }
  }

  @Test func `a code is accepted instead of a suspended app's, whose own codes are rejected`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let code = try await instance.temporaryCode(device.account, by: agent)
      _ = try await instance.identity.support.suspend(
        instance.acme, device.account.id, device.factor,
        until: instance.now.advanced(bySeconds: 86_400), agent.request())
      let own = try device.code(at: instance.now)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: own) }
      try await instance.signIn(.alice, device, code: code)
    }
  }

  @Test func `a code requires a pool that permits it and a user with an app`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let bob = try await instance.account(.bob)
      let agent = try await instance.agent()
      await expect("switchedOff") {
        try await instance.temporaryCode(device.account, by: agent)
      }
      try await instance.allowBackupCodes()
      await expect("noAuthenticator") { try await instance.temporaryCode(bob, by: agent) }
      let code = try await instance.temporaryCode(device.account, by: agent)
      try await instance.allowBackupCodes(temporary: false)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: code) }
      try await instance.allowBackupCodes()
      try await instance.signIn(.alice, device, code: code)
    }
  }

  @Test func `a code revoked by an agent isn't accepted`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      await expect("noCodes") {
        try await instance.identity.backupCodes.endTemporaryCode(
          agent.request(), of: device.account.id, in: instance.acme)
      }
      let code = try await instance.temporaryCode(device.account, by: agent)
      let before = try await instance.identity.backupCodes.state(
        of: device.account, in: instance.acme)
      #expect(before.temporaryUntil == instance.now.advanced(bySeconds: 3_600))
      _ = try await instance.identity.backupCodes.endTemporaryCode(
        agent.request(), of: device.account.id, in: instance.acme)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: code) }
      let after = try await instance.identity.backupCodes.state(
        of: device.account, in: instance.acme)
      #expect(after.temporaryUntil == nil)
      #expect(try await instance.mails("notice-temporary-code-ended").count == 1)
    }
  }

  @Test func `K4: neither the code nor an unkeyed digest of it is stored or mailed`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account)
      let letters = code.replacing("-", with: "")
      let kept = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ code_digest FROM backup_code") {
          try $0.next() as [UInt8]
        }
      }
      #expect(kept.count == 1 && kept[0].count == 32)
      let texts = [code, letters, code.lowercased(), letters.lowercased()].map { Array($0.utf8) }
      let digests = texts.map { HashFunction.sha256.digest($0) }
      let needles = texts + digests + digests.map { Array(Hex.encode($0).utf8) }
      let files = try await instance.test.files()
      let email = Array(Person.alice.email.utf8)
      #expect(files.contains { $0.firstRange(of: email) != nil })
      for bytes in files {
        for needle in needles { #expect(bytes.firstRange(of: needle) == nil) }
      }
      let mails = try await instance.mails("notice-temporary-code")
      #expect(mails.map(\.recipient) == [Person.alice.email])
      for text in mails.map({ $0.subject + $0.body }) {
        #expect(!text.contains(letters) && !text.contains(code))
      }
      for row in try await instance.wholeLog() {
        #expect(!"\(row)".contains(code) && !"\(row)".contains(letters))
      }
    }
  }

  @Test func `a regular sign-in doesn't look up temporary codes`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      await expect("invalidCode") {
        try await instance.signIn(.alice, device, code: "000000")
      }
      #expect(!instance.statements.all.contains { $0.contains("SELECT sealed_key FROM") })
      await expect("invalidCode") {
        try await instance.signIn(.alice, device, code: "ABCD-EFGH")
      }
      #expect(instance.statements.all.contains { $0.contains("SELECT sealed_key FROM") })
    }
  }

  @Test func `a code is accepted after the master key is rotated`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account, hours: 24)
      let (identity, ring) = try await instance.rotateMasterKey()
      ring.adopt(ring.newestAlone())
      let outcome = try await identity.signIns.password(
        instance.acme, email: Person.alice.email, password: Person.alice.password, address: "a")
      guard case .secondFactorDue(_, let pending, _) = outcome else {
        throw Unexpected("no second factor is required")
      }
      _ = try await identity.signIns.finalize(
        project: instance.acme.project, tenant: nil, pendingCredential: pending,
        enrollment: device.factor.text, code: TypedCode(code))
    }
  }
}
