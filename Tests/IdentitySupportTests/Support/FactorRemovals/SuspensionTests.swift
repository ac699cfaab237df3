import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// Tests factors whose codes are temporarily rejected.
struct SuspensionTests {
  private func suspend(
    _ instance: Instance, _ device: Device, seconds: Int64
  ) async throws -> Suspension {
    let agent = try await instance.agent()
    return try await instance.identity.support.suspend(
      instance.acme, device.account.id, device.factor,
      until: instance.now.advanced(bySeconds: seconds), agent.request()
    ).value
  }

  @Test
  func `L4: a suspended factor stays required, its codes are rejected, and the suspension expires`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let suspended = try await instance.reload(device.account)
      #expect(suspended.factors.first?.isSuspended(at: instance.now) == true)
      let pending = try await instance.pending(.alice)
      await expect("invalidCode") {
        try await instance.finalize(
          device, pending, code: device.code(at: instance.now))
      }
      #expect(try await instance.codeAttempts(device.account).first?.result == .suspended)
      let log = try await instance.log()
      let row = try #require(log.first { $0.action == .factorSuspend })
      #expect(row.reason == "lost" && row.old(.suspendedUntil) == .absent)
      instance.clock.advance(600)
      let after = try await instance.reload(device.account)
      #expect(after.factors.first?.isSuspended(at: instance.now) == false)
      _ = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      #expect(try await instance.reload(device.account).wrongCodes == 0)
    }
  }

  @Test func `a user can't unenroll a suspended factor`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let (session, id) = (device.session, device.factor.text)
      await expect("factorSuspended") {
        try await instance.identity.enrollments.withdraw(
          session, enrollment: id, by: Instance.visitor)
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
      instance.clock.advance(600)
      _ = try await instance.identity.enrollments.withdraw(
        session, enrollment: id, by: Instance.visitor)
      #expect(try await instance.reload(device.account).factors.isEmpty)
    }
  }

  @Test func `L4: the link in the enrollment email can't remove a suspended factor`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let code = try #require(try await instance.mails("revert-factor").last).code
      _ = try await suspend(instance, device, seconds: 600)
      let codes = instance.identity.outOfBandCodes
      await expect("factorSuspended") { try await codes.apply(code, by: Instance.visitor) }
      #expect(try await instance.reload(device.account).factors.map(\.id) == [device.factor])
      // Nothing changed, so the link is valid once the suspension ends.
      instance.clock.advance(600)
      _ = try await codes.apply(code, by: Instance.visitor)
      #expect(try await instance.reload(device.account).factors.isEmpty)
    }
  }

  @Test
  func `L4: a session that passed only a suspended factor can't enroll another, or generate codes`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let enrollments = instance.identity.enrollments
      let fresh = try await instance.signIn(
        .alice, device, code: device.code(at: instance.now)
      ).session
      let info = try await enrollments.startPhone(fresh, instance.request())
      _ = try await suspend(instance, device, seconds: 600)
      for session in [device.session, fresh] {
        await expect("factorSuspended") {
          try await enrollments.startPhone(session, instance.request())
        }
      }
      await expect("factorSuspended") {
        try await enrollments.finalizePhone(
          fresh, .code(sessionInfo: info, code: TypedCode(Instance.code)), displayName: nil,
          by: Instance.visitor)
      }
      await expect("factorSuspended") {
        try await enrollments.makeRecoveryCodes(fresh, by: Instance.visitor)
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
      // With a temporary code from support, the user replaces the lost device.
      let temporary = try await instance.temporaryCode(device.account)
      let helped = try await instance.signIn(.alice, device, code: temporary)
      let enrolled = try await instance.enrollPhone(helped.session)
      #expect(enrolled.account.factors.map(\.kind) == [.totp, .phone])
      // The new session passed a factor that isn't suspended.
      try await instance.enrollPhone(enrolled.session, number: Instance.otherNumber)
    }
  }

  /// Alice's account with a phone that's suspended for a number of seconds.
  private func suspendedPhone(
    _ instance: Instance, for seconds: Int64 = 600
  ) async throws -> Account {
    try await instance.allowPhones()
    let account = try await instance.withPhone(.alice).account
    let phone = try #require(account.factors.first)
    let agent = try await instance.agent()
    _ = try await instance.identity.support.suspend(
      instance.acme, account.id, phone.id, until: instance.now.advanced(bySeconds: seconds),
      agent.request())
    return account
  }

  @Test func `a suspended factor that sign-in doesn't require blocks no enrollment`() async throws {
    try await withInstance { instance in
      _ = try await suspendedPhone(instance)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) { $0.configuration.setSMS(false) }
      let device = try await instance.enroll(try await instance.session(.alice).session)
      #expect(device.account.factors.map(\.kind) == [.phone, .totp])
    }
  }

  @Test func `correct codes of a suspended factor neither add to the wrong codes nor reset them`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      for _ in 0..<3 { #expect(try await instance.guess(device) == "invalidCode") }
      _ = try await suspend(instance, device, seconds: 3_600)
      let temporary = try await instance.temporaryCode(device.account)
      // A client that sends each code repeatedly for as long as the suspension lasts.
      for _ in 0..<12 {
        instance.clock.advance(30)
        let code = try device.code(at: instance.now)
        for _ in 0..<2 {
          #expect(try await instance.enterCode(device, code: code) == "invalidCode")
        }
      }
      let account = try await instance.reload(device.account)
      #expect(account.wrongCodes == 3 && account.codeLock(at: instance.now) == .open)
      #expect(account.factors.first?.lastUsedAt == device.account.factors.first?.lastUsedAt)
      // One attempt records the number of times, so that repeated codes can't fill the disk.
      let codeAttempts = try await instance.codeAttempts(device.account)
      #expect(codeAttempts.filter { $0.result == .suspended }.map(\.times) == [24])
      try await instance.signIn(.alice, device, code: temporary)
      #expect(try await instance.reload(device.account).wrongCodes == 0)
    }
  }

  @Test func `wrong codes add up during a suspension, even between correct ones`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 3_600)
      let temporary = try await instance.temporaryCode(device.account)
      // Guesses at an app code, a temporary code, and a recovery code, and text that isn't a code.
      let guesses = [
        "100000", "AAAA-BBBB", "AAAA-BBBB-CCCC-DDDD", "1234567",
      ]
      for (number, guess) in guesses.enumerated() {
        instance.clock.advance(30)
        let right = try device.code(at: instance.now)
        #expect(try await instance.enterCode(device, code: right) == "invalidCode")
        #expect(try await instance.enterCode(device, code: guess) == "invalidCode")
        #expect(try await instance.reload(device.account).wrongCodes == number + 1)
      }
      #expect(try await instance.guess(device) == "quotaExceeded")
      // From now on codes aren't checked, and correct ones get the same response.
      for code in [try device.code(at: instance.now.advanced(bySeconds: 30)), temporary] {
        #expect(try await instance.enterCode(device, code: code) == "quotaExceeded")
      }
      #expect(try await instance.reload(device.account).wrongCodes == 5)
    }
  }

  @Test func `an app's code is never mistaken for a backup code`() {
    // So a correct code of a suspended app is never counted as a guess at a temporary code.
    for kind in BackupCodeStore.Kind.allCases {
      let letters = String(repeating: "2", count: kind.length)
      for code in [TypedCode(letters), TypedCode(CodeText.grouped(letters))] {
        #expect(!code.isDigits(TOTPFactor.digits) && BackupCodeStore.Kind(of: code) == kind)
      }
    }
    // In any notation.
    for code in ["234567", "234 567", " 234567", "234567\n", "234-567", "２３４５６７", "٢٣٤٥٦٧"]
      as [TypedCode]
    {
      #expect(code.isDigits(TOTPFactor.digits) && BackupCodeStore.Kind(of: code) == nil, "\(code)")
    }
    for code in ["+23456", "23456e", "2345678", ""] as [TypedCode] {
      #expect(!code.isDigits(TOTPFactor.digits) && BackupCodeStore.Kind(of: code) == nil, "\(code)")
    }
  }

  @Test func `a code used during the suspension isn't accepted afterwards`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let before = try device.code(at: instance.now)
      _ = try await instance.signIn(.alice, device, code: before)
      instance.clock.advance(30)
      let seen = try device.code(at: instance.now)
      _ = try await suspend(instance, device, seconds: 600)
      // An attacker may also send an earlier code, which is just as correct and as useless.
      for code in [before, seen, before, seen] {
        #expect(try await instance.enterCode(device, code: code) == "invalidCode")
      }
      #expect(try await instance.reload(device.account).wrongCodes == 0)
      _ = try await instance.identity.support.resume(
        instance.acme, device.account.id, device.factor, agent.request(.found))
      for code in [seen, before] {
        #expect(try await instance.enterCode(device, code: code) == "invalidCode")
      }
      #expect(
        try await instance.codeAttempts(device.account).prefix(2).map(\.result) == [.older, .used])
      instance.clock.advance(30)
      _ = try await instance.signIn(.alice, device, code: device.code(at: instance.now))
    }
  }

  @Test func `resuming a factor early makes its codes valid immediately`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let agent = try await instance.agent()
      let (support, id) = (instance.identity.support, device.account.id)
      _ = try await support.resume(instance.acme, id, device.factor, agent.request(.found))
      await expect("nothingToDo") {
        try await support.resume(instance.acme, id, device.factor, agent.request(.found))
      }
      _ = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      let row = try #require(try await instance.log().first { $0.action == .factorResume })
      #expect(row.reason == "found" && row.new(.suspendedUntil) == .absent)
    }
  }

  @Test(arguments: Accounts.Sort.allCases)
  func `a user is listed as suspended until a suspension expires, ends early, or has no factor`(
    sort: Accounts.Sort
  ) async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      let mallory = try await instance.enrolled(.mallory)
      let accounts = instance.identity.accounts
      func listed() async throws -> Set<ID<Account>> {
        var (seen, after): ([ID<Account>], String?) = ([], nil)
        repeat {
          let page = try await accounts.list(
            instance.acme, filter: .suspended, sort: sort, after: after, limit: 1)
          seen += page.items.map(\.id)
          after = page.next
        } while after != nil
        let found = try await accounts.search(instance.acme, "example", filter: .suspended)
        #expect(Set(found.accounts.map(\.id)) == Set(seen))
        let (counts, marked) = try await accounts.countsWithMarked(instance.acme)
        #expect(marked == MarkedCounts(suspended: seen.count) && seen.count == Set(seen).count)
        #expect(try await accounts.counts(instance.acme) == counts)
        return Set(seen)
      }
      let before = try await listed()
      #expect(before.isEmpty)
      for device in [bob, mallory] { _ = try await suspend(instance, device, seconds: 7_200) }
      _ = try await suspend(instance, alice, seconds: 600)
      let all: Set = [alice.account.id, bob.account.id, mallory.account.id]
      let suspended = try await listed()
      #expect(suspended == all)
      let elsewhere = try await accounts.list(instance.east, filter: .suspended, sort: sort).items
      let other = try await accounts.countsWithMarked(instance.east).marked.suspended
      #expect(elsewhere.isEmpty && other == 0)
      instance.clock.advance(599)
      let last = try await listed()
      #expect(last == all)
      instance.clock.advance(1)
      let expired = try await listed()
      #expect(expired == [bob.account.id, mallory.account.id])
      let agent = try await instance.agent()
      _ = try await instance.identity.support.resume(
        instance.acme, bob.account.id, bob.factor, agent.request(.found))
      let resumed = try await listed()
      #expect(resumed == [mallory.account.id])
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, mallory.account.id, mallory.factor, agent.request())
      let removed = try await listed()
      #expect(removed.isEmpty)
    }
  }

  @Test func `a suspension ends in the future and lasts at most 30 days`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for seconds in [0, -1, 30 * 86_400 + 1] as [Int64] {
        await expect("untilOutOfRange") {
          try await suspend(instance, device, seconds: seconds)
        }
      }
      let agent = try await instance.agent()
      await expect("untilOutOfRange") {
        try await instance.identity.support.suspend(
          instance.acme, device.account.id, device.factor, until: nil, agent.request())
      }
      _ = try await suspend(instance, device, seconds: 30 * 86_400)
      // A new end time replaces the old one, which the audit row shows.
      _ = try await suspend(instance, device, seconds: 60)
      #expect(try await instance.log().first?.old(.suspendedUntil) != .absent)
    }
  }

  @Test func `the codes of a suspended phone are rejected`() async throws {
    try await withInstance { instance in
      let account = try await suspendedPhone(instance)
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: account)
      await expect("invalidCode") { try await instance.finalizePhone(pending, info) }
      instance.clock.advance(600)
      let later = try await instance.pending(.alice)
      let other = try await instance.sendCode(later, to: account)
      _ = try await instance.finalizePhone(later, other)
    }
  }

  @Test func `a correct SMS code of a suspended phone is used up and rejected like a wrong one`()
    async throws
  {
    try await withInstance { instance in
      let account = try await suspendedPhone(instance, for: 300)
      let phone = try #require(account.factors.first)
      let pending = try await instance.pending(.alice)
      let first = try await instance.sendCode(pending, to: account)
      // It's rejected as often as a wrong code, with the same errors.
      for _ in 0..<5 {
        await expect("invalidCode") { try await instance.finalizePhone(pending, first) }
      }
      await expect("sessionExpired") { try await instance.finalizePhone(pending, first) }
      let after = try await instance.reload(account)
      #expect(after.wrongCodes == 0 && after.codeLock(at: instance.now) == .open)
      #expect(after.factors.first?.lastUsedAt == phone.lastUsedAt)
      let second = try await instance.sendCode(pending, to: account)
      await expect("invalidCode") { try await instance.finalizePhone(pending, second) }
      await expect("invalidCode") {
        try await instance.finalizePhone(pending, second, code: "000000")
      }
      #expect(try await instance.reload(account).wrongCodes == 1)
      instance.clock.advance(300)
      await expect("sessionExpired") { try await instance.finalizePhone(pending, second) }
      let third = try await instance.sendCode(pending, to: account)
      _ = try await instance.finalizePhone(pending, third)
      #expect(try await instance.reload(account).wrongCodes == 0)
    }
  }

  @Test func `a factor removed while suspended is still suspended when restored`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await suspend(instance, device, seconds: 600)
      let dora = try await instance.agent()
      let erik = try await instance.agent("erik")
      let removal = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, dora.request()
      ).value.removal
      let id = try #require(removal.hold?.id)
      _ = try await instance.identity.factorRemovals.undo(
        instance.acme, device.account.id, id, erik.request(.mistake))
      let factor = try #require(try await instance.reload(device.account).factors.first)
      #expect(factor.isSuspended(at: instance.now))
    }
  }
}

extension Instance {
  /// Signs in with a code that isn't valid for the app.
  fileprivate func guess(_ device: Device) async throws -> String {
    let near = (-12...12).compactMap { try? device.code(at: now.advanced(bySeconds: $0 * 30)) }
    let code = (0...30).map { String(100_000 + $0) }.first { !near.contains($0) } ?? "100031"
    return try await enterCode(device, code: code)
  }
}
