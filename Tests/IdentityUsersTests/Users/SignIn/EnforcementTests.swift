import Crypto
import Database
@testable import Identity
import OTP
import Testing

@testable import TestIdentity

/// The clock of every test starts on March 1, 2026, at noon.
struct EnrollmentDutyTests {
  private static let noon = FixedClock.noon
  private static let day: Int64 = 86_400

  private func duty(
    _ mode: Enforcement.Mode? = .claim, grace: Int = 0, from: String = "2026-03-01",
    pattern: EnrollmentPattern? = .mandatory, mandatoryFrom: String? = nil,
    totp: MFAState = .enabled, sms: Bool = false, factors: Set<Factor.Kind> = [],
    isAnonymous: Bool = false, isExempt: Bool = false, createdDaysAgo: Int64 = 400
  ) throws -> EnrollmentDuty {
    let day = try #require(Day(from))
    let enforcement = mode.flatMap { Enforcement($0, from: day, graceDays: grace) }
    let policy = PolicyEdit(
      configuration: MFAConfiguration(
        state: .enabled, smsEnabled: sms,
        totp: TOTPConfiguration(state: totp, adjacentIntervals: nil)),
      pattern: pattern, mandatoryFrom: mandatoryFrom.flatMap { Day($0) }, enforcement: enforcement)
    return EnrollmentDuty(
      policy, factors: factors, isAnonymous: isAnonymous, isExempt: isExempt,
      createdAt: Self.noon.advanced(bySeconds: -createdDaysAgo * Self.day), at: Self.noon)
  }

  private static func start(_ day: String) -> Instant? { Day(day)?.start }

  @Test func `a user without a factor is due from the first day`() throws {
    let today = try duty()
    let tomorrow = try duty(from: "2026-03-02")
    let start = try #require(Self.start("2026-03-01"))
    #expect(today == .due(since: start))
    #expect(tomorrow == .notDue(until: Self.start("2026-03-02")))
  }

  @Test func `enforcement needs TOTP and the mandatory pattern`() throws {
    let off = try duty(nil)
    let totpOff = try duty(totp: .disabled)
    let patterns = try ([.skippable, .account, .stepUp, nil] as [EnrollmentPattern?]).map {
      try duty(pattern: $0)
    }
    #expect(off == .notDue(until: nil) && totpOff == .notDue(until: nil))
    #expect(patterns.allSatisfy { $0 == .notDue(until: nil) })
  }

  @Test func `nobody is due before the pattern applies`() throws {
    let later = try duty(mandatoryFrom: "2026-03-05")
    let earlier = try duty(mandatoryFrom: "2026-02-01")
    #expect(later == .notDue(until: Self.start("2026-03-05")))
    #expect(earlier.isDue)
  }

  @Test func `the grace period counts from the first day or the creation of the account`() throws {
    let old = try duty(grace: 1)
    let over = try duty(grace: 7, from: "2026-02-22")
    let new = try duty(grace: 7, from: "2026-01-01", createdDaysAgo: 3)
    let newButOver = try duty(grace: 7, from: "2026-01-01", createdDaysAgo: 7)
    #expect(old == .notDue(until: Self.start("2026-03-02")))
    #expect(over.isDue)
    #expect(new == .notDue(until: Self.noon.advanced(bySeconds: 4 * Self.day)))
    #expect(newButOver == .due(since: Self.noon))
  }

  @Test func `a factor counts only if its codes are required`() throws {
    let app = try duty(factors: [.totp])
    let phone = try duty(sms: true, factors: [.phone])
    let phoneOff = try duty(sms: false, factors: [.phone])
    #expect(app == .enrolled && phone == .enrolled && phoneOff.isDue)
  }

  @Test func `anonymous and exempt users are never due`() throws {
    let anonymous = try duty(isAnonymous: true)
    let exempt = try duty(isExempt: true)
    let enrolled = try duty(factors: [.totp], isExempt: true)
    #expect(anonymous == .notDue(until: nil) && exempt == .exempt && enrolled == .enrolled)
  }

  @Test func `a grace period is 0 to 90 days`() throws {
    let day = try #require(Day("2026-03-01"))
    let possible = [-1, 0, 90, 91].map { Enforcement(.claim, from: day, graceDays: $0) != nil }
    #expect(possible == [false, true, true, false])
  }
}

struct EnforcementTests {
  private func isRefused(_ outcome: SignInOutcome) -> Bool {
    if case .enrollmentRequired = outcome { true } else { false }
  }

  @Test func `tokens say who should have enrolled, from the next sign-in or refresh`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let before = try await instance.session(.alice)
      try await instance.enforce(.claim)
      let after = try await instance.session(.alice)
      let refreshed = try await instance.identity.sessions.refresh(
        before.refreshToken, project: instance.acme.project)
      #expect(!before.mustEnroll && after.mustEnroll && refreshed.mustEnroll)
      let device = try await instance.enroll(after.session)
      let kept = try await instance.identity.sessions.refresh(
        before.refreshToken, project: instance.acme.project)
      #expect(!kept.mustEnroll, "the user has a factor now")
      #expect(device.session.secondFactor != nil)
    }
  }

  @Test func `a session with a second factor is never due`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.enforce(.claim)
      let grant = try await instance.finalize(
        device, try await instance.pending(.alice), code: try device.code(at: instance.now))
      #expect(!grant.mustEnroll)
    }
  }

  @Test func `a refused user gets one enrollment link, and the session ends at its next refresh`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      let before = try await instance.session(.alice)
      try await instance.enforce(.refuse)
      let first = try await instance.firstFactor(.alice)
      let second = try await instance.firstFactor(.alice)
      let mails = try await instance.mails("enrollment-link")
      #expect(isRefused(first) && isRefused(second) && mails.count == 1)
      #expect(mails.first?.recipient == Person.alice.email)
      let row = try await instance.log().first { $0.action == .factorSendLink }
      #expect(row?.objectID == alice.id.text && row?.new(.enforcement) == .code("refuse"))
      await expect("enrollmentRequired") {
        try await instance.identity.sessions.refresh(
          before.refreshToken, project: instance.acme.project)
      }
    }
  }

  @Test func `emails of refused sign-ins are limited like others`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.account(.alice)
      try await instance.enforce(.refuse)
      for _ in 0..<12 {
        _ = try await instance.firstFactor(.alice)
        instance.clock.advance(299)
      }
      let soon = try await instance.mails("enrollment-link").count
      #expect(soon == 6, "one link in five minutes")
    }
  }

  @Test func `nobody is locked out: who can't get a link gets the claim`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.account(.alice, isVerified: false)
      try await instance.enforce(.refuse)
      let grant = try await instance.session(.alice)
      #expect(grant.mustEnroll)
    }
    try await withInstance(carriesMail: false) { instance in
      _ = try await instance.account(.bob)
      try await instance.enforce(.refuse)
      let grant = try await instance.session(.bob)
      #expect(grant.mustEnroll)
    }
  }

  @Test func `exempt and new users sign in as before`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      try await instance.enforce(.refuse, grace: 7)
      let early = try await instance.session(.alice)
      instance.clock.advance(8 * 86_400)
      _ = try await instance.account(.bob)
      let new = try await instance.session(.bob)
      let late = try await instance.firstFactor(.alice)
      #expect(!early.mustEnroll && !new.mustEnroll && isRefused(late))
      let owner = try await instance.agent("o", role: .owner)
      _ = try await instance.identity.exemptions.grant(
        instance.acme, alice.id, until: instance.now.advanced(bySeconds: 86_400),
        owner.request(.other, note: "New phone next week"))
      let exempt = try await instance.session(.alice)
      #expect(!exempt.mustEnroll)
    }
  }

  @Test func `email links and providers are refused like passwords`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allow(emailLink: true)
      try await instance.configureProvider()
      _ = try await instance.account(.alice)
      try await instance.enforce(.refuse)
      let code = try await instance.code(.signIn)
      let byLink = try await instance.identity.signIns.emailLink(
        instance.acme, email: Person.alice.email, code: code, by: Instance.visitor
      ).outcome
      let byProvider = try await instance.signIn(
        withProviderSaying: #""email":"alice@example.com","email_verified":true"#
      ).signedIn().outcome
      #expect(isRefused(byLink) && isRefused(byProvider))
    }
  }

  @Test func `anonymous users and users with only a phone number aren't refused`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allowPhones()
      try await instance.allow()
      try await instance.enforce(.refuse)
      let anonymous = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      #expect(!anonymous.mustEnroll)
      try await instance.allowPhones()
      let session = try await instance.identity.signIns.sendCode(
        instance.acme, instance.request(Instance.number))
      let outcome = try await instance.identity.signIns.phone(
        instance.acme,
        PhoneSignIn(
          proof: .code(sessionInfo: session, code: TypedCode(Instance.code)), purpose: .signIn),
        by: Instance.visitor)
      guard case .signedIn(let phone, _) = outcome else { throw Unexpected("taken") }
      #expect(phone.mustEnroll, "without an email address, there's no link to send")
    }
  }

  @Test(arguments: [true, false])
  func `a phone sign-in of a user with a verified email is refused, unless phones are the only way`(
    isPasswordOn: Bool
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allowPhones()
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.phoneNumber = .set(Instance.number)
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.password = isPasswordOn }
      try await instance.enforce(.refuse)
      let session = try await instance.identity.signIns.sendCode(
        instance.acme, instance.request(Instance.number))
      let signIn = PhoneSignIn(
        proof: .code(sessionInfo: session, code: TypedCode(Instance.code)), purpose: .signIn)
      if isPasswordOn {
        await expect("enrollmentRequired") {
          try await instance.identity.signIns.phone(instance.acme, signIn, by: Instance.visitor)
        }
      } else {
        let outcome = try await instance.identity.signIns.phone(
          instance.acme, signIn, by: Instance.visitor)
        guard case .signedIn(let grant, _) = outcome else { throw Unexpected("taken") }
        #expect(grant.mustEnroll, "after enrolling, phone sign-in would fail")
      }
      let mails = try await instance.mails("enrollment-link").count
      #expect(mails == (isPasswordOn ? 1 : 0))
    }
  }

  @Test func `a custom token's user is refused, and the link is kept`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      _ = try await instance.identity.trustedTokenKeys.add(
        to: instance.acme.project, issuer: "backend@acme.example", keyID: nil,
        key: TestTokenIssuer.back.pem(), by: .program(Instance.boss))
      try await instance.enforce(.refuse)
      let noon = FixedClock.noon.seconds
      let token = try TestTokenIssuer.back.token(
        TestTokenIssuer.object(
          [
            ("iss", #""backend@acme.example""#), ("sub", #""backend@acme.example""#),
            ("aud", "\"\(CustomTokens.audience)\""), ("iat", "\(noon)"),
            ("exp", "\(noon + 3600)"), ("uid", "\"\(alice.id.text)\""),
          ], without: [], and: ""))
      await expect("enrollmentRequired") {
        try await instance.identity.customTokens.signIn(
          instance.acme, token: token, by: Instance.visitor)
      }
      let mails = try await instance.mails("enrollment-link").count
      #expect(mails == 1)
    }
  }

  @Test func `the console can't choose refusal while no email is sent`() async throws {
    for carriesMail in [false, true] {
      try await withInstance(carriesMail: carriesMail) { instance in
        let owner = try await instance.agent("o", role: .owner)
        let version = try await instance.identity.policies.read(instance.acme).version
        let day = try #require(Day("2026-03-01"))
        let result = await outcome {
          try await instance.identity.policies.change(
            instance.acme, expecting: version, by: .console(owner.request(.other, note: "Audit"))
          ) { edit throws(PolicyError) in
            edit.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
          }
        }
        #expect(result == (carriesMail ? "done" : "refusalNeedsEmail"))
      }
    }
  }

  @Test(arguments: Enforcement.Mode.allCases)
  func `the simulator predicts what enforcement does`(mode: Enforcement.Mode) async throws {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      try await instance.enforce(mode)
      let owner = try await instance.agent("o", role: .owner)
      let forecasts = try await instance.identity.signIns.forecasts(
        of: alice.id.text, visibleTo: owner.administrator)
      let predicted = forecasts.map(\.enforcement)
      #expect(predicted == [mode])
    }
  }
}

struct EnforcementPolicyTests {
  private func edit(_ enforcement: Enforcement?) -> PolicyEdit {
    PolicyEdit(configuration: .initial, pattern: .mandatory, enforcement: enforcement)
  }

  private func enforcement(
    _ mode: Enforcement.Mode, _ day: String = "2026-03-01", _ days: Int = 7
  ) throws -> Enforcement {
    let day = try #require(Day(day))
    return try #require(Enforcement(mode, from: day, graceDays: days))
  }

  @Test func `less, later, or no enforcement is a weaker policy`() throws {
    let strict = edit(try enforcement(.refuse))
    let weaker = [
      edit(nil), edit(try enforcement(.claim)), edit(try enforcement(.refuse, "2026-03-02")),
      edit(try enforcement(.refuse, "2026-03-01", 8)),
    ].map { $0.isWeaker(than: strict) }
    let stricter = [
      edit(try enforcement(.refuse, "2026-02-28")), edit(try enforcement(.refuse, "2026-03-01", 0)),
    ].map { $0.isWeaker(than: strict) }
    let first = strict.isWeaker(than: edit(nil))
    #expect(weaker == [true, true, true, true] && stricter == [false, false] && !first)
  }

  @Test func `enforcement is stored, compared, recorded, and restored`() async throws {
    let enforcement = try enforcement(.claim)
    try await withInstance { instance in
      let policies = instance.identity.policies
      let before = try await policies.read(instance.acme)
      let changed = try await policies.change(instance.acme, by: .program(Instance.boss)) {
        edit throws(PolicyError) in edit.enforcement = enforcement
      }.value.policy
      let stored = try await policies.read(instance.acme)
      #expect(changed.enforcement == enforcement && stored.enforcement == enforcement)
      let fields = stored.stored.inForce.differences(
        from: before.stored.inForce, on: Day(instance.now))
      #expect(fields == [.enforcement])
      let row = try #require(try await policies.history(instance.acme).first)
      #expect(row.new(.enforcement) == .code("claim") && row.new(.graceDays) == .number(7))
      let versions = try await policies.restorable(instance.acme)
      #expect(versions.first?.edit == stored.edit)
      let texts = try await instance.database.read { connection in
        try connection.all(
          "SELECT /* test */ policy_in_force FROM scope WHERE project_id = \(stored.pool.project)"
        ) { try $0.next() as String }
      }
      #expect(texts.count { $0.hasSuffix(", claim 2026-03-01 7") } == 1)
    }
  }
}
