import Crypto
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// What the page of a campaign's link asks for, and when the link ends.
struct CampaignLinkTests {
  private static let day: Int64 = 86_400

  /// Starts a campaign and returns the code of Alice's link.
  private func send(_ instance: Instance, sentence: String = "") async throws -> String {
    _ = try await instance.campaign(by: try await instance.agent(), sentence: sentence)
    return try await newest(instance)
  }

  private func newest(_ instance: Instance) async throws -> String {
    try await instance.linkCode("enrollment-link", to: "/__/auth/enroll")
  }

  private func prove(
    _ link: String, with password: Secret = Person.alice.password, from address: String? = nil,
    _ instance: Instance
  ) async throws -> LinkedEnrollment {
    var author = Instance.visitor
    if let address { author.address = address }
    return try await instance.identity.enrollmentLinks.prove(link, password: password, by: author)
  }

  /// Finishes a setup with a code of the app.
  private func finish(
    _ link: String, _ enrollment: LinkedEnrollment, _ instance: Instance
  ) async throws {
    let secret = Secret(try #require(Base32.decode(enrollment.key.revealedText)))
    let app = try #require(OneTimePassword(secret: secret))
    try await instance.identity.enrollmentLinks.finish(
      link, ticket: enrollment.ticket.revealedText,
      typed: TypedCode(app.code(step: app.step(at: instance.now.seconds))), displayName: "",
      by: Instance.visitor)
  }

  /// Returns why the first factor is required; "required" if none was given, "none" if it isn't.
  private func refusal<T>(_ body: () async throws -> T) async throws -> String {
    guard let error = try await thrown(EnrollmentLinkError.self, body) else { return "none" }
    guard case .firstFactorRequired(_, let why) = error else { return caseName(error) }
    return why.map { caseName($0) } ?? "required"
  }

  /// Expects a refusal; see ``expect(_:sourceLocation:_:)``.
  private func refused<T>(
    _ expected: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> T
  ) async throws {
    let result = try await refusal(body)
    #expect(result == expected, sourceLocation: sourceLocation)
  }

  private func user(_ job: BulkJob, _ instance: Instance) async throws -> CampaignUser {
    try #require(try await instance.identity.bulkRemovals.users(of: job).items.first)
  }

  @Test func `a campaign's link asks for the password before there's a secret`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let job = try await instance.campaign(by: try await instance.agent())
      let link = try await newest(instance)
      let links = instance.identity.enrollmentLinks
      try await refused("required") { try await links.open(link) }
      #expect(try await user(job, instance).openedAt == nil, "scanners of mails fetch pages")
      try await refused("required") { try await links.open(link, resuming: "forged") }
      try await refused("wrongPassword") { try await prove(link, with: Person.wrong, instance) }
      #expect(try await user(job, instance).openedAt == instance.now)
      instance.clock.advance(3 * Self.day)
      let enrollment = try await prove(link, instance)
      let ticket = enrollment.ticket.revealedText
      #expect(try await links.open(link, resuming: ticket).key == enrollment.key)
      try await finish(link, enrollment, instance)
      #expect(try await instance.reload(alice).factors.count == 1)
      #expect(try await user(job, instance).enrolledAt == instance.now)
      await expect("tokenExpired") { try await instance.identity.sessions.check(session) }
      #expect(try await instance.mails("revert-factor").map(\.recipient) == [Person.alice.email])
      try await refused("used") { try await links.open(link) }
    }
  }

  @Test func `incorrect passwords at the link and at sign-in are counted together`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let link = try await send(instance)
      for _ in 0..<5 {
        try await refused("wrongPassword") { try await prove(link, with: Person.wrong, instance) }
      }
      for _ in 0..<5 {
        await expect("wrongPassword") {
          try await instance.signedIn(.alice, with: Person.wrong)
        }
      }
      try await refused("tooManyAttempts") { try await prove(link, instance) }
      await expect("tooManyAttempts") { try await instance.session(.alice) }
      #expect(instance.identity.store.passwordAttempts.count(.user, .incorrect) == 10)
      #expect(instance.identity.store.passwordAttempts.count(.user, .blocked) == 2)
      _ = try await prove(link, from: "198.51.100.7", instance)
      instance.clock.advance(31)
      _ = try await prove(link, instance)
      _ = try await instance.session(.alice)
    }
  }

  @Test func `where the pool has no passwords, the link emails a code to the verified address`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await instance.allow(password: false, emailLink: true)
      let link = try await send(instance)
      let links = instance.identity.enrollmentLinks
      func type(_ code: String) async throws -> String {
        try await refusal {
          try await links.prove(link, typed: TypedCode(code), by: Instance.visitor)
        }
      }
      try await refused("required") { try await links.open(link) }
      #expect(try await instance.mails("link-code").isEmpty)
      try await refused("required") { try await prove(link, instance) }
      #expect(try await type("12345678") == "invalidCode")
      try await links.sendCode(link, by: Instance.visitor)
      let mail = try #require(try await instance.mails("link-code").last)
      #expect(mail.recipient == Person.alice.email && !mail.body.contains(link))
      let code = try await instance.emailedCode()
      let wrong = code == "00000000" ? "00000001" : "00000000"
      #expect(try await type("1234567") == "invalidCode")
      for guess in 1...CallerCode.tries {
        #expect(try await type(wrong) == "invalidCode", "\(guess)")
      }
      #expect(try await type(code) == "invalidCode")
      for _ in 2...EnrollmentLinks.codesPerUser {
        try await links.sendCode(link, by: Instance.visitor)
      }
      try await refused("quotaExceeded") { try await links.sendCode(link, by: Instance.visitor) }
      let newest = try await instance.emailedCode()
      let enrollment = try await links.prove(
        link, typed: TypedCode(newest), by: Instance.visitor)
      #expect(try await type(newest) == "invalidCode")
      try await finish(link, enrollment, instance)
      #expect(try await instance.reload(alice).factors.count == 1)
    }
  }

  @Test func `incorrect codes are counted as incorrect passwords are`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      try await instance.allow(password: false, emailLink: true)
      let link = try await send(instance)
      let links = instance.identity.enrollmentLinks
      for _ in 0..<2 {
        try await links.sendCode(link, by: Instance.visitor)
        let code = try await instance.emailedCode()
        for _ in 0..<CallerCode.tries {
          _ = try await refusal {
            try await links.prove(
              link, typed: TypedCode(code == "00000000" ? "00000001" : "00000000"),
              by: Instance.visitor)
          }
        }
      }
      try await links.sendCode(link, by: Instance.visitor)
      let code = try await instance.emailedCode()
      func type() async throws -> String {
        try await refusal {
          try await links.prove(link, typed: TypedCode(code), by: Instance.visitor)
        }
      }
      #expect(try await type() == "tooManyAttempts")
      try await instance.allow()
      await expect("tooManyAttempts") { try await instance.session(.alice) }
      try await instance.allow(password: false, emailLink: true)
      instance.clock.advance(31)
      #expect(try await type() == "none")
    }
  }

  @Test func `a code is only for the address and the account that it was sent to`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await instance.allow(password: false, emailLink: true)
      let link = try await send(instance)
      let links = instance.identity.enrollmentLinks
      try await links.sendCode(link, by: Instance.visitor)
      let code = try await instance.emailedCode()
      instance.clock.advance(601)
      try await refused("invalidCode") {
        try await links.prove(link, typed: TypedCode(code), by: Instance.visitor)
      }
      var change = AccountChange()
      change.emailVerified = false
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      try await refused("refused") { try await links.sendCode(link, by: Instance.visitor) }
      #expect(try await instance.mails("link-code").count == 1)
    }
  }

  enum End: String, CaseIterable {
    case stop, password, sessions, newerLink, disabled, reported, factor
  }

  @Test(arguments: End.allCases)
  func `a campaign's link ends as a single one does, also after the first factor`(
    end: End
  ) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      let job = try await instance.campaign(by: agent)
      let link = try await newest(instance)
      let enrollment = try await prove(link, instance)
      var change = AccountChange()
      switch end {
      case .stop:
        try await instance.identity.bulkRemovals.stop(
          job.id, in: instance.acme, agent.request(nil))
      case .password: change.password = .set(Secret("a new password"))
      case .sessions:
        try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.boss)
      case .newerLink:
        instance.clock.advance(1)
        _ = try await instance.identity.enrollmentLinks.send(
          agent.request(), to: alice.id, in: instance.acme)
      case .disabled: change.disabled = true
      case .reported: try await instance.reportChange(of: alice.id)
      case .factor:
        _ = try await instance.enroll(try await instance.session(.alice).session)
      }
      if end == .password || end == .disabled {
        try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: Instance.boss)
      }
      let links = instance.identity.enrollmentLinks
      let ticket = enrollment.ticket.revealedText
      func ended(_ body: () async throws -> Void) async throws {
        let result = try await refusal(body)
        #expect(["unknown", "used", "disabled", "refused"].contains(result), "\(result)")
      }
      try await ended { _ = try await links.open(link, resuming: ticket) }
      try await ended { _ = try await prove(link, instance) }
      try await ended { try await finish(link, enrollment, instance) }
      try await ended { try await links.sendCode(link, by: Instance.visitor) }
      instance.clock.advance(8 * Self.day)
      try await ended { try await links.renew(link, by: Instance.visitor) }
    }
  }

  @Test func `an expired link is renewed once an hour, to the verified address`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let job = try await instance.campaign(by: try await instance.agent())
      let first = try await newest(instance)
      let links = instance.identity.enrollmentLinks
      await expect("unknown") { try await links.renew(first, by: Instance.visitor) }
      instance.clock.advance(7 * Self.day)
      try await instance.runAll()
      let before = try await instance.mails("enrollment-link").count
      try await refused("expired") { try await prove(first, instance) }
      try await links.renew(first, by: Instance.visitor)
      let mails = try await instance.mails("enrollment-link")
      #expect(mails.count == before + 1 && mails.last?.recipient == Person.alice.email)
      let row = try #require(try await instance.log().first { $0.action == .factorSendLink })
      #expect(row.actorKind == "server" && row.new(.bulkLinks) == .number(Int(job.id)))
      await expect("used") { try await links.renew(first, by: Instance.visitor) }
      let renewed = try await newest(instance)
      instance.clock.advance(1_799)
      try await refused("required") { try await links.open(renewed) }
      instance.clock.advance(1)
      await expect("renewedRecently") { try await links.renew(renewed, by: Instance.visitor) }
      instance.clock.advance(1_800)
      try await links.renew(renewed, by: Instance.visitor)
      let last = try await newest(instance)
      try await finish(last, try await prove(last, instance), instance)
      #expect(try await instance.reload(alice).factors.count == 1)
      await expect("used") { try await links.renew(last, by: Instance.visitor) }
    }
  }

  @Test func `an exempt user can't renew a link`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      _ = try await instance.campaign(by: agent)
      let link = try await newest(instance)
      instance.clock.advance(7 * Self.day)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.exemptions.grant(
        instance.acme, alice.id, until: instance.now.advanced(bySeconds: Self.day),
        owner.request(.other, note: "Traveling"))
      await expect("unknown") {
        try await instance.identity.enrollmentLinks.renew(link, by: Instance.visitor)
      }
    }
  }

  @Test func `an email of a campaign has the sentence, the end, and the report link`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await send(instance, sentence: "Questions? Ask at the kiosk.")
      let mail = try #require(try await instance.mails("enrollment-link").last)
      #expect(mail.body.contains("\n\nQuestions? Ask at the kiosk.\n\n"))
      #expect(mail.body.contains("The link can be used once, until "))
      #expect(mail.body.contains("/__/auth/not-me?code=") && !mail.body.contains("30 minutes"))
    }
  }

  @Test func `a single link doesn't ask for a first factor, and can't be renewed`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      _ = try await instance.campaign(by: agent)
      _ = try await instance.identity.enrollmentLinks.send(
        agent.request(), to: alice.id, in: instance.acme)
      let link = try await newest(instance)
      let links = instance.identity.enrollmentLinks
      let enrollment = try await links.open(link)
      #expect(!enrollment.endsSessions)
      await expect("unknown") { try await prove(link, instance) }
      await expect("unknown") { try await links.sendCode(link, by: Instance.visitor) }
      instance.clock.advance(1_800)
      await expect("expired") { try await links.open(link) }
      await expect("unknown") { try await links.renew(link, by: Instance.visitor) }
    }
  }
}
