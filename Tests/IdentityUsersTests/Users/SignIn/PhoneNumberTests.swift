import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

/// Sign-in with a phone number as the first factor.
struct PhoneNumberTests {
  private func proof(
    _ instance: Instance, _ number: String = Instance.number, code: String = Instance.code
  ) async throws -> PhoneProof {
    .code(
      sessionInfo: try await instance.identity.signIns.sendCode(
        instance.acme, instance.request(number)), code: TypedCode(code))
  }

  private func signIn(
    _ instance: Instance, _ proof: PhoneProof, _ purpose: PhoneSignIn.Purpose = .signIn
  ) async throws -> (SessionGrant, isNew: Bool) {
    let outcome = try await instance.identity.signIns.phone(
      instance.acme, PhoneSignIn(proof: proof, purpose: purpose), by: Instance.visitor)
    guard case .signedIn(let grant, let isNew) = outcome else { throw Unexpected("taken") }
    return (grant, isNew)
  }

  @Test func `the first sign-in with a number creates an account, and the next one finds it`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      await expect("userNotFound") {
        try await signIn(instance, try await proof(instance), .signInAgain)
      }
      let (first, isNew) = try await signIn(instance, try await proof(instance))
      #expect(isNew && first.session.provider == .phone)
      #expect(first.account.phoneNumber == Instance.number)
      #expect(try await instance.log().first?.action == .accountSignUp)
      for purpose in [PhoneSignIn.Purpose.signIn, .signInAgain] {
        let (again, isNewAgain) = try await signIn(instance, try await proof(instance), purpose)
        #expect(!isNewAgain && again.account.id == first.account.id)
      }
      var change = AccountChange()
      change.disabled = true
      try await instance.identity.accounts.update(
        instance.acme, first.account.id, change, by: Instance.boss)
      await expect("userDisabled") { try await signIn(instance, try await proof(instance)) }
    }
  }

  @Test func `concurrent first sign-ins create one account`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      var proofs: [PhoneProof] = []
      for _ in 0..<8 { proofs.append(try await proof(instance)) }
      let all = proofs
      let accounts = try await concurrently(8) { number in
        try await signIn(instance, all[number]).0.account.id
      }
      #expect(Set(accounts).count == 1)
    }
    try await withInstance { instance in
      try await instance.allowPhones()
      let one = try await proof(instance)
      let outcomes = try await concurrently(20) { _ in
        await outcome { try await signIn(instance, one) }
      }
      #expect(outcomes.tally == ["done": 1, "sessionExpired": 19])
    }
  }

  @Test func `phone sign-in must be enabled and isn't available in tenants`() async throws {
    try await withInstance { instance in
      let signIns = instance.identity.signIns
      await expect("phoneLoginDisabled") {
        try await signIns.sendCode(instance.acme, instance.request())
      }
      try await instance.allowPhones()
      let unused = try await proof(instance)
      await expect("tenantWithoutPhones") {
        try await signIns.sendCode(instance.east, instance.request())
      }
      await expect("invalidPhone") {
        try await signIns.sendCode(instance.acme, instance.request(""))
      }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.signIn.phone = false
      }
      await expect("phoneLoginDisabled") { try await signIn(instance, unused) }
    }
  }

  @Test func `a code is single-use, expires in ten minutes, and allows five wrong attempts`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let used = try await proof(instance)
      _ = try await signIn(instance, used)
      await expect("sessionExpired") { try await signIn(instance, used) }
      guard case .code(let info, _) = try await proof(instance) else { return }
      for number in 1...5 {
        await expect("invalidCode") {
          try await signIn(instance, .code(sessionInfo: info, code: TypedCode("00000\(number)")))
        }
      }
      await expect("sessionExpired") {
        try await signIn(instance, .code(sessionInfo: info, code: TypedCode(Instance.code)))
      }
      let old = try await proof(instance)
      instance.clock.advance(601)
      await expect("sessionExpired") { try await signIn(instance, old) }
      await expect("invalidSessionInfo") {
        try await signIn(instance, .code(sessionInfo: "x", code: TypedCode(Instance.code)))
      }
      let foreign = PhoneProof.code(
        sessionInfo: try await instance.identity.signIns.sendCode(
          instance.globex, instance.request()), code: TypedCode(Instance.code))
      await expect("invalidSessionInfo") { try await signIn(instance, foreign) }
    }
  }

  @Test func `wrong codes are counted per number across messages`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      for number in 0..<10 {
        let guess = try await proof(instance, code: "00000\(number)")
        await expect("invalidCode") { try await signIn(instance, guess) }
      }
      let right = try await proof(instance)
      await expect("tooManyAttempts") { try await signIn(instance, right) }
      instance.clock.advance(30)
      _ = try await signIn(instance, right)
    }
  }

  @Test func `linking a number upgrades an anonymous account`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let anonymous = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      let (grant, isNew) = try await signIn(
        instance, try await proof(instance), .link(anonymous.session))
      #expect(!isNew && grant.account.id == anonymous.account.id)
      #expect(grant.account.phoneNumber == Instance.number && !grant.account.isAnonymous)
      let row = try #require(try await instance.log().first)
      #expect(
        row.changes == [
          AuditChange(.phoneNumber, from: .absent, to: .text(Instance.number))
        ])
      #expect(row.action == .accountChange)
      let found = try await instance.identity.accounts.search(instance.acme, Instance.number)
      #expect(found.accounts.map(\.id) == [grant.account.id])
    }
  }

  @Test func `linking a taken number returns a single-use proof that signs in to its account`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let (owner, _) = try await signIn(instance, try await proof(instance))
      _ = try await instance.account(.alice)
      let alice = try await instance.session(.alice).session
      let outcome = try await instance.identity.signIns.phone(
        instance.acme,
        PhoneSignIn(proof: try await proof(instance), purpose: .link(alice)), by: Instance.visitor)
      guard case .taken(let number, let text) = outcome else { throw Unexpected("linked") }
      #expect(number == Instance.number)
      let temporary = PhoneProof.temporary(text, phoneNumber: number)
      await expect("invalidTemporaryProof") {
        try await signIn(instance, .temporary(text, phoneNumber: Instance.otherNumber))
      }
      let (grant, _) = try await signIn(instance, temporary)
      #expect(grant.account.id == owner.account.id)
      await expect("invalidTemporaryProof") { try await signIn(instance, temporary) }
      await expect("invalidTemporaryProof") {
        try await signIn(instance, .temporary("x", phoneNumber: number))
      }
      let second = try await instance.identity.signIns.phone(
        instance.acme,
        PhoneSignIn(proof: try await proof(instance), purpose: .link(alice)), by: Instance.visitor)
      guard case .taken(_, let other) = second else { throw Unexpected("linked") }
      await expect("phoneNumberExists") {
        try await signIn(instance, .temporary(other, phoneNumber: number), .link(alice))
      }
      instance.clock.advance(901)
      await expect("invalidTemporaryProof") {
        try await signIn(instance, .temporary(other, phoneNumber: number))
      }
    }
  }

  @Test func `a phone number can't bypass a second factor`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      await expect("unsupportedFirstFactor") {
        try await signIn(instance, try await proof(instance), .link(device.session))
      }
      var change = AccountChange()
      change.phoneNumber = .set(Instance.number)
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      await expect("unsupportedFirstFactor") {
        try await signIn(instance, try await proof(instance))
      }
      // While no second factor is required, there is nothing to bypass.
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp?.state = .disabled
      }
      _ = try await signIn(instance, try await proof(instance))
    }
  }
}
