import HTTP
import Identity
import Localization
import Templating

struct EmailTemplateView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let template: PoolEmailTemplate
  let draft: EmailTemplateDraft
  /// The email with sample values; nil for a draft with faults.
  let preview: EmailPreview?
  let carriesMail: Bool
  let mayChange: Bool
  let fields: ActionFields

  private var scope: Scope { context.scope }
  private var word: String { template.kind.rawValue }

  /// Where the text comes from, if not from the pool's own template.
  private var source: Message? {
    guard draft.isStored, template.own == nil else { return nil }
    return template.inherited == nil
      ? Message("email-templates.uses-default") : Message("email-templates.uses-inherited")
  }

  private func field(_ field: EmailTemplate.Field) -> EmailTemplateField {
    EmailTemplateField(
      field: field, value: draft.template[field], error: frame.error(at: field.rawValue))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { EmailTemplateText.name($0.template.kind) },
    .text("occasion") { EmailTemplateText.occasion($0.template.kind) },
    .text("source") { $0.source },
    .optional("preview") { view in
      view.preview.map { EmailPreviewView(preview: $0, isDraft: !view.draft.isStored) }
    },
    .flag(\.mayChange),
    .text("action") { ConsolePaths.emailTemplate($0.scope, $0.word) },
    .text("previewAction") { ConsolePaths.emailPreview($0.scope, $0.word) },
    .text("testAction") { view in
      view.carriesMail ? ConsolePaths.testEmail(view.scope, view.word) : nil
    },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("settingsVersion") { $0.draft.version.text },
    .list("lines") { view in [view.field(.subject), view.field(.senderName), view.field(.replyTo)]
    },
    .list("areas") { view in [view.field(.text), view.field(.html)] },
    .object("authorization") { $0.fields },
    .text("back") { ConsolePaths.emailTemplates($0.scope) },
    .list("variables") { view in
      view.template.kind.variables.map {
        EmailVariableRow(variable: $0, isRequired: view.template.kind.required.contains($0))
      }
    },
  ]
}

/// A field of the form.
struct EmailTemplateField: ViewModel {
  let field: EmailTemplate.Field
  let value: String
  let error: Message?

  private var hint: Message {
    switch field {
    case .subject: Message("email-templates.subject-hint")
    case .text: Message("email-templates.text-hint")
    case .html: Message("email-templates.html-hint")
    case .senderName: Message("email-templates.sender-name-hint")
    case .replyTo: Message("email-templates.reply-to-hint")
    }
  }

  static let keys: Keys<Self> = [
    .text("id") { $0.field.rawValue },
    .text("label") { EmailTemplateText.name($0.field) },
    .text("hint") { $0.hint },
    .text(\.value),
    .text(\.error),
  ]
}

/// A variable in the list next to the form.
struct EmailVariableRow: ViewModel {
  let variable: EmailVariable
  let isRequired: Bool

  static let keys: Keys<Self> = [
    .text("name") { $0.variable.rawValue },
    .text("meaning") { EmailTemplateText.meaning($0.variable) },
    .flag(\.isRequired),
  ]
}

/// An email with sample values.
struct EmailPreviewView: ViewModel {
  let preview: EmailPreview
  let isDraft: Bool

  static let keys: Keys<Self> = [
    .text("subject") { $0.preview.subject },
    .text("senderName") { $0.preview.senderName },
    .text("replyTo") { $0.preview.replyTo },
    .text("text") { $0.preview.text },
    .text("html") { $0.preview.html },
    .flag(\.isDraft),
  ]
}
