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

  @Test func `a bouncing address is marked from its message, shown, and unmarked`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let scope = try await world.euScope
      let account = try #require(try await world.identity.accounts.find(scope, ID(World.chiara)))
      try await world.addMessage(for: account, in: scope)
      let message = try #require(try await world.identity.messages.list(scope).items.first)
      let email = try #require(account.email)
      let page = try await ada.get(try await world.filled("{eu}/messages/\(message.id)"))
      let user = try await world.filled("{eu}/users/\(World.chiara)")
      #expect(page.text.contains("\(user)/bounces?address="))
      let marked = try await ada.submit(
        user + "/bounces", ["address": email, "reason": "other", "note": "Mail came back"])
      #expect(marked.location == user, "\(marked.text)")
      let shown = try await ada.get(user)
      #expect(shown.says("marked the address as bouncing"))
      let ending = try await ada.get(user + "/sessions/end")
      #expect(ending.says("which is marked as bouncing"))
      #expect(!ending.says("the user is notified"), "the only address gets no email")
      let removal = try await ada.get(user + "/factors/removal")
      #expect(removal.says("which is marked as bouncing") && !removal.says("the user is notified"))
      let outbox = try await ada.get(try await world.filled("{eu}/messages"))
      #expect(outbox.says("Not sent: the address is marked as bouncing."))
      let cleared = try await ada.submit(
        user + "/working-address", ["address": email, "reason": "mistake"])
      #expect(cleared.location == user)
      #expect(!(try await ada.get(user)).says("marked the address as bouncing"))
    }
  }
}
