import Crypto
import Database
import JSON
import MailText
import Synchronization
import Testing

@testable import Identity

/// Email templates of a project.
struct MailTemplateTests {
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
        {"resetPasswordTemplate":{"subject":"%APP_NAME%: new password\r\nBcc: x@example.com",
          "body":"Dear %DISPLAY_NAME% (%EMAIL%),\n%LINK%\n100 % yours, %NOBODY%",
          "bodyFormat":"PLAIN_TEXT","customized":true}}
        """#)
      try await named(instance, "Alice %LINK%", isVerified: true)
      let code = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      let name = instance.acme.projectName
      #expect(mail.subject == "\(name): new password  Bcc: x@example.com")
      let lines = mail.body.split(separator: "\n").map(String.init)
      #expect(lines[0] == "Dear Alice %LINK% (alice@example.com),")
      #expect(lines[1].hasSuffix("&apiKey=" + (parameter("apiKey", of: lines[1]) ?? "")))
      #expect(parameter("oobCode", of: lines[1]) == code)
      #expect(lines[2] == "100 % yours, %NOBODY%")
      // Other kinds of emails use the default template.
      _ = try await instance.code(.verifyEmail)
      let other = try #require(try await instance.mails().last)
      #expect(other.subject == "Confirm your email address for \(name)")
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
        template: MailTemplate(.verifyEmail, of: mails))
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

  @Test func `an HTML template is sent as HTML with escaped values and always has the link`()
    async throws
  {
    try await withInstance { instance in
      try await configure(
        instance,
        #"{"resetPasswordTemplate":{"body":"<p>Hi %DISPLAY_NAME%</p>","bodyFormat":"HTML"}}"#)
      try await named(instance, "<b>Al & \"co\"</b>", isVerified: true)
      _ = try await instance.identity.outOfBandCodes.send(
        OutOfBandRequest(.passwordReset, for: .email(Person.alice.email)), in: instance.acme,
        hidingUsers: false, from: nil)
      let mail = try #require(try await instance.claim())
      #expect(mail.isHTML)
      #expect(mail.subject == "Choose a new password for \(instance.acme.projectName)")
      #expect(mail.body.hasPrefix("<p>Hi &lt;b&gt;Al &amp; &quot;co&quot;&lt;/b&gt;</p>"))
      #expect(mail.body.contains(#"<a href="/__/auth/action?mode=resetPassword&amp;lang=en"#))
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
}
