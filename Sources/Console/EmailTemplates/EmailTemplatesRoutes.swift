import HTTP
import Identity

/// Templates of emails to users.
enum EmailTemplatesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let templates = parts.identity.emailTemplates
    let list = EmailTemplatesPage(
      templates: templates, frames: parts.frames,
      view: try parts.template("email-templates/email-templates", for: EmailTemplatesView.self))
    table.inScope(.get, ConsolePaths.emailTemplates, .seeScope, list.show)

    let page = EmailTemplatePage(
      templates: templates, carriesMail: parts.identity.messages.carriesMail,
      actions: parts.actions,
      view: try parts.template("email-templates/email-template", for: EmailTemplateView.self))
    table.inScope(.get, ConsolePaths.emailTemplate, .seeScope, page.show)
    table.inScope(
      ConsolePaths.emailTemplate, performing: [.changeEmailTemplate],
      SaveEmailTemplate(page: page).perform)
    table.inScope(
      ConsolePaths.emailPreview, preparing: [.changeEmailTemplate],
      PreviewEmailTemplate(page: page).perform)
    table.inScope(
      ConsolePaths.testEmail, performing: [.sendTestEmail], SendTestEmail(page: page).perform)
  }
}

extension ConsolePaths {
  static let emailTemplates = ScopePath(
    Path("projects", nil, "email-templates", parameters: String.self),
    Path("projects", nil, "tenants", nil, "email-templates", parameters: String.self, String.self))
  static let emailTemplate = ScopePath(
    Path("projects", nil, "email-templates", nil, parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "email-templates", nil,
      parameters: String.self, String.self, String.self))
  static let emailPreview = ofTemplate("preview")
  static let testEmail = ofTemplate("test")

  private static func ofTemplate(_ word: PathComponent) -> ScopePath1 {
    ScopePath(
      Path("projects", nil, "email-templates", nil, word, parameters: String.self, String.self),
      Path(
        "projects", nil, "tenants", nil, "email-templates", nil, word,
        parameters: String.self, String.self, String.self))
  }
}
