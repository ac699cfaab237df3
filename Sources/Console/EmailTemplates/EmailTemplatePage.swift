import HTTP
import Identity
import Localization
import Templating

/// `S/email-templates/{kind}`: a template of emails to users, with a preview.
struct EmailTemplatePage: Sendable {
  let templates: EmailTemplates
  /// Whether this server sends emails, so that a test can be sent.
  let carriesMail: Bool
  let actions: ActionForms
  let view: Template<EmailTemplateView>

  func show(_ context: ScopeContext, _ word: String) async throws(Refusal) -> Response {
    let template = try await find(context, word)
    return try await page(context, template, EmailTemplateDraft(template))
  }

  /// Finds the template that an address names.
  func find(
    _ context: ScopeContext, _ word: String
  ) async throws(Refusal) -> PoolEmailTemplate {
    guard let kind = EmailTemplate.Kind(rawValue: word) else { throw .notFound }
    return try await refusing { try await templates.find(context.scope, kind) }
  }

  /// Shows the template being edited; the status is 422 for faults.
  func page(
    _ context: ScopeContext, _ template: PoolEmailTemplate, _ draft: EmailTemplateDraft,
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let name = EmailTemplateText.name(template.kind)
    var frame = try await actions.frames.frame(
      Message("email-templates.title-of-one", ["name": .message(name)]), in: context)
    frame.crumbs = [
      Link(text: Message("settings.settings"), href: ConsolePaths.settings(context.scope)),
      Link(
        text: Message("email-templates.title"), href: ConsolePaths.emailTemplates(context.scope)),
    ]
    frame.errors = errors
    if let report = draft.report { frame.flash = Flash(text: report) }
    let frameView = FrameView(frame)
    let mayChange = context.may(ConsoleAction.changeEmailTemplate.requirements.permission)
    let model = EmailTemplateView(
      frame: frameView, context: context, template: template, draft: draft,
      preview: draft.template.faults(template.kind).isEmpty || draft.isStored
        ? templates.preview(context.scope, template.kind, draft.shown(template)) : nil,
      carriesMail: carriesMail, mayChange: mayChange,
      fields: try await actions.fields(.changeEmailTemplate, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  /// Why a template isn't saved or sent, as field errors.
  func errors(
    _ error: ActionError<EmailTemplateError>, _ action: ConsoleAction, _ signedIn: SignedIn
  ) async throws(Refusal) -> [FieldError] {
    if case .failed(.invalid(let faults)) = error {
      return faults.map(EmailTemplateText.error)
    }
    return try await actions.faults(error, action, signedIn) { reason throws(Refusal) in
      switch reason {
      case .changedMeanwhile:
        return FieldError(
          field: "subject", text: Message("email-templates.changed-meanwhile"))
      case .tooManyTests(let until):
        return FieldError(
          field: "subject",
          text: Message(
            "email-templates.too-many-tests", ["time": signedIn.times.value(until)]))
      case .scopeNotFound: throw .notFound
      case .invalid, .unavailable: throw .unavailable(reason)
      }
    }
  }
}

/// A template being edited.
struct EmailTemplateDraft: Sendable {
  var template: EmailTemplate
  /// The version of the pool's own template when editing began.
  let version: SettingsVersion
  /// Whether it's the stored template, and not one that someone entered.
  let isStored: Bool
  /// What was done with it.
  var report: Message?

  init(_ stored: PoolEmailTemplate) {
    template = stored.own ?? EmailTemplate()
    version = template.version
    isStored = true
  }

  /// Reads a submitted form.
  init(_ form: Form) throws(Refusal) {
    var texts: [EmailTemplate.Field: String] = [:]
    for field in EmailTemplate.Field.allCases {
      guard let text = form.text(field.rawValue, atMost: Form.longestText) else {
        throw .unreadableForm
      }
      texts[field] = text
    }
    template = EmailTemplate(
      subject: texts[.subject] ?? "", text: texts[.text] ?? "", html: texts[.html] ?? "",
      senderName: texts[.senderName] ?? "", replyTo: texts[.replyTo] ?? "")
    version = form.settingsVersion
    isStored = false
  }

  /// The template that the preview shows: without its own, a tenant has its project's.
  func shown(_ stored: PoolEmailTemplate) -> EmailTemplate {
    template.isEmpty ? stored.inherited ?? template : template
  }
}

/// `POST S/email-templates/{kind}/preview`: shows the email with sample values, without saving the
/// template.
struct PreviewEmailTemplate: Sendable {
  let page: EmailTemplatePage

  func perform(_ context: ScopeContext, _ word: String) async throws(Refusal) -> Response {
    let template = try await page.find(context, word)
    let draft = try EmailTemplateDraft(context.signedIn.form)
    return try await page.page(
      context, template, draft,
      errors: draft.template.faults(template.kind).map(EmailTemplateText.error))
  }
}

/// `POST S/email-templates/{kind}`: saves the template.
struct SaveEmailTemplate: Sendable {
  let page: EmailTemplatePage

  func perform(_ context: ScopeContext, _ word: String) async throws(Refusal) -> Response {
    let template = try await page.find(context, word)
    let signedIn = context.signedIn
    let draft = try EmailTemplateDraft(signedIn.form)
    do {
      let outcome = try await page.templates.change(
        context.scope, template.kind, to: draft.template, expecting: draft.version,
        page.actions.request(signedIn))
      return page.actions.leave(
        draft.template.isEmpty
          ? Message("email-templates.reset") : Message("email-templates.saved"),
        signedIn, after: outcome, to: ConsolePaths.emailTemplate(context.scope, word))
    } catch {
      let errors = try await page.errors(error, .changeEmailTemplate, signedIn)
      return try await page.page(context, template, draft, errors: errors)
    }
  }
}

/// `POST S/email-templates/{kind}/test`: sends the email with sample values to the administrator.
struct SendTestEmail: Sendable {
  let page: EmailTemplatePage

  func perform(_ context: ScopeContext, _ word: String) async throws(Refusal) -> Response {
    let template = try await page.find(context, word)
    let signedIn = context.signedIn
    var draft = try EmailTemplateDraft(signedIn.form)
    let outcome: ActionOutcome<String>
    do {
      outcome = try await page.templates.sendTest(
        context.scope, template.kind, draft.shown(template), page.actions.request(signedIn))
    } catch {
      let errors = try await page.errors(error, .sendTestEmail, signedIn)
      return try await page.page(context, template, draft, errors: errors)
    }
    draft.report = Message(
      "email-templates.test-sent", ["address": .name(Formatted.short(outcome.value))])
    return page.actions.page(try await page.page(context, template, draft), after: outcome)
  }
}
