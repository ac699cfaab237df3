import HTTP
import Identity
import Localization
import Templating

/// `S/email-templates`: the kinds of emails to users, and which of them have a template.
struct EmailTemplatesPage: Sendable {
  let templates: EmailTemplates
  let frames: Frames
  let view: Template<EmailTemplatesView>

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let rows = try await refusing { try await templates.list(context.scope) }
    var frame = try await frames.frame(Message("email-templates.title"), in: context)
    frame.crumbs = [
      Link(text: Message("settings.settings"), href: ConsolePaths.settings(context.scope))
    ]
    return .html(
      view.render(EmailTemplatesView(frame: FrameView(frame), context: context, templates: rows)))
  }
}

struct EmailTemplatesView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let templates: [PoolEmailTemplate]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("scopeName") { $0.context.scope.name },
    .list("rows") { view in
      view.templates.map { EmailTemplateRow(template: $0, scope: view.context.scope) }
    },
  ]
}

/// A kind of email in the list.
struct EmailTemplateRow: ViewModel {
  let template: PoolEmailTemplate
  let scope: Scope

  private var state: Markup {
    if template.own != nil { return Chip.on(Message("email-templates.own")) }
    return template.inherited == nil
      ? Chip.off(Message("email-templates.none"))
      : Chip.off(Message("email-templates.inherited"))
  }

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.emailTemplate($0.scope, $0.template.kind.rawValue) },
    .text("name") { EmailTemplateText.name($0.template.kind) },
    .markup("state") { $0.state },
    .text("subject") { row in
      (row.template.own ?? row.template.inherited).flatMap {
        $0.subject.isEmpty ? nil : $0.subject
      }
    },
  ]
}
