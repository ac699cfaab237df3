import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

struct SendingTests {
  private func send(
    _ instance: Instance, _ request: OutOfBandRequest, in pool: Pool? = nil,
    hidingUsers: Bool = false, from network: ClientAddress? = "203.0.113.5"
  ) async throws -> String {
    try await instance.identity.outOfBandCodes.send(
      request, in: pool ?? instance.acme, hidingUsers: hidingUsers, from: network)
  }

  @Test func `an email is sent with a link that has the parameters SDKs expect`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice, in: instance.east)
      var request = OutOfBandRequest(.passwordReset, for: .email("ALICE@example.com"))
      request.continueURL = "http://localhost/a?b=c&d"
      request.apiKey = "AIza & co"
      request.locale = "de-DE"
      #expect(try await send(instance, request, in: instance.east) == "alice@example.com")
      let mail = try #require(try await instance.mails().last)
      #expect(mail.recipient == "alice@example.com")
      #expect(mail.purpose == "reset-password" && mail.language == "en")
      #expect(mail.subject == "Choose a new password for Acme")
      let link = try mail.link
      #expect(link.hasPrefix("https://mfa.example.com/__/auth/action?mode=resetPassword&lang=en&"))
      #expect(parameter("apiKey", of: link) == "AIza%20%26%20co")
      #expect(parameter("continueUrl", of: link) == "http%3A%2F%2Flocalhost%2Fa%3Fb%3Dc%26d")
      #expect(parameter("tenantId", of: link) == instance.east.tenant?.text)
      let code = try mail.code
      #expect(code.utf8.count == 43)
    }
  }

  @Test func `a project-level link has the first API key and no tenant`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let link = try #require(try await instance.mails().last).link
      #expect(parameter("tenantId", of: link) == nil && parameter("continueUrl", of: link) == nil)
      let key = try await instance.identity.apiKeys.list(instance.acme.project).first?.text
      #expect(parameter("apiKey", of: link) == key)
    }
  }

  @Test func `links lead to the application's action page if configured`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      for (uri, beginning) in [
        (#""https://app.example.com/act?x=1""#, "https://app.example.com/act?x=1&mode="),
        ("17", "https://mfa.example.com/__/auth/action?mode="),
        ("null", "https://mfa.example.com/__/auth/action?mode="),
        (#""""#, "https://mfa.example.com/__/auth/action?mode="),
      ] {
        _ = try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(Author(actor: .commandLine))
        ) {
          $0.project?.authorizedDomains = ["localhost", "app.example.com"]
          $0.members = #"{"notification":{"sendEmail":{"callbackUri":\#(uri)}}}"#
        }
        _ = try await instance.code(.verifyEmail)
        let link = try #require(try await instance.mails().last).link
        #expect(link.hasPrefix(beginning), "\(uri): \(link)")
      }
    }
  }

  @Test func `only the digest of a code is stored`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let code = try await instance.code(.passwordReset)
      #expect(try await instance.identity.outOfBandCodes.links(in: instance.acme).count == 0)
      let rows = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ code_digest, link FROM oob_code") { row in
          (digest: try row.next() as [UInt8], link: try row.next() as String?)
        }
      }
      #expect(rows.count == 1 && rows[0].link == nil)
      #expect(rows[0].digest == HashFunction.sha256.digest(Array(code.utf8)))
    }
  }

  @Test(arguments: [true, false])
  func `whether an email has an account is revealed only if allowed`(hiding: Bool) async throws {
    try await withInstance { instance in
      let bob = try await instance.account(.bob)
      var change = AccountChange()
      change.disabled = true
      try await instance.identity.accounts.update(instance.acme, bob.id, change, by: Instance.boss)
      for (person, refusal) in [(Person.mallory, "emailNotFound"), (.bob, "userDisabled")] {
        let request = OutOfBandRequest(.passwordReset, for: .email(person.email))
        await expect(hiding ? "done" : refusal) {
          try await send(instance, request, hidingUsers: hiding)
        }
      }
      #expect(try await instance.mails().count == 0)
      #expect(try await instance.codes() == 0)
      if hiding {
        let request = OutOfBandRequest(.passwordReset, for: .email(Person.mallory.email))
        #expect(try await send(instance, request, hidingUsers: true) == Person.mallory.email)
      }
    }
  }

  @Test func `changing to a taken email doesn't reveal that it's taken`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.account(.bob)
      let session = try await instance.session(.alice).session
      var request = OutOfBandRequest(.changeEmail, for: .session(session))
      request.newEmail = Person.bob.email
      let taken = request
      await expect("emailExists") { try await send(instance, taken) }
      await expect("done") { try await send(instance, taken, hidingUsers: true) }
      #expect(try await instance.mails().count == 0)
      request.newEmail = "alice@elsewhere.example"
      _ = try await send(instance, request)
      #expect(try await instance.mails().map(\.recipient) == ["alice@elsewhere.example"])
    }
  }

  @Test func `an address that isn't verified is named to nobody else`() async throws {
    try await withInstance { instance in
      var new = NewAccount()
      new.email = "evil.example/claim@evil.example"
      let account = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      var request = OutOfBandRequest(.changeEmail, for: .email(try #require(account.email)))
      request.newEmail = Person.bob.email
      for isVerified in [false, true] {
        if isVerified {
          var change = AccountChange()
          change.emailVerified = true
          try await instance.identity.accounts.update(
            instance.acme, account.id, change, by: Instance.boss)
        }
        _ = try await send(instance, request)
        let mail = try #require(try await instance.mails().last)
        #expect(mail.recipient == Person.bob.email && mail.body.contains(Person.bob.email))
        #expect((mail.subject + mail.body + mail.html).contains("claim") == isVerified)
        instance.clock.advance(60)
      }
      // Nor is the address that replaces one.
      let alice = try await instance.account(.alice, isVerified: false)
      let session = try await instance.session(.alice).session
      var change = AccountChange()
      change.email = .set("evil.example/won@evil.example")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.visitor, in: session)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.recipient == Person.alice.email && mail.body.contains(Person.alice.email))
      #expect(!(mail.subject + mail.body + mail.html).contains("won@"))
    }
  }

  @Test(arguments: [
    ("https://app.example.com/x", "done"), ("https://deep.app.example.com", "done"),
    ("HTTPS://APP.EXAMPLE.COM:8443/x#y", "done"), ("http://localhost:3000/", "done"),
    ("http://192.0.2.1/", "done"), ("https://app.example.com/ä", "done"),
    ("https://evilapp.example.com/", "unauthorizedDomain"),
    ("https://app.example.com.evil.example/", "unauthorizedDomain"),
    ("https://example.com/", "unauthorizedDomain"), ("http://1.192.0.2.1/", "unauthorizedDomain"),
    ("https://evil.example/?app.example.com", "unauthorizedDomain"),
    ("https://app.example.com@evil.example/", "invalidContinueURL"),
    ("https://evil.example\\@app.example.com/", "invalidContinueURL"),
    ("javascript:alert(1)", "invalidContinueURL"), ("//app.example.com", "invalidContinueURL"),
    ("/welcome", "invalidContinueURL"), ("https://", "invalidContinueURL"),
    ("https://app.example.com/\r\nSet-Cookie: a=b", "invalidContinueURL"),
    ("https://app.example.com:99999999/", "invalidContinueURL"),
    ("https://аpp.example.com/", "invalidContinueURL"),
    ("https://app.example.com/" + String(repeating: "a", count: 4_000), "invalidContinueURL"),
  ])
  func `the continue URL must be on an authorized domain`(url: String, expected: String)
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) {
        $0.project?.authorizedDomains = ["localhost", "app.example.com", "192.0.2.1"]
      }
      var request = OutOfBandRequest(.verifyEmail, for: .email(Person.alice.email))
      request.continueURL = url
      let asked = request
      await expect(expected) { try await send(instance, asked) }
    }
  }

  @Test func `anyone can request five emails per hour for an address, with or without an account`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      for person in [Person.alice, .mallory] {
        let request = OutOfBandRequest(.passwordReset, for: .email(person.email))
        for _ in 0..<5 { _ = try await send(instance, request, hidingUsers: true) }
        await expect("tooManyMails") { try await send(instance, request, hidingUsers: true) }
        // A server's requests have only the limit of the address.
        for _ in 0..<5 { _ = try await send(instance, request, hidingUsers: true, from: nil) }
        await expect("tooManyMails") {
          try await send(instance, request, hidingUsers: true, from: nil)
        }
      }
      // Users with the same email in another pool have a separate limit.
      _ = try await instance.account(.alice, in: instance.east)
      let request = OutOfBandRequest(.passwordReset, for: .email(Person.alice.email))
      _ = try await send(instance, request, in: instance.east)
      #expect(try await instance.mails().count == 11)
      instance.clock.advance(3_599)
      await expect("tooManyMails") { try await send(instance, request) }
      instance.clock.advance(1)
      _ = try await send(instance, request)
    }
  }

  @Test func `a user requests five emails per hour, whatever strangers and changes use up`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let reset = OutOfBandRequest(.passwordReset, for: .email(Person.alice.email))
      for _ in 0..<5 { _ = try await send(instance, reset) }
      await expect("tooManyMails") { try await send(instance, reset) }
      for number in 0..<6 {
        var request = OutOfBandRequest(.changeEmail, for: .session(device.session))
        request.newEmail = "new-\(number)@example.com"
        let asked = request
        await expect(number < 5 ? "done" : "tooManyMails") { try await send(instance, asked) }
      }
      // Alerts have a quota of their own.
      _ = try await instance.identity.enrollments.withdraw(
        device.session, enrollment: device.factor.text, by: Instance.visitor)
      #expect(try await instance.mails("notice-factor-withdrawn").count == 1)
    }
  }

  @Test func `a network can request 300 emails per hour`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      for index in 0..<300 {
        let request = OutOfBandRequest(.signIn, for: .email("somebody-\(index)@example.com"))
        _ = try await send(instance, request, from: "203.0.113.5")
      }
      let request = OutOfBandRequest(.signIn, for: .email("one-more@example.com"))
      await expect("tooManyMails") { try await send(instance, request, from: "203.0.113.5") }
      await expect("done") { try await send(instance, request, from: "203.0.113.6") }
    }
  }

  @Test func `a requested link domain must be authorized`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) {
        $0.project?.authorizedDomains = ["localhost", "links.example.com"]
      }
      var request = OutOfBandRequest(.passwordReset, for: .email(Person.alice.email))
      for domain in ["other.example.com", "a.links.example.com", "links.example.com.", "", "x/y"] {
        request.linkDomain = domain
        let asked = request
        await expect("unknownLinkDomain") { try await send(instance, asked) }
        await expect("unknownLinkDomain") {
          try await instance.identity.outOfBandCodes.link(
            asked, in: instance.acme, by: Instance.boss)
        }
      }
      for domain in ["links.example.com", "LINKS.example.com"] {
        request.linkDomain = domain
        let link = try await instance.identity.outOfBandCodes.link(
          request, in: instance.acme, by: Instance.boss)
        #expect(link.link.hasPrefix("https://links.example.com/__/auth/action?mode=resetPassword&"))
      }
    }
  }

  @Test func `a code for a disabled sign-in method isn't sent`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let link = OutOfBandRequest(.signIn, for: .email(Person.alice.email))
      let reset = OutOfBandRequest(.passwordReset, for: .email(Person.alice.email))
      await expect("operationNotAllowed") { try await send(instance, link) }
      try await instance.allow(password: false, emailLink: true)
      await expect("done") { try await send(instance, link) }
      await expect("done") { try await send(instance, reset) }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.disableAuth = true
      }
      let closed = try await instance.identity.pools.find(project: instance.acme.project)
      await expect("poolDisabled") { try await send(instance, link, in: closed) }
    }
  }

  @Test func `a project's name can't break out of the subject line`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ project SET display_name = \("A\r\nBcc: x@example.com\u{202E}")
          WHERE project_id = \(instance.acme.project)
          """)
      }
      let pool = try await instance.identity.pools.find(project: instance.acme.project)
      _ = try await instance.code(.passwordReset, in: pool)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.subject == "Choose a new password for A  Bcc: x@example.com ")
      #expect(!mail.body.contains("\u{202E}") && !mail.body.contains("\r"))
    }
  }

  @Test func `generating a link is audited and sends no email`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let link = try await instance.identity.outOfBandCodes.link(
        OutOfBandRequest(.passwordReset, for: .email(Person.alice.email)), in: instance.acme,
        by: Instance.boss)
      #expect(parameter("oobCode", of: link.link) == link.code)
      #expect(try await instance.mails().count == 0)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountLink && row.objectID == alice.id.text)
      #expect(
        row.new(.linkKind) == .code("PASSWORD_RESET")
          && row.new(.linkEmail) == .text("alice@example.com"))
      #expect(!String(describing: row).contains(link.code))
    }
  }
}
