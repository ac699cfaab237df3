import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// The senders of emails to users, which projects and tenants configure, and the HTML of their emails.
struct EmailSenderTests {
  private func configure(
    _ instance: Instance, _ mails: String, in pool: Pool? = nil, inherits: Bool = false
  ) async throws {
    let pool = pool ?? instance.acme
    let members = #"""
      {"notification":{"sendEmail":\#(mails)},"inheritance":{"emailSendingConfig":\#(inherits)}}
      """#
    _ = try await instance.identity.pools.update(
      project: pool.project, tenant: pool.tenant, by: .program(Author(actor: .commandLine))
    ) {
      $0.project?.authorizedDomains = ["localhost", "example.com"]
      $0.members = members
    }
  }

  @Test func `an email has the configured sender, and the server's text`() async throws {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"subject":"%APP_NAME%: new password","body":"<p>%LINK%</p>",
          "senderDisplayName":"%APP_NAME% Help %EMAIL%","replyTo":"help@example.com",
          "bodyFormat":"HTML","customized":true}}
        """#)
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      let name = instance.acme.projectName
      #expect(mail.subject == "Choose a new password for \(name)")
      #expect(mail.body.hasPrefix("Follow this link to choose a new password for the account"))
      #expect(mail.senderName == "\(name) Help %EMAIL%" && mail.replyTo == "help@example.com")
      // Other kinds of emails have the default sender.
      _ = try await instance.code(.verifyEmail)
      let other = try #require(try await instance.mails().last)
      #expect(other.senderName == nil && other.replyTo == nil)
    }
  }

  @Test func `notices have a sender too`() async throws {
    try await withInstance { instance in
      try await configure(instance, #"{"noticeTemplate":{"senderDisplayName":"Acme Security"}}"#)
      let device = try await instance.enrolled(.alice)
      _ = try await instance.identity.support.endSessions(
        instance.acme, device.account.id, try await instance.agent().request())
      let mail = try #require(try await instance.mails("notice-sessions-ended").last)
      #expect(mail.senderName == "Acme Security" && mail.replyTo == nil)
    }
  }

  @Test(arguments: [
    (#"{"senderDisplayName":"a\nb"}"#, "invalidSenderName"),
    (#"{"senderDisplayName":"\#(String(repeating: "é", count: 51))"}"#, "invalidSenderName"),
    (#"{"replyTo":"a@b.example, c@d.example"}"#, "invalidReplyTo"),
    (#"{"replyTo":"a,b@c.example"}"#, "invalidReplyTo"),
    (#"{"replyTo":"a@b.example\r\nBcc: x@example.com"}"#, "invalidReplyTo"),
    (
      #"{"replyTo":"\#(String(repeating: "a", count: 250))@example.com"}"#,
      "invalidReplyTo"
    ),
    (#"{"subject":"a\r\nb","body":"<script>","replyTo":"help@example.com"}"#, "done"),
  ])
  func `an invalid sender isn't accepted`(template: String, result: String) async throws {
    try await withInstance { instance in
      await expect(result) {
        try await configure(instance, #"{"resetPasswordTemplate":\#(template)}"#)
      }
    }
  }

  @Test func `a mistake in a stored sender doesn't prevent other changes`() async throws {
    try await withInstance { instance in
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ scope
          SET members = '{"notification":{"sendEmail":{"resetPasswordTemplate":{"replyTo":"x"}}}}'
          """)
      }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) { $0.displayName = "Acme 2" }
    }
  }

  @Test(arguments: [
    "null", "17", #""x""#, "[]", #"{"resetPasswordTemplate":17}"#,
    #"{"resetPasswordTemplate":{"senderDisplayName":"","replyTo":""}}"#,
    #"{"resetPasswordTemplate":{"senderDisplayName":5,"replyTo":[]}}"#,
  ])
  func `members that aren't a sender are ignored`(mails: String) async throws {
    try await withInstance { instance in
      try await configure(instance, mails)
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.senderName == nil && mail.replyTo == nil)
    }
  }

  @Test(arguments: [true, false])
  func `a tenant has its project's sender only if it inherits it`(inherits: Bool) async throws {
    try await withInstance { instance in
      try await configure(
        instance,
        #"""
        {"resetPasswordTemplate":{"senderDisplayName":"Ours"},
          "callbackUri":"https://app.example.com/act"}
        """#)
      try await configure(instance, "{}", in: instance.east, inherits: inherits)
      _ = try await instance.account(.alice, in: instance.east)
      _ = try await instance.code(.passwordReset, in: instance.east)
      let mail = try #require(try await instance.mails().last)
      #expect(mail.senderName == (inherits ? "Ours" : nil))
      #expect(try mail.link.contains("https://app.example.com/act") == inherits)
      // Its own comes before its project's.
      try await configure(
        instance, #"{"resetPasswordTemplate":{"replyTo":"a@example.com"}}"#, in: instance.east,
        inherits: inherits)
      _ = try await instance.code(.passwordReset, in: instance.east)
      let own = try #require(try await instance.mails().last)
      #expect(own.senderName == nil && own.replyTo == "a@example.com")
    }
  }

  @Test func `an email has HTML that is made from its text`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      let html = try #require(try await instance.claim()?.html)
      #expect(html.contains("<p>Follow this link to choose a new password for the account"))
      #expect(
        html.contains(
          #"<p><a href="https://mfa.example.com/__/auth/action?mode=resetPassword&amp;"#))
      #expect(html.contains("color-scheme") && !html.contains("src="))
      let text = MessageText(subject: "", body: "a\n\nhttps://a.example/?x&y\n<b>\n")
      #expect(
        text.html == """
          <p>a</p>
          <p><a href="https://a.example/?x&amp;y">https://a.example/?x&amp;y</a><br>&lt;b&gt;</p>

          """)
    }
  }
}
