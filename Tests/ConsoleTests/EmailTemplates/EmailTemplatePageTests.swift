import HTTP
import Identity
import Testing

@testable import Console

/// The pages of email templates.
@Suite struct EmailTemplatePageTests {
  private static let page = "/projects/acme-retail/email-templates/reset-password"

  private func form(_ text: String = "Go to %LINK%", html: String = "") -> Form {
    [
      "subject": "%APP_NAME%: new password", "text": text, "html": html, "sender-name": "Help",
      "reply-to": "help@example.com",
    ]
  }

  @Test func `the breadcrumb leads to the settings`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let settings = "<li><a href=\"/projects/acme-retail/settings\"><bdi>Settings</bdi></a></li>"
      for address in ["/projects/acme-retail/email-templates", Self.page] {
        #expect(try await ada.get(address).says(settings), "\(address)")
      }
    }
  }

  @Test func `a template is previewed without saving, then saved`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let html = "<h1>Hello</h1><p><a href=\"%LINK%\">Choose &amp; go</a></p>"
      let preview = try await ada.submit(
        Self.page, form("", html: html), to: Self.page + "/preview")
      #expect(preview.status == .ok && preview.says("Not saved yet."))
      #expect(preview.says("Acme Retail: new password"))
      // The HTML is an escaped attribute of a frame without any rights.
      #expect(preview.text.contains("<iframe class=\"card flush\" sandbox width"))
      #expect(preview.text.contains("srcdoc=\"&lt;!DOCTYPE html&gt;"))
      #expect(
        preview.text.contains("body&gt;\n&lt;h1&gt;Hello&lt;/h1&gt;&lt;p&gt;&lt;a href=&quot;"))
      #expect(preview.says("Choose &amp; go: "))
      let scope = try await world.projectScope
      #expect(try await world.identity.emailTemplates.find(scope, .resetPassword).own == nil)
      let saved = try await ada.submit(Self.page, form("", html: html))
      #expect(saved.location == Self.page)
      let own = try await world.identity.emailTemplates.find(scope, .resetPassword).own
      #expect(own?.html == html && own?.replyTo == "help@example.com")
      let list = try await ada.get("/projects/acme-retail/email-templates")
      #expect(list.says(">custom<") && list.says("%APP_NAME%: new password"))
    }
  }

  @Test func `a form that was opened before a change doesn't replace it, and keeps its text`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.page)
      let version = try #require(page.value(of: SettingsConflict.field))
      #expect(try await ada.submit(Self.page, form("First: %LINK%")).location == Self.page)
      var stale = form("Second: %LINK%")
      stale.add("csrf", try page.csrf)
      stale.add(SettingsConflict.field, version)
      let late = try await ada.post(Self.page, stale)
      #expect(late.status == .unprocessableContent && late.says("Second: %LINK%"))
      #expect(late.says("This template was changed while you were editing"))
      #expect(try await ada.get(Self.page).says("First: %LINK%"))
    }
  }

  @Test func `mistakes are next to their fields, and what was typed is kept`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for address in [Self.page, Self.page + "/preview"] {
        let page = try await ada.submit(
          Self.page, form("Hi %FOO%", html: "<script>x</script>%LINK%"), to: address)
        #expect(page.status == .unprocessableContent)
        #expect(page.says("Plain text: this email has no variable %FOO%."))
        #expect(page.says("HTML: remove the element “script”, which isn’t allowed."))
        #expect(page.text.contains("Hi %FOO%"))
        #expect(!page.text.contains("<iframe"))
      }
    }
  }

  @Test func `others see the email, but not the form`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await world.filled("{eu}/email-templates/reset-password")
      let page = try await nadia.get(address)
      #expect(page.status == .ok && page.says("You have read-only access."))
      #expect(!page.text.contains("<textarea"))
      #expect(try await nadia.get(address + "x").status == .notFound)
    }
  }
}
