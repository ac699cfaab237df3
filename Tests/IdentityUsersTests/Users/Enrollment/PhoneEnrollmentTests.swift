import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

struct PhoneEnrollmentTests {
  @Test func `a phone is enrolled with a code, and earlier sessions stay`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      _ = try await instance.account(.alice)
      let old = try await instance.session(.alice)
      let grant = try await instance.enrollPhone(old.session)
      let factor = try #require(grant.account.factors.first)
      #expect(
        (factor.kind, factor.phoneNumber, factor.displayName) == (.phone, Instance.number, "mobile")
      )
      #expect(grant.session.secondFactor == SecondFactorClaim(kind: .phone, enrollment: factor.id))
      _ = try await instance.identity.sessions.check(old.session)
      _ = try await instance.identity.sessions.refresh(
        old.refreshToken, project: instance.acme.project)
      _ = try await instance.identity.sessions.check(grant.session)
      let policy = try await instance.identity.policies.read(instance.acme)
      #expect((policy.enrolledUsers, policy.totpUsers, policy.phoneUsers) == (1, 0, 1))
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorEnroll)
      #expect(row.hasFactor(factor.id.text))
      #expect(row.new(.sessionsEnded) == nil)
      let found = try await instance.identity.accounts.search(instance.acme, "0151 12345678")
      #expect(found.accounts.map(\.id) == [grant.account.id])
    }
  }

  @Test func `each code attempt is stored, and late ones are combined`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let enrollments = instance.identity.enrollments
      let info = try await enrollments.startPhone(session, instance.request())
      func enterCode(_ code: String) async -> String {
        await outcome {
          try await enrollments.finalizePhone(
            session, .code(sessionInfo: info, code: TypedCode(code)), displayName: nil,
            by: Instance.visitor, userAgent: "okhttp/4.12")
        }
      }
      for _ in 0..<3 { #expect(await enterCode("000000") == "invalidCode") }
      for _ in 0..<5 { #expect(await enterCode(Instance.code) == "tooManyAttempts") }
      let grant = try await instance.enrollPhone(session)
      let codeAttempts = try await instance.codeAttempts(account)
      #expect(codeAttempts.map(\.result) == [.accepted, .expired, .wrong, .wrong, .wrong])
      #expect(codeAttempts.map(\.times) == [1, 5, 1, 1, 1])
      #expect(codeAttempts.allSatisfy { $0.way == .phoneEnrollment && $0.drift == nil })
      #expect(codeAttempts[0].enrollment == grant.account.factors.first?.id)
      #expect(
        codeAttempts[1].origin == RequestOrigin(address: "203.0.113.5", userAgent: "okhttp/4.12"))
      #expect(try await instance.reload(account).wrongCodes == 0)
    }
  }

  @Test func `a name is optional and limited in length`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      await expect("displayNameTooLong") {
        try await instance.enrollPhone(session, name: String(repeating: "x", count: 101))
      }
      let grant = try await instance.enrollPhone(session, name: "  ")
      #expect(grant.account.factors.map(\.displayName) == [nil])
      #expect(grant.account.factors.map(\.label) == [Instance.number])
    }
  }

  @Test func `starting a phone enrollment reports one unmet requirement at a time`() async throws {
    try await withInstance { instance in
      let enrollments = instance.identity.enrollments
      let alice = try await instance.account(.alice, isVerified: false)
      let session = try await instance.session(.alice).session
      await expect("smsNotEnabled") {
        try await enrollments.startPhone(session, instance.request())
      }
      try await instance.allowPhones()
      let anonymous = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      await expect("unsupportedFirstFactor") {
        try await enrollments.startPhone(anonymous.session, instance.request())
      }
      await expect("unverifiedEmail") {
        try await enrollments.startPhone(session, instance.request())
      }
      var change = AccountChange()
      change.emailVerified = true
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      for number in ["", "4915112345678", "+0151", "+49 151 1234567", "+12345678901234567"] {
        await expect("invalidPhone") {
          try await enrollments.startPhone(session, instance.request(number))
        }
      }
      let grant = try await instance.enrollPhone(session)
      await expect("phoneAlreadyEnrolled") {
        try await enrollments.startPhone(grant.session, instance.request())
      }
      change = AccountChange()
      change.factors = .replace(
        (0..<5).map { FactorEntry(phoneNumber: "+1202555010\($0)") })
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      // A session from before the phone factor was required at sign-in.
      let again = try await instance.identity.sessions.renew(session).session
      await expect("tooManyFactors") {
        try await enrollments.startPhone(again, instance.request())
      }
    }
  }

  @Test func `a phone enrollment ends after three wrong codes, ten minutes, or success`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let enrollments = instance.identity.enrollments
      let infos = [
        try await enrollments.startPhone(session, instance.request()),
        try await enrollments.startPhone(session, instance.request()),
      ]
      for code in ["000000", "4242424", "", Instance.code] {
        await expect(code == Instance.code ? "tooManyAttempts" : "invalidCode") {
          try await enrollments.finalizePhone(
            session, .code(sessionInfo: infos[0], code: TypedCode(code)), displayName: nil,
            by: Instance.visitor)
        }
      }
      instance.clock.advance(600)
      let late = try await enrollments.startPhone(session, instance.request())
      let grant = try await enrollments.finalizePhone(
        session, .code(sessionInfo: infos[1], code: TypedCode(Instance.code)), displayName: nil,
        by: Instance.visitor)
      await expect("phoneAlreadyEnrolled") {
        try await enrollments.finalizePhone(
          grant.session, .code(sessionInfo: infos[1], code: TypedCode(Instance.code)),
          displayName: nil,
          by: Instance.visitor)
      }
      let phone = try #require(grant.account.factors.first)
      let remaining = try await enrollments.withdraw(
        grant.session, enrollment: phone.id.text, by: Instance.visitor)
      let next = try #require(remaining).session
      await expect("alreadyComplete") {
        try await enrollments.finalizePhone(
          next, .code(sessionInfo: infos[1], code: TypedCode(Instance.code)), displayName: nil,
          by: Instance.visitor)
      }
      instance.clock.advance(601)
      await expect("sessionExpired") {
        try await enrollments.finalizePhone(
          next, .code(sessionInfo: late, code: TypedCode(Instance.code)), displayName: nil,
          by: Instance.visitor)
      }
    }
  }

  @Test func `a code that was sent before the sessions ended enrolls no phone`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let alice = try await instance.account(.alice)
      let enrollments = instance.identity.enrollments
      let info = try await enrollments.startPhone(
        try await instance.session(.alice).session, instance.request())
      try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.support)
      let session = try await instance.session(.alice).session
      await expect("sessionExpired") {
        try await enrollments.finalizePhone(
          session, .code(sessionInfo: info, code: TypedCode(Instance.code)), displayName: nil,
          by: Instance.visitor)
      }
      #expect(try await instance.codeAttempts(alice).map(\.result) == [.expired])
      // A wrong code isn't counted as one either, however often.
      for _ in 0..<4 {
        await expect("sessionExpired") {
          try await enrollments.finalizePhone(
            session, .code(sessionInfo: info, code: "000000"), displayName: nil,
            by: Instance.visitor)
        }
      }
      #expect(try await instance.codeAttempts(alice).map(\.result) == [.expired])
      #expect(try await instance.reload(alice).factors.isEmpty)
      _ = try await instance.enrollPhone(session)
    }
  }

  @Test func `session info is bound to its user and purpose`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let enrollments = instance.identity.enrollments
      _ = try await instance.account(.alice)
      _ = try await instance.account(.mallory)
      let alice = try await instance.session(.alice).session
      let mallory = try await instance.session(.mallory).session
      let foreign = try await enrollments.startPhone(alice, instance.request())
      let signIn = try await instance.identity.signIns.sendCode(
        instance.acme, instance.request())
      let totp = try await enrollments.start(mallory).sessionInfo
      for info in [foreign, signIn, totp, "", "x", String(repeating: "A", count: 2_000)] {
        await expect("invalidSessionInfo") {
          try await enrollments.finalizePhone(
            mallory, .code(sessionInfo: info, code: TypedCode(Instance.code)), displayName: nil,
            by: Instance.visitor)
        }
      }
    }
  }

  @Test func `of concurrent finalizations, one adds a factor`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      var infos: [String] = []
      for _ in 0..<20 {
        infos.append(
          try await instance.identity.enrollments.startPhone(session, instance.request()))
      }
      let all = infos
      let outcomes = try await concurrently(20) { number in
        await outcome {
          try await instance.identity.enrollments.finalizePhone(
            session, .code(sessionInfo: all[number], code: TypedCode(Instance.code)),
            displayName: nil,
            by: Instance.visitor)
        }
      }
      #expect(outcomes.tally == ["done": 1, "phoneAlreadyEnrolled": 19])
      #expect(try await instance.reload(account).factors.count == 1)
    }
  }

  @Test func `a session without the app doesn't pass for one with a factor by adding a phone`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      _ = try await instance.account(.alice)
      let earlier = try await instance.session(.alice).session
      let device = try await instance.enroll(try await instance.session(.alice).session)
      let grant = try await instance.enrollPhone(earlier)
      #expect(grant.account.factors.count == 2 && grant.session.secondFactor == nil)
      instance.clock.advance(30)
      let other = try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      #expect(other.session.secondFactor?.enrollment == device.factor)
    }
  }

  @Test func `a code of the app isn't accepted in place of the phone once TOTP is off`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      _ = try await instance.enrollPhone(device.session)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp?.state = .disabled
      }
      instance.clock.advance(30)
      await expect("totpNotEnabled") {
        _ = try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      }
    }
  }

  @Test func `a user can have a phone and an authenticator app`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      let grant = try await instance.enrollPhone(device.session)
      #expect(grant.account.factors.map(\.kind) == [.totp, .phone])
      let policy = try await instance.identity.policies.read(instance.acme)
      #expect((policy.enrolledUsers, policy.totpUsers, policy.phoneUsers) == (1, 1, 1))
      for filter in [Accounts.Filter.totp, .phone, .all] {
        for sort in Accounts.Sort.allCases {
          let list = try await instance.identity.accounts.list(
            instance.acme, filter: filter, sort: sort)
          #expect(list.items.map(\.id) == [grant.account.id])
        }
      }
      #expect(
        try await instance.identity.accounts.list(instance.acme, filter: .none).items.isEmpty)
    }
  }
}
