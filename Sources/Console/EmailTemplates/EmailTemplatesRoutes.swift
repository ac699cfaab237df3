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
  static let emailTemplates = ScopePath0("email-templates")
  static let emailTemplate = ScopePath1("email-templates", nil)
  static let emailPreview = ScopePath1("email-templates", nil, "preview")
  static let testEmail = ScopePath1("email-templates", nil, "test")

}
