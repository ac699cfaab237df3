import Crypto
import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

/// Sign-in with a phone as the second factor.
struct PhoneFactorTests {
  @Test func `a sent code completes one sign-in`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.withPhone(.alice).account
      instance.clock.advance(60)
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: account)
      let grant = try await instance.finalizePhone(pending, info)
      let factor = try #require(account.factors.first)
      #expect(grant.session.secondFactor == SecondFactorClaim(kind: .phone, enrollment: factor.id))
      #expect(grant.session.provider == .password)
      let now = try await instance.reload(account)
      #expect(now.factors.first?.lastUsedAt == instance.now)
      #expect(now.lastLoginAt == instance.now)
      await expect("invalidPendingCredential") { try await instance.finalizePhone(pending, info) }
      let next = try await instance.pending(.alice)
      await expect("invalidSessionInfo") { try await instance.finalizePhone(next, info) }
    }
  }

  @Test func `V1: of 20 concurrent finalizations, exactly one succeeds`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.withPhone(.alice).account
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: account)
      let outcomes = try await concurrently(20) { _ in
        await outcome { try await instance.finalizePhone(pending, info) }
      }
      #expect(outcomes.tally == ["done": 1, "invalidPendingCredential": 19])
    }
  }

  @Test func `wrong codes are counted per account and also block messages`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.withPhone(.alice).account
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: account)
      for number in 1...5 {
        await expect(number < 5 ? "invalidCode" : "quotaExceeded") {
          try await instance.finalizePhone(pending, info, code: "00000\(number)")
        }
      }
      await expect("quotaExceeded") { try await instance.finalizePhone(pending, info) }
      await expect("quotaExceeded") { try await instance.sendCode(pending, to: account) }
      instance.clock.advance(30)
      // The message allows five attempts. A new one is needed, and its code resets the count.
      await expect("sessionExpired") { try await instance.finalizePhone(pending, info) }
      let fresh = try await instance.sendCode(pending, to: account)
      _ = try await instance.finalizePhone(pending, fresh)
      #expect(try await instance.reload(account).wrongCodes == 0)
    }
  }

  @Test func `a temporary proof from phone sign-in isn't a second factor`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let signIns = instance.identity.signIns
      let alice = try await instance.withPhone(.alice).account
      _ = try await instance.account(.mallory)
      let mallory = try await instance.session(.mallory).session
      // The number's own account makes phone sign-in return a proof to others.
      let code = try await signIns.sendCode(instance.acme, instance.request())
      _ = try await signIns.phone(
        instance.acme,
        PhoneSignIn(
          proof: .code(sessionInfo: code, code: TypedCode(Instance.code)), purpose: .signIn),
        by: Instance.visitor)
      let sent = try await signIns.sendCode(instance.acme, instance.request())
      let outcome = try await signIns.phone(
        instance.acme,
        PhoneSignIn(
          proof: .code(sessionInfo: sent, code: TypedCode(Instance.code)), purpose: .link(mallory)),
        by: Instance.visitor)
      guard case .taken(let number, let proof) = outcome else { throw Unexpected("linked") }
      let pending = try await instance.pending(.alice)
      for _ in 1...2 {
        await expect("invalidTemporaryProof") {
          try await signIns.finalizePhone(
            project: instance.acme.project, tenant: nil, pendingCredential: pending,
            .temporary(proof, phoneNumber: number))
        }
      }
      // The credential is still good for the code that is sent for it.
      let info = try await instance.sendCode(pending, to: alice)
      _ = try await instance.finalizePhone(pending, info)
    }
  }

  @Test func `a code of another sign-in is refused and counts against the target account`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let alice = try await instance.withPhone(.alice).account
      let mallory = try await instance.withPhone(.mallory, number: Instance.otherNumber).account
      let target = try await instance.pending(.alice)
      let own = try await instance.pending(.mallory)
      let foreign = try await instance.sendCode(own, to: mallory)
      for number in 1...5 {
        await expect(number < 5 ? "invalidSessionInfo" : "quotaExceeded") {
          try await instance.finalizePhone(target, foreign)
        }
      }
      #expect(try await instance.reload(alice).wrongCodes == 5)
      #expect(try await instance.reload(mallory).wrongCodes == 0)
      await expect("projectMismatch") {
        try await instance.identity.signIns.finalizePhone(
          project: instance.globex.project, tenant: nil, pendingCredential: own,
          .code(sessionInfo: foreign, code: TypedCode(Instance.code)))
      }
      await expect("enrollmentNotFound") {
        try await instance.sendCode(own, to: alice)
      }
    }
  }

  @Test func `a pending credential is valid for ten minutes with a phone and five with an app`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      let account = try await instance.enrollPhone(device.session).account
      let pending = try await instance.pending(.alice)
      instance.clock.advance(301)
      let code = try device.code(at: instance.now)
      await expect("pendingExpired") { try await instance.finalize(device, pending, code: code) }
      let info = try await instance.sendCode(pending, to: account)
      instance.clock.advance(299)
      _ = try await instance.sendCode(pending, to: account)
      instance.clock.advance(1)
      await expect("phonePendingExpired") { try await instance.sendCode(pending, to: account) }
      await expect("phonePendingExpired") { try await instance.finalizePhone(pending, info) }
    }
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `a factor is required while its kind is enabled`(totp: Bool, sms: Bool) async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      _ = try await instance.enrollPhone(device.session)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.configuration.totp?.state = totp ? .enabled : .disabled
        edit.configuration.setSMS(sms)
      }
      let kinds = [totp ? Factor.Kind.totp : nil, sms ? .phone : nil].compactMap { $0 }
      switch try await instance.firstFactor(.alice) {
      case .signedIn: #expect(kinds.isEmpty)
      case .secondFactorDue(_, _, let factors): #expect(factors.map(\.kind) == kinds)
      case .enrollmentRequired: throw Unexpected("the sign-in was refused")
      }
    }
  }

  @Test func `a factor can't be used as a factor of another kind`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      let account = try await instance.enrollPhone(device.session).account
      let phone = try #require(account.factors.last)
      let pending = try await instance.pending(.alice)
      await expect("invalidPhone") {
        try await instance.identity.signIns.startPhone(
          project: instance.acme.project, tenant: nil, pendingCredential: pending,
          enrollment: device.factor.text, language: "en", address: "")
      }
      await expect("invalidEnrollment") {
        try await instance.identity.signIns.finalize(
          project: instance.acme.project, tenant: nil, pendingCredential: pending,
          enrollment: phone.id.text, code: "000000")
      }
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.setSMS(false)
      }
      await expect("smsNotEnabled") { try await instance.sendCode(pending, to: account) }
    }
  }

  @Test func `a phone removed in the meantime is rejected`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.withPhone(.alice).account
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: account)
      var change = AccountChange()
      change.factors = .clear
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      await expect("invalidPendingCredential") { try await instance.finalizePhone(pending, info) }
      #expect(
        try await instance.messages() == ["mail notice-factors-removed alice@example.com"])
    }
  }

  @Test func `a policy preview counts users who lose their second factor, by kind`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      _ = try await instance.enrollPhone(device.session)
      _ = try await instance.enrolled(.bob)
      _ = try await instance.withPhone(.mallory, number: Instance.otherNumber)
      var edit = try await instance.identity.policies.read(instance.acme).edit
      edit.configuration.totp?.state = .disabled
      let withoutApps = try await instance.identity.policies.preview(instance.acme) { [edit] _ in
        edit
      }
      #expect(withoutApps.losingSecondFactor == 1)
      edit.configuration.setSMS(false)
      let withoutBoth = try await instance.identity.policies.preview(instance.acme) { [edit] _ in
        edit
      }
      #expect(withoutBoth.losingSecondFactor == 3)
      edit.configuration.totp?.state = .enabled
      let withoutPhones = try await instance.identity.policies.preview(instance.acme) { [edit] _ in
        edit
      }
      #expect(withoutPhones.losingSecondFactor == 1)
    }
  }
}
