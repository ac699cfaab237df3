import Crypto
import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

struct EnrollmentLinkTests {
  private let page = "/__/auth/enroll"

  /// Sends a link and returns its code from the email.
  private func send(
    _ instance: Instance, _ account: Account, by agent: Agent? = nil
  ) async throws -> String {
    let agent = if let agent { agent } else { try await instance.agent() }
    let outcome = try await instance.identity.enrollmentLinks.send(
      agent.request(), to: account.id, in: instance.acme)
    #expect(outcome.value == account.email)
    return try await instance.linkCode("enrollment-link", to: page)
  }

  private func app(_ enrollment: LinkedEnrollment) throws -> OneTimePassword {
    let secret = Secret(try #require(Base32.decode(enrollment.key.revealedText)))
    return try #require(OneTimePassword(secret: secret))
  }

  private func code(_ enrollment: LinkedEnrollment, at now: Instant) throws -> String {
    let app = try app(enrollment)
    return try app.code(step: app.step(at: now.seconds))
  }

  /// A code that the app showed an hour ago.
  private func wrong(_ enrollment: LinkedEnrollment, at now: Instant) throws -> String {
    try code(enrollment, at: now.advanced(bySeconds: -3_600))
  }

  @Test(arguments: [false, true])
  func `L5: a user who sets up an app with a link can end their sessions`(endsSessions: Bool)
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let link = try await send(instance, account)
      let enrollment = try await instance.identity.enrollmentLinks.open(link)
      instance.clock.advance(30)
      try await instance.identity.enrollmentLinks.finish(
        link, ticket: enrollment.ticket.revealedText,
        typed: try TypedCode(code(enrollment, at: instance.now)), displayName: "",
        endsSessions: endsSessions, by: Instance.visitor)
      let row = try #require(try await instance.log().first { $0.action == .factorEnroll })
      #expect(row.new(.sessionsEnded) == (endsSessions ? .number(1) : nil))
      if endsSessions {
        await expect("tokenExpired") { try await instance.identity.sessions.check(session) }
      } else {
        _ = try await instance.identity.sessions.check(session)
      }
    }
  }

  @Test func `L6: the user sets up an app with the link, and the audit row names its sender`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let link = try await send(instance, account)
      // Opening it twice, as email scanners do, changes nothing.
      _ = try await instance.identity.enrollmentLinks.open(link)
      let enrollment = try await instance.identity.enrollmentLinks.open(link)
      #expect(enrollment.uri.revealedText.contains("secret=\(enrollment.key.revealedText)"))
      let typed = try code(enrollment, at: instance.now)
      let spaced = typed.prefix(3) + " " + typed.suffix(3)
      try await instance.identity.enrollmentLinks.finish(
        link, ticket: enrollment.ticket.revealedText, typed: TypedCode(String(spaced)),
        displayName: " Pixel 8 ", by: Instance.visitor)
      let factor = try #require(try await instance.reload(account).factors.first)
      #expect(factor.displayName == "Pixel 8" && factor.kind == .totp)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorEnroll && row.actorKind == "user")
      #expect(row.new(.sender) == .text("Dora Support"))
      #expect(try await instance.mails("revert-factor").count == 1)
      // The enrollment code isn't accepted a second time, but the next one is.
      let app = try app(enrollment)
      let device = Device(
        account: account, factor: factor.id, secret: app.secret,
        session: try await instance.grantlessSession(account))
      await expect("invalidCode") { try await instance.signIn(.alice, device, code: typed) }
      instance.clock.advance(30)
      try await instance.signIn(.alice, device, code: device.code(at: instance.now))
      await expect("used") { try await instance.identity.enrollmentLinks.open(link) }
    }
  }

  @Test func `a link is valid for 30 minutes, and a page opened in time for a little longer`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      let link = try await send(instance, account)
      instance.clock.advance(1_799)
      let enrollment = try await links.open(link)
      instance.clock.advance(1)
      await expect("expired") { try await links.open(link) }
      instance.clock.advance(900)
      let late = try code(enrollment, at: instance.now)
      await expect("expired") {
        try await links.finish(
          link, ticket: enrollment.ticket.revealedText, typed: TypedCode(late), displayName: "",
          by: Instance.visitor)
      }
      instance.clock.advance(-1)
      try await links.finish(
        link, ticket: enrollment.ticket.revealedText,
        typed: TypedCode(code(enrollment, at: instance.now)),
        displayName: "", by: Instance.visitor)
      #expect(
        try await instance.reload(account).factors.first?.displayName
          == EnrollmentLinks.usualName)
    }
  }

  @Test func `a user who can sign in only by phone can't be sent a link, or use an earlier one`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      var change = AccountChange()
      change.phoneNumber = .set(Instance.number)
      try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      let link = try await send(instance, account)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.password = false }
      await expect("refused") { try await links.open(link) }
      let agent = try await instance.agent("d2")
      await expect("enrollment.unsupportedFirstFactor") {
        try await links.send(agent.request(), to: account.id, in: instance.acme)
      }
    }
  }

  @Test func `a link from before the clock was set back has expired`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      instance.clock.advance(86_400)
      let link = try await send(instance, account)
      instance.clock.advance(-86_400)
      await expect("expired") { try await instance.identity.enrollmentLinks.open(link) }
    }
  }

  @Test func `ten wrong codes invalidate the link`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      let link = try await send(instance, account)
      let enrollment = try await links.open(link)
      let ticket = enrollment.ticket.revealedText
      let wrong = try wrong(enrollment, at: instance.now)
      for guess in 1...10 {
        await expect(guess < 10 ? "wrongCode" : "tooManyCodes") {
          try await links.finish(
            link, ticket: ticket, typed: TypedCode(wrong), displayName: "x", by: Instance.visitor)
        }
      }
      await expect("tooManyCodes") { try await links.open(link) }
    }
  }

  @Test func `text that isn't a code costs none of the tries and isn't recorded`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      let link = try await send(instance, account)
      let enrollment = try await links.open(link)
      for typed in ["", "12345", "1234567", "12345x", String(repeating: "1", count: 99)] {
        for _ in 0..<3 {
          await expect("malformedCode") {
            try await links.finish(
              link, ticket: enrollment.ticket.revealedText, typed: TypedCode(typed),
              displayName: "x",
              by: Instance.visitor)
          }
        }
      }
      #expect(try await instance.codeAttempts(account).isEmpty)
      await expect("ended") {
        try await links.finish(
          link, ticket: "", typed: "", displayName: "x", by: Instance.visitor)
      }
      try await links.finish(
        link, ticket: enrollment.ticket.revealedText,
        typed: TypedCode(code(enrollment, at: instance.now)),
        displayName: "x", by: Instance.visitor)
    }
  }

  @Test func `each code entered on the page is recorded with its result and origin`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      let link = try await send(instance, account)
      let enrollment = try await links.open(link)
      let app = try app(enrollment)
      let late = try app.code(step: app.step(at: instance.now.seconds) - 8)
      let wrong = try wrong(enrollment, at: instance.now)
      for typed in [late, wrong, try code(enrollment, at: instance.now)] {
        _ = await outcome {
          try await links.finish(
            link, ticket: enrollment.ticket.revealedText, typed: TypedCode(typed), displayName: "x",
            by: Instance.visitor, userAgent: "Firefox/145")
        }
      }
      let codeAttempts = try await instance.codeAttempts(account)
      #expect(codeAttempts.map(\.result) == [.accepted, .wrong, .late])
      #expect(codeAttempts.map(\.distance) == [0, nil, -8])
      let factor = try #require(try await instance.reload(account).factors.first)
      #expect(codeAttempts.map(\.enrollment) == [factor.id, nil, nil])
      let origin = RequestOrigin(address: "203.0.113.5", userAgent: "Firefox/145")
      #expect(codeAttempts.allSatisfy { $0.way == .enrollment && $0.origin == origin })
      #expect(try await instance.reload(account).wrongCodes == 0)
    }
  }

  @Test func `if no email can warn the user, nothing is set up and the link stays valid`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      let agent = try await instance.agent()
      for _ in 0..<5 {
        let device = try await instance.enroll(try await instance.session(.alice).session)
        var change = AccountChange()
        change.factors = .clear
        try await instance.identity.accounts.update(
          instance.acme, device.account.id, change, by: Instance.boss)
      }
      let link = try await send(instance, account, by: agent)
      let enrollment = try await links.open(link)
      await expect("refused") {
        try await links.finish(
          link, ticket: enrollment.ticket.revealedText,
          typed: TypedCode(code(enrollment, at: instance.now)), displayName: "x",
          by: Instance.visitor)
      }
      #expect(try await instance.reload(account).factors.isEmpty)
      _ = try await links.open(link)
    }
  }

  @Test
  func `a newer link, ending sessions, or deleting the account invalidates a link`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let links = instance.identity.enrollmentLinks
      let agent = try await instance.agent()
      let first = try await send(instance, account, by: agent)
      let second = try await send(instance, account, by: agent)
      await expect("used") { try await links.open(first) }
      try await instance.identity.sessions.endAll(
        instance.acme, account.id, by: Instance.boss)
      await expect("unknown") { try await links.open(second) }
      let third = try await send(instance, account, by: agent)
      _ = try await links.open(third)
      try await instance.identity.accounts.delete(
        instance.acme, account.id, by: Instance.boss)
      await expect("unknown") { try await links.open(third) }
      await expect("unknown") { try await links.open("not a link") }
    }
  }

  @Test func `a secret from another user's page is refused`() async throws {
    try await withInstance { instance in
      let links = instance.identity.enrollmentLinks
      let agent = try await instance.agent()
      let alice = try await instance.account(.alice)
      let bob = try await instance.account(.bob)
      let hers = try await send(instance, alice, by: agent)
      let his = try await send(instance, bob, by: agent)
      let enrollment = try await links.open(his)
      let typed = try code(enrollment, at: instance.now)
      for ticket in [enrollment.ticket.revealedText, "", "garbage"] {
        await expect("ended") {
          try await links.finish(
            hers, ticket: ticket, typed: TypedCode(typed), displayName: "x", by: Instance.visitor)
        }
      }
      #expect(try await instance.reload(alice).factors.isEmpty)
      let long = String(repeating: "x", count: 101)
      await expect("nameTooLong") {
        try await links.finish(
          his, ticket: enrollment.ticket.revealedText, typed: TypedCode(typed), displayName: long,
          by: Instance.visitor)
      }
    }
  }

  @Test func `a user who can't add an app gets no link, and is refused on the page`() async throws {
    try await withInstance { instance in
      let links = instance.identity.enrollmentLinks
      let agent = try await instance.agent()
      func refusal(_ account: Account) async -> String {
        await outcome {
          try await links.send(agent.request(), to: account.id, in: instance.acme)
        }
      }
      let device = try await instance.enrolled(.alice)
      #expect(await refusal(device.account) == "enrollment.alreadyEnrolled")
      let unverified = try await instance.account(.mallory, isVerified: false)
      #expect(await refusal(unverified) == "enrollment.unverifiedEmail")
      let bob = try await instance.account(.bob)
      let link = try await send(instance, bob, by: agent)
      let enrollment = try await links.open(link)
      // Meanwhile the user enrolls in the application.
      _ = try await instance.enroll(try await instance.session(.bob).session)
      let typed = try code(enrollment, at: instance.now)
      await expect("refused") {
        try await links.finish(
          link, ticket: enrollment.ticket.revealedText, typed: TypedCode(typed), displayName: "x",
          by: Instance.visitor)
      }
      var change = AccountChange()
      (change.factors, change.disabled) = (.clear, true)
      try await instance.identity.accounts.update(
        instance.acme, bob.id, change, by: Instance.boss)
      #expect(await refusal(bob) == "userDisabled")
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.configuration.totp = nil
      }
      #expect(await refusal(bob) == "enrollment.totpNotEnabled")
    }
  }

  @Test func `the user's other addresses are notified of the link and of the app`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      try await instance.addAddresses(to: account)
      let link = try await send(instance, try await instance.reload(account))
      #expect(
        try await instance.mails("enrollment-link").map(\.recipient) == [Person.alice.email])
      let notices = try await instance.mails("notice-enrollment-link")
      #expect(notices.map(\.recipient) == ["first@example.com", "alice@provider.example"])
      for mail in notices {
        #expect(!mail.body.contains(link) && !mail.body.contains(Person.alice.email))
      }
      let enrollment = try await instance.identity.enrollmentLinks.open(link)
      try await instance.identity.enrollmentLinks.finish(
        link, ticket: enrollment.ticket.revealedText,
        typed: TypedCode(code(enrollment, at: instance.now)),
        displayName: "", by: Instance.visitor)
      #expect(
        try await instance.mails("notice-factor-enrolled").map(\.recipient)
          == ["first@example.com", "alice@provider.example"])
    }
  }
}

extension Instance {
  /// Returns a session that isn't stored, for a device that wasn't enrolled in a session.
  func grantlessSession(_ account: Account) async throws -> UserSession {
    UserSession(pool: acme, account: account.id, authTime: now.seconds, provider: .password)
  }
}
