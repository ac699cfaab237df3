import Identity
import Testing

@testable import TestIdentity

struct UserRecoveryCodeTests {
  @Test func `K4: each of ten codes is accepted once, and the remaining codes are counted`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let codes = try await instance.recoveryCodes(.alice, device)
      #expect(Set(codes).count == 10 && codes.allSatisfy { $0.utf8.count == 19 })
      try await instance.signIn(.alice, device, code: codes[3])
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: codes[3]) }
      let grant = try await instance.signIn(.alice, device, code: codes[0].lowercased())
      let count = try await instance.identity.enrollments.recoveryCodes(of: grant.session)
      #expect(count.left == 8 && count.madeAt != nil)
      let state = try await instance.identity.backupCodes.state(
        of: device.account, in: instance.acme)
      #expect(state.recoveryLeft == 8)
      let row = try #require(
        try await instance.log().first { $0.action == .factorUseRecoveryCode })
      #expect(row.new(.codesLeft) == .number(8))
      let mails = try await instance.mails("notice-recovery-code-used")
      #expect(mails.count == 2 && mails[1].body.contains("8 recovery codes are left"))
      #expect(!codes.contains { code in mails.contains { $0.body.contains(code) } })
    }
  }

  @Test func `new codes invalidate the earlier ones`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let old = try await instance.recoveryCodes(.alice, device)
      instance.clock.advance(30)
      let new = try await instance.recoveryCodes(.alice, device)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: old[1]) }
      try await instance.signIn(.alice, device, code: new[1])
      let row = try #require(
        try await instance.log().first { $0.action == .factorRecoveryCodes })
      #expect(row.old(.codes) == .number(10) && row.new(.codes) == .number(10))
      #expect(try await instance.mails("notice-recovery-codes").count == 2)
    }
  }

  @Test func `generating codes requires a session with a recent code from the app`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let identity = instance.identity
      let author = Instance.visitor
      _ = try await instance.account(.bob)
      let plain = try await instance.session(.bob).session
      await expect("enrollmentNotFound") {
        try await identity.enrollments.makeRecoveryCodes(plain, by: author)
      }
      let device = try await instance.enrolled(.alice)
      var weak = device.session
      weak = UserSession(
        pool: weak.pool, account: weak.account, authTime: weak.authTime,
        provider: weak.provider)
      let onlyPassword = weak
      await expect("secondFactorNeeded") {
        try await identity.enrollments.makeRecoveryCodes(onlyPassword, by: author)
      }
      // A temporary code that someone was told must not become ten that don't expire.
      let told = try await instance.signIn(
        .alice, device, code: try await instance.temporaryCode(device.account))
      await expect("secondFactorNeeded") {
        try await identity.enrollments.makeRecoveryCodes(told.session, by: author)
      }
      let renewed = try await identity.sessions.renew(told.session)
      await expect("secondFactorNeeded") {
        try await identity.enrollments.makeRecoveryCodes(renewed.session, by: author)
      }
      instance.clock.advance(300)
      await expect("signInTooOld") {
        try await identity.enrollments.makeRecoveryCodes(device.session, by: author)
      }
      let grant = try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      _ = try await identity.enrollments.makeRecoveryCodes(grant.session, by: author)
      // A session that continues another one isn't a sign-in.
      instance.clock.advance(301)
      let continued = try await identity.sessions.renew(grant.session)
      #expect(continued.session.authTime == instance.now.seconds)
      for session in [
        continued.session, try await identity.sessions.renew(continued.session).session,
      ] {
        await expect("signInTooOld") {
          try await identity.enrollments.makeRecoveryCodes(session, by: author)
        }
        await expect("signInTooOld") { try await identity.enrollments.start(session) }
      }
      try await instance.allowBackupCodes(recovery: false)
      await expect("recoveryCodesNotEnabled") {
        try await identity.enrollments.makeRecoveryCodes(grant.session, by: author)
      }
      #expect(try await identity.enrollments.recoveryCodes(of: grant.session).left == 0)
    }
  }

  @Test func `enrolling a phone isn't a sign-in, and hides no backup code`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      try await instance.allowPhones()
      let enrollments = instance.identity.enrollments
      _ = try await instance.account(.bob)
      let plain = try await instance.session(.bob).session
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(3 * 3_600)
      await expect("signInTooOld") {
        try await enrollments.makeRecoveryCodes(device.session, by: Instance.visitor)
      }
      await expect("signInTooOld") { try await enrollments.start(plain) }
      let continued = try await instance.enrollPhone(device.session).session
      #expect(continued.secondFactor?.kind == .phone)
      #expect(continued.authTime == instance.now.seconds)
      await expect("signInTooOld") {
        try await enrollments.makeRecoveryCodes(continued, by: Instance.visitor)
      }
      let phoned = try await instance.enrollPhone(plain).session
      await expect("signInTooOld") { try await enrollments.start(phoned) }
      let told = try await instance.signIn(
        .alice, device, code: try await instance.temporaryCode(device.account))
      let both = try await instance.enrollPhone(told.session, number: Instance.otherNumber)
      await expect("secondFactorNeeded") {
        try await enrollments.makeRecoveryCodes(both.session, by: Instance.visitor)
      }
      // A recent sign-in with the app stays one.
      let right = try await instance.signIn(
        .alice, device, code: device.code(at: instance.now)
      ).session
      let first = try #require(continued.secondFactor).enrollment
      let kept = try #require(
        try await enrollments.withdraw(right, enrollment: first.text, by: Instance.visitor))
      let again = try await instance.enrollPhone(kept.session)
      _ = try await enrollments.makeRecoveryCodes(again.session, by: Instance.visitor)
    }
  }

  @Test func `unenrolling the app doesn't hide the backup code that replaced its code`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      try await instance.allowPhones()
      let enrollments = instance.identity.enrollments
      let device = try await instance.enrolled(.alice)
      let told = try await instance.signIn(
        .alice, device, code: try await instance.temporaryCode(device.account))
      await expect("secondFactorNeeded") {
        try await enrollments.makeRecoveryCodes(told.session, by: Instance.visitor)
      }
      let without = try #require(
        try await enrollments.withdraw(
          told.session, enrollment: device.factor.text, by: Instance.visitor))
      #expect(without.session.secondFactor == nil)
      let next = try await instance.enroll(without.session)
      #expect(next.session.secondFactor?.enrollment == next.factor)
      await expect("secondFactorNeeded") {
        try await enrollments.makeRecoveryCodes(next.session, by: Instance.visitor)
      }
      // A sign-in with the new app is one.
      instance.clock.advance(30)
      let right = try await instance.signIn(.alice, next, code: next.code(at: instance.now))
      _ = try await enrollments.makeRecoveryCodes(right.session, by: Instance.visitor)
      try await instance.renewAlerts(of: device.account)
      // With a phone in between, the session never lacks a second factor.
      let phoned = try await instance.enrollPhone(next.session)
      let kept = try #require(
        try await enrollments.withdraw(
          phoned.session, enrollment: next.factor.text, by: Instance.visitor))
      #expect(kept.session.secondFactor?.kind == .phone)
      let last = try await instance.enroll(kept.session)
      await expect("secondFactorNeeded") {
        try await enrollments.makeRecoveryCodes(last.session, by: Instance.visitor)
      }
    }
  }

  @Test func `enrolling an app isn't a sign-in either`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let enrollments = instance.identity.enrollments
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      instance.clock.advance(300)
      let device = try await instance.enroll(session)
      _ = try await enrollments.makeRecoveryCodes(device.session, by: Instance.visitor)
      instance.clock.advance(1)
      await expect("signInTooOld") {
        try await enrollments.makeRecoveryCodes(device.session, by: Instance.visitor)
      }
    }
  }

  @Test func `codes are revoked when the user reverts the enrollment of another factor`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      let codes = try await instance.recoveryCodes(.alice, device)
      _ = try await instance.temporaryCode(device.account)
      _ = try await instance.enrollPhone(device.session)
      let enrollment = try #require(try await instance.log().first)
      #expect(enrollment.action == .factorEnroll)
      #expect(enrollment.new(.temporaryCodesEnded) == .number(1))
      #expect(enrollment.new(.recoveryCodesEnded) == nil)
      _ = try await instance.temporaryCode(device.account)
      let mail = try #require(try await instance.mails("revert-factor").last)
      let applied = try await instance.identity.outOfBandCodes.apply(
        try mail.code, by: Instance.visitor)
      #expect(applied.canMakeRecoveryCodes)
      #expect(try await instance.reload(device.account).factors.map(\.id) == [device.factor])
      let state = try await instance.identity.backupCodes.state(
        of: device.account, in: instance.acme)
      #expect(state.recoveryLeft == nil)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: codes[0]) }
      let row = try #require(try await instance.log().first { $0.action == .factorRevert })
      #expect(row.new(.recoveryCodesEnded) == .number(10))
      #expect(row.new(.temporaryCodesEnded) == .number(1))
    }
  }

  @Test func `without an app, no new codes can be generated after its enrollment is reverted`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      _ = try await instance.recoveryCodes(.alice, device)
      let mail = try #require(try await instance.mails("revert-factor").last)
      let applied = try await instance.identity.outOfBandCodes.apply(
        try mail.code, by: Instance.visitor)
      #expect(applied.account.factors.isEmpty && !applied.canMakeRecoveryCodes)
    }
  }

  @Test func `codes are invalidated with the app, or when an agent revokes them`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let codes = try await instance.recoveryCodes(.alice, device)
      let agent = try await instance.agent()
      let ended = try await instance.identity.backupCodes.endRecoveryCodes(
        agent.request(note: "seen by somebody"), of: device.account.id, in: instance.acme)
      #expect(ended.value == 10)
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: codes[0]) }
      let row = try #require(
        try await instance.log().first { $0.action == .factorEndRecoveryCodes })
      #expect(row.reason == "lost" && row.note == "seen by somebody")
      #expect(try await instance.mails("notice-recovery-codes-voided").count == 1)
      instance.clock.advance(30)
      let more = try await instance.recoveryCodes(.alice, device)
      try await instance.reauthenticate(agent.session)
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, agent.request())
      let removal = try #require(try await instance.log().first { $0.action == .factorRemove })
      #expect(removal.new(.recoveryCodesEnded) == .number(10))
      let next = try await instance.enroll(try await instance.session(.alice).session)
      await expect("invalidCode") { try await instance.signIn(.alice, next, code: more[0]) }
      let state = try await instance.identity.backupCodes.state(
        of: device.account, in: instance.acme)
      #expect(state.recoveryLeft == nil)
    }
  }

  @Test func `the entry of an unenrolled app or cleared factors says how many codes were revoked`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      for isOwn in [true, false] {
        let person: Person = isOwn ? .alice : .bob
        let device = try await instance.enrolled(person)
        _ = try await instance.recoveryCodes(person, device)
        _ = try await instance.temporaryCode(device.account)
        if isOwn {
          _ = try await instance.identity.enrollments.withdraw(
            device.session, enrollment: device.factor.text, by: Instance.visitor)
        } else {
          var change = AccountChange()
          change.factors = .clear
          try await instance.identity.accounts.update(
            instance.acme, device.account.id, change, by: Instance.boss)
        }
        let row = try #require(try await instance.log().first)
        #expect(row.action == (isOwn ? .factorWithdraw : .accountChange))
        #expect(row.new(.recoveryCodesEnded) == .number(10))
        #expect(row.new(.temporaryCodesEnded) == .number(1))
      }
    }
  }

  @Test func `codes are only counted when a user's factors change`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      func counts() -> Bool {
        instance.statements.all.contains { $0.contains("FROM backup_code c") }
      }
      func row(_ phones: [String], named name: String) -> ImportRow {
        ImportRow.user(.alice) {
          $0.localID = device.account.id.text
          $0.displayName = name
          $0.factors = phones.map { ImportedFactor(.phone($0), id: "p") }
        }
      }
      func replace(_ row: ImportRow) async throws {
        let outcome = try await instance.identity.imports.run(
          instance.acme, [row], ImportOptions(existing: .replace), by: Instance.boss)
        #expect(outcome.replaced == 1)
      }
      var change = AccountChange()
      change.displayName = .set("Alice")
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      try await replace(row([], named: "Alicia"))
      #expect(!counts())
      try await replace(row(["+15555550101"], named: "Alicia"))
      #expect(counts())
    }
  }
}
