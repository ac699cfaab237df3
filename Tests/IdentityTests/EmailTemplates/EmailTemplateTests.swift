import Crypto
import Database
import JSON
import MailText
import Synchronization
import Testing

@testable import Identity

/// Email templates of projects and tenants in the emails they change.
struct EmailTemplateTests {
  private func configure(_ instance: Instance, _ mails: String) async throws {
    _ = try await instance.identity.pools.update(
      project: instance.acme.project, by: Author(actor: .commandLine)
    ) {
      $0.project?.authorizedDomains = ["localhost", "example.com"]
      $0.members = #"{"notification":{"sendEmail":\#(mails)}}"#
    }
  }

  private func named(_ instance: Instance, _ name: String, isVerified: Bool) async throws {
    let account = try await instance.account(.alice, isVerified: isVerified)
    var change = AccountChange()
    change.displayName = .set(name)
    try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss)
  }

  @Test func `emails use the project's template`() async throws {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"subject":"%APP_NAME%: new password","senderDisplayName":"%APP_NAME% Help",
          "body":"Dear %DISPLAY_NAME% (%EMAIL%),\n%LINK%\n100 % yours, %nobody%",
          "replyTo":"help@example.com","bodyFormat":"PLAIN_TEXT","customized":true}}
        """#)
      try await named(instance, "Alice %LINK%", isVerified: true)
      let code = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      let name = instance.acme.projectName
      #expect(mail.subject == "\(name): new password")
      #expect(mail.senderName == "\(name) Help" && mail.replyTo == "help@example.com")
      let lines = mail.body.split(separator: "\n").map(String.init)
      #expect(lines[0] == "Dear Alice %LINK% (alice@example.com),")
      #expect(lines[1].hasSuffix("&apiKey=" + (parameter("apiKey", of: lines[1]) ?? "")))
      #expect(parameter("oobCode", of: lines[1]) == code)
      #expect(lines[2] == "100 % yours, %nobody%")
      // Other kinds of emails use the default template.
      _ = try await instance.code(.verifyEmail)
      let other = try #require(try await instance.mails().last)
      #expect(other.subject == "Verify your email address for \(name)")
      #expect(other.senderName == nil && other.replyTo == nil)
    }
  }

  @Test(
    arguments: [
      ([:], 1), (["verifyEmailTemplate": ["subject": "a"]], 1),
      (["verifyEmailTemplate": ["subject": "a", "body": "%LINK%"]], 0),
    ] as [(JSON, Int)])
  func `the default text is written only if some of it is needed`(
    mails: JSON, texts: Int
  ) async throws {
    try await withInstance { instance in
      let writer = CountingWriter()
      let mail = OutOfBandMail(
        kind: .verifyEmail, scope: instance.acme, email: "a@example.com", newEmail: nil,
        factor: nil, link: "https://example.com/x", displayName: nil,
        isVerified: false, template: EmailTemplate(.verifyEmail, of: mails))
      let text = mail.text(in: nil, by: writer)
      #expect(text.body.contains("https://example.com/x") && text.language == "en")
      #expect(writer.texts.withLock { $0 } == texts)
    }
  }

  @Test func `an unverified account's display name isn't included`() async throws {
    try await withInstance { instance in
      try await configure(
        instance, #"{"verifyEmailTemplate":{"body":"Hi %DISPLAY_NAME%! %LINK%"}}"#)
      try await named(instance, "You won: evil.example", isVerified: false)
      _ = try await instance.code(.verifyEmail)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.body.hasPrefix("Hi ! "))
    }
  }

  @Test func `an HTML template has escaped values, and a text made from it`() async throws {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"body":"<h1>Hi %DISPLAY_NAME%</h1><p><a href='%LINK%'>Reset</a>",
          "bodyFormat":"HTML"}}
        """#)
      try await named(instance, "<b>Al & \"co\"</b>", isVerified: true)
      _ = try await instance.identity.outOfBandCodes.send(
        OutOfBandRequest(.passwordReset, for: .email(Person.alice.email)), in: instance.acme,
        hidingUsers: false, from: nil)
      let mail = try #require(try await instance.claim())
      let html = try #require(mail.html)
      #expect(mail.subject == "Choose a new password for \(instance.acme.projectName)")
      #expect(html.contains("<h1>Hi &lt;b&gt;Al &amp; &quot;co&quot;&lt; b&gt;</h1>"))
      #expect(
        html.contains(#"<a href="https://mfa.example.com/__/auth/action?mode=resetPassword&amp;"#))
      #expect(html.contains("color-scheme") && !html.contains("src="))
      #expect(
        mail.body.hasPrefix(
          "Hi <b>Al & \"co\"< b>\n\nReset: https://mfa.example.com/__/auth/action?mode="))
    }
  }

  @Test func `values in an address are encoded, and lines of preformatted text aren't doubled`()
    async throws
  {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"body":"<a href='mailto:help@a.example?subject=%DISPLAY_NAME%'>a</a><a href='https://a.example/?email=%EMAIL%'>b</a><a href='%LINK%&amp;for=%DISPLAY_NAME%'>c</a><a href='mailto:%EMAIL%'>d</a><pre>e<br>f</pre>",
          "bodyFormat":"HTML"}}
        """#)
      try await named(instance, "Al & Co", isVerified: true)
      _ = try await instance.identity.outOfBandCodes.send(
        OutOfBandRequest(.passwordReset, for: .email(Person.alice.email)), in: instance.acme,
        hidingUsers: false, from: nil)
      let html = try #require(try await instance.claim()?.html)
      #expect(html.contains(#"<a href="mailto:help@a.example?subject=Al%20%26%20Co">a</a>"#))
      #expect(html.contains(#"<a href="https://a.example/?email=alice@example.com">b</a>"#))
      #expect(html.contains(#"&amp;for=Al%20%26%20Co">c</a>"#) && html.contains(#""https://mfa"#))
      #expect(html.contains(#"<a href="mailto:alice@example.com">d</a>"#))
      #expect(html.contains("<pre>e<br>f</pre>"))
    }
  }

  @Test func `an HTML template can have a text of its own`() async throws {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"body":"<p>%LINK%</p>","bodyFormat":"HTML",
          "textBody":"Follow %LINK%"}}
        """#)
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.body.hasPrefix("Follow https://mfa.example.com/__/auth/action"))
      #expect(mail.html.hasPrefix(#"<p><a href="https://mfa.example.com/__/auth/action"#))
    }
  }

  @Test func `a template stored without its link gets one`() async throws {
    try await withInstance { instance in
      let mails = JSON.object(["verifyEmailTemplate": ["body": "<p>Hi", "bodyFormat": "HTML"]])
      let template = try #require(EmailTemplate(.verifyEmail, of: mails))
      let written = template.written(.verifyEmail, [.link: "https://a.example/x"], in: "en") {
        WrittenMail(subject: "s", body: "b", language: "en")
      }
      #expect(
        written.html
          == #"<p>Hi</p><p><a href="https://a.example/x">https://a.example/x</a></p>"#)
      #expect(written.body == "Hi\n\nhttps://a.example/x\n")
      _ = instance
    }
  }

  @Test func `a default email has HTML that is made from its text`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.html.hasPrefix("<p>Follow this link to choose a new password for the account"))
      #expect(
        mail.html.contains(
          #"</p><p><a href="https://mfa.example.com/__/auth/action?mode=resetPassword&amp;"#))
      let linked = EmailHTML(text: "a\n\nhttps://a.example/?x&y\n<b>\n").html
      #expect(
        linked == "<p>a</p><p><a href=\"https://a.example/?x&amp;y\">https://a.example/?x&amp;y</a>"
          + "<br>&lt;b&gt;</p>")
    }
  }

  @Test func `notices have the pool's template, with what happened and how to report it`()
    async throws
  {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"noticeTemplate":{"subject":"%APP_NAME% account","body":"Hi %DISPLAY_NAME%\n%CHANGE%\n--\n%REPORT%"}}
        """#)
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.identity.support.endSessions(
        instance.acme, device.account.id, agent.request())
      let mail = try #require(try await instance.mails("notice-sessions-ended").last)
      #expect(mail.subject == "Acme account")
      #expect(mail.body.contains("you were signed out everywhere"))
      #expect(mail.body.contains("\n--\nIf you didn't do or request this, open this page"))
      #expect(mail.body.contains("https://mfa.example.com/__/auth/not-me?code="))
    }
  }

  @Test(
    arguments: [
      (#"{"body":"%LINK% %FOO%"}"#, "template.unknownVariable"),
      (#"{"body":"%LINK% %CODE%"}"#, "template.unknownVariable"),
      (#"{"body":"no link"}"#, "template.missingVariable"),
      (#"{"body":"<p>no link</p>","bodyFormat":"HTML"}"#, "template.missingVariable"),
      (#"{"body":"<script>%LINK%</script>","bodyFormat":"HTML"}"#, "template.element"),
      (#"{"body":"<img src=x>%LINK%","bodyFormat":"HTML"}"#, "template.element"),
      (#"{"body":"<p onclick=x>%LINK%</p>","bodyFormat":"HTML"}"#, "template.attribute"),
      (#"{"body":"<a href='javascript:x'>%LINK%</a>","bodyFormat":"HTML"}"#, "template.address"),
      (#"{"subject":"a\r\nBcc: x@example.com"}"#, "template.controlCharacter"),
      (#"{"subject":"%LINK%"}"#, "template.unknownVariable"),
      (#"{"senderDisplayName":"a\nb"}"#, "template.controlCharacter"),
      (#"{"senderDisplayName":"%EMAIL%"}"#, "template.unknownVariable"),
      (#"{"replyTo":"a@b.example, c@d.example"}"#, "template.invalidReplyTo"),
      (#"{"replyTo":"a,b@c.example"}"#, "template.invalidReplyTo"),
      (#"{"replyTo":"a@b.example\r\nBcc: x@example.com"}"#, "template.invalidReplyTo"),
      (#"{"body":"%LINK% \u0025APP_NAME%","replyTo":"help@example.com"}"#, "done"),
    ])
  func `a template with a mistake isn't accepted`(template: String, result: String) async throws {
    try await withInstance { instance in
      await expect(result) {
        try await configure(instance, #"{"resetPasswordTemplate":\#(template)}"#)
      }
    }
  }

  @Test func `a mistake in a stored template doesn't prevent other changes`() async throws {
    try await withInstance { instance in
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ scope
          SET members = '{"notification":{"sendEmail":{"resetPasswordTemplate":{"body":"x"}}}}'
          """)
      }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: Author(actor: .commandLine)
      ) { $0.displayName = "Acme 2" }
    }
  }

  @Test(arguments: [
    "null", "17", #""x""#, "[]", #"{"resetPasswordTemplate":17}"#,
    #"{"resetPasswordTemplate":{"subject":"","body":""}}"#,
    #"{"resetPasswordTemplate":{"subject":5,"body":[]}}"#,
  ])
  func `an invalid template is ignored`(mails: String) async throws {
    try await withInstance { instance in
      try await configure(instance, mails)
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.subject == "Choose a new password for \(instance.acme.projectName)")
    }
  }

  @Test(arguments: [true, false])
  func `a tenant uses its project's template only if it inherits it`(inherits: Bool) async throws {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"subject":"Ours"},"callbackUri":"https://app.example.com/act"}
        """#)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, tenant: instance.east.tenant,
        by: Author(actor: .commandLine)
      ) { $0.members = #"{"inheritance":{"emailSendingConfig":\#(inherits)}}"# }
      _ = try await instance.account(.alice, in: instance.east)
      _ = try await instance.code(.passwordReset, in: instance.east)
      let mail = try #require(try await instance.mails().last)
      #expect((mail.subject == "Ours") == inherits)
      #expect(try mail.link.contains("https://app.example.com/act") == inherits)
    }
  }
}

/// Counts the texts that are written.
private final class CountingWriter: MailWriter {
  let texts = Mutex(0)

  func language(for locale: String?) -> String { "en" }

  func write(_ content: MailContent, in language: String) -> WrittenMail {
    texts.withLock { $0 += 1 }
    return TestMail.writer.write(content, in: language)
  }

  func values(of content: MailContent, in language: String) -> [EmailVariable: String] { [:] }
}
