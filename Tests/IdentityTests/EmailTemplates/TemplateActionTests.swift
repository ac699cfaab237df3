import Identity
import Testing

/// Changes and tests of email templates in the console.
struct TemplateActionTests {
  private static let none = EmailTemplate().version

  private func template(_ subject: String = "New", _ text: String = "Go to %LINK%") -> EmailTemplate
  {
    EmailTemplate(subject: subject, text: text, html: "", senderName: "", replyTo: "")
  }

  @Test(arguments: Role.allCases)
  func `only those who decide where links lead can change a template`(role: Role) async throws {
    try await withInstance { instance in
      let agent = try await instance.agent("anna", role: role)
      let result = await outcome {
        try await instance.identity.emailTemplates.change(
          instance.acme, .resetPassword, to: template(), expecting: Self.none, agent.request())
      }
      let may = role.permissions.contains(.changeLinks)
      #expect(result == (may ? "done" : "refused.notAllowed"))
      let tested = await outcome {
        try await instance.identity.emailTemplates.sendTest(
          instance.acme, .resetPassword, template(), agent.request())
      }
      #expect(tested == (may ? "done" : "refused.notAllowed"))
    }
  }

  @Test func `a template of the console is the one that the API returns`() async throws {
    try await withInstance { instance in
      let (templates, agent) = (
        instance.identity.emailTemplates, try await instance.agent("anna", role: .owner)
      )
      var html = template("", "")
      html.html = "<p>%LINK%</p>"
      html.replyTo = "help@example.com"
      _ = try await templates.change(
        instance.acme, .changeEmail, to: html, expecting: Self.none, agent.request())
      let members = try await instance.identity.pools.find(project: instance.acme.project).members
      #expect(
        members == #"{"notification":{"sendEmail":{"changeEmailTemplate":{"#
          + #""replyTo":"help@example.com","body":"<p>%LINK%</p>","bodyFormat":"HTML","#
          + #""customized":true}}}}"#)
      #expect(try await templates.find(instance.acme, .changeEmail).own == html)
      // Without any part, it's gone.
      _ = try await templates.change(
        instance.acme, .changeEmail, to: EmailTemplate(), expecting: html.version, agent.request())
      #expect(
        try await instance.identity.pools.find(project: instance.acme.project).members == "{}")
    }
  }

  @Test func `a template that someone else changed meanwhile isn't overwritten`() async throws {
    try await withInstance { instance in
      let (templates, agent) = (
        instance.identity.emailTemplates, try await instance.agent("anna", role: .owner)
      )
      _ = try await templates.change(
        instance.acme, .signIn, to: template(), expecting: Self.none, agent.request())
      await expect("failed.changedMeanwhile") {
        try await templates.change(
          instance.acme, .signIn, to: template("Other"), expecting: Self.none, agent.request())
      }
      // Saving what's stored changes nothing.
      let rows = try await instance.log().count
      _ = try await templates.change(
        instance.acme, .signIn, to: template(), expecting: template().version, agent.request())
      #expect(try await instance.log().count == rows)
    }
  }

  @Test func `a tenant's own template comes before the one it inherits`() async throws {
    try await withInstance { instance in
      let (templates, agent) = (
        instance.identity.emailTemplates, try await instance.agent("anna", role: .owner)
      )
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, tenant: instance.east.tenant,
        by: Author(actor: .commandLine)
      ) { $0.members = #"{"inheritance":{"emailSendingConfig":true}}"# }
      _ = try await templates.change(
        instance.acme, .resetPassword, to: template("Project"), expecting: Self.none,
        agent.request())
      _ = try await instance.account(.alice, in: instance.east)
      var subjects: [String] = []
      for own in [nil, template("Tenant"), EmailTemplate()] {
        if let own {
          let version = try await templates.find(instance.east, .resetPassword).own?.version
          _ = try await templates.change(
            instance.east, .resetPassword, to: own, expecting: version ?? Self.none,
            agent.request())
        }
        _ = try await instance.code(.passwordReset, in: instance.east)
        subjects.append(try #require(try await instance.mails().last).subject)
      }
      #expect(subjects == ["Project", "Tenant", "Project"])
    }
  }

  @Test func `a test goes to the administrator, with sample values, a limited number of times`()
    async throws
  {
    try await withInstance { instance in
      let (templates, agent) = (
        instance.identity.emailTemplates, try await instance.agent("anna", role: .owner)
      )
      for _ in 0..<20 {
        _ = try await templates.sendTest(
          instance.acme, .resetPassword, template(), agent.request())
      }
      await expect("failed.tooManyTests") {
        try await templates.sendTest(instance.acme, .resetPassword, template(), agent.request())
      }
      let mails = try await instance.mails("test-email")
      let mail = try #require(mails.first)
      #expect(mails.count == 20 && mail.recipient == agent.administrator.email)
      #expect(mail.subject == "New" && mail.body.contains("oobCode=SAMPLE-CODE"))
      await expect("failed.invalid") {
        try await templates.sendTest(
          instance.acme, .resetPassword, template("x", "y"), agent.request())
      }
    }
  }

  @Test(arguments: EmailTemplate.Kind.allCases)
  func `a preview has a value for each variable`(kind: EmailTemplate.Kind) async throws {
    try await withInstance { instance in
      var template = EmailTemplate()
      template.text = kind.variables.map(\.rawValue).joined(separator: "\n")
      #expect(template.faults(kind).isEmpty)
      let preview = instance.identity.emailTemplates.preview(instance.acme, kind, template)
      #expect(!preview.text.contains("%") && !preview.text.contains("\n\n\n"))
      #expect(!preview.subject.isEmpty && preview.html.contains("<p>"))
      let standard = instance.identity.emailTemplates.preview(instance.acme, kind, EmailTemplate())
      #expect(!standard.text.isEmpty)
    }
  }
}
