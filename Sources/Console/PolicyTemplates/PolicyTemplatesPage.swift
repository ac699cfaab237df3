import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/projects/{p}/policy-templates`: the named policies of a project, and the tenants that got one.
struct PolicyTemplatesPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<PolicyTemplatesView>

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    try await page(context)
  }

  /// Creates a template from the project's own policy.
  func create(_ context: ProjectContext) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    do {
      let outcome = try await identity.policyTemplates.create(
        signedIn.form.trimmed("name"), from: context.scope,
        notAs: PolicyTemplate.builtInLabels.map { actions.frames.catalog.text($0) },
        signedIn.plainRequest)
      return actions.leave(
        Message("policy-templates.created"), signedIn, after: outcome,
        to: ConsolePaths.policyTemplates(context.scope.project.text))
    } catch {
      let text: Message
      switch try error.failure(of: .createPolicyTemplate) {
      case .invalidName:
        text = Message(
          "policy-templates.name-invalid", ["longest": .number(PolicyTemplate.longestName)])
      case .nameTaken: text = Message("policy-templates.name-taken")
      default: throw .unavailable(error)
      }
      return try await page(context, faults: [FieldError(field: "name", text: text)])
    }
  }

  /// Asks for confirmation before a template is deleted.
  func confirmDeletion(
    _ context: ProjectContext, _ id: String
  ) async throws(Refusal) -> Response {
    let project = context.scope.project
    let list = ConsolePaths.policyTemplates(project.text)
    let templates = try await refusing { try await identity.policyTemplates.list(project) }
    guard let template = templates.first(where: { $0.kind.text == id }),
      let name = template.name
    else { throw .notFound }
    var frame = try await actions.frames.frame(
      Message("policy-templates.deletion-title", ["name": .name(name)]), in: context)
    frame.crumbs = Self.crumbs(to: context.scope)
    var question = ActionQuestion(
      performs: .deletePolicyTemplate,
      heading: Markup(
        html: Message("policy-templates.deletion-question", ["name": .name(name)])),
      consequences: [Message("policy-templates.deletion-keeps-policies")],
      button: Message("policy-templates.delete-template"), keep: Message("common.cancel"),
      action: ConsolePaths.policyTemplateRemoval(project.text, id), back: list)
    question.factsHeading = Message("policy-templates.policy")
    question.facts = template.facts
    return try await actions.ask(question, context.signedIn, frame)
  }

  func delete(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    guard let number = Int64(id) else { throw .notFound }
    let signedIn = context.signedIn
    do {
      let outcome = try await identity.policyTemplates.delete(
        number, of: context.scope.project, signedIn.plainRequest)
      return actions.leave(
        Message("policy-templates.deleted"), signedIn, after: outcome,
        to: ConsolePaths.policyTemplates(context.scope.project.text))
    } catch {
      guard case .notFound = try error.failure(of: .deletePolicyTemplate) else {
        throw .unavailable(error)
      }
      throw .notFound
    }
  }

  /// The way from a project's MFA policy to its templates.
  static func crumbs(to project: Scope) -> [Link] {
    [
      Link(text: Message("common.mfa-policy"), href: ConsolePaths.policy(project)),
      Link(
        text: Message("policy-templates.policy-templates"),
        href: ConsolePaths.policyTemplates(project.project.text)),
    ]
  }

  private func page(
    _ context: ProjectContext, faults: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let project = context.scope.project
    let after = context.signedIn.query.text("after")
    let templates = try await refusing { try await identity.policyTemplates.list(project) }
    let tenants = try await refusing {
      try await identity.policyTemplates.tenants(of: project, templated: true, after: after)
    }
    var frame = try await actions.frames.frame(
      Message("policy-templates.policy-templates"), in: context)
    frame.errors = faults
    frame.crumbs = Array(Self.crumbs(to: context.scope).dropLast())
    let model = PolicyTemplatesView(
      frame: FrameView(frame), context: context, templates: templates, tenants: tenants,
      after: after)
    return .html(view.render(model), status: faults.isEmpty ? .ok : .unprocessableContent)
  }
}

struct PolicyTemplatesView: ViewModel {
  let frame: FrameView
  let context: ProjectContext
  let templates: [PolicyTemplate]
  let tenants: Page<TemplatedTenant>
  let after: String?

  private var templated: [TemplatedTenant] { tenants.items.filter { $0.template != nil } }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("projectName") { $0.context.scope.name },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .list("templates") { view in
      view.templates.map { PolicyTemplateRow(template: $0, context: view.context) }
    },
    .flag("mayChange") {
      $0.context.signedIn.administrator.may(.changePolicy, in: $0.context.scope)
    },
    .text("action") { ConsolePaths.policyTemplates($0.context.scope.project.text) },
    .text("name") { $0.context.signedIn.form.trimmed("name") },
    .text("nameError") { $0.frame.error(at: "name") },
    .flag("hasTenants") { !$0.templated.isEmpty },
    .list("tenants") { view in
      view.templated.map { TemplatedTenantRow(tenant: $0, times: view.frame.times) }
    },
    .object("pager") { view in
      PagerView(
        shown: Message("policy-templates.n-tenants", ["count": .number(view.templated.count)]),
        path: ConsolePaths.policyTemplates(view.context.scope.project.text), query: Form(),
        after: view.after, next: view.tenants.next)
    },
  ]
}

extension PolicyTemplate {
  /// The name.
  var label: Message { kind.builtInLabel ?? .value(.name(name ?? "")) }

  /// The policy, field by field.
  var facts: [Fact] {
    PolicyChange.Field.allCases.map { field in
      Fact(field.label, PolicyChange.value(field, edit).message)
    }
  }

  /// The names of the built-in templates.
  static let builtInLabels = [Kind.strict, .standard].compactMap(\.builtInLabel)
}

extension PolicyTemplate.Kind {
  fileprivate var builtInLabel: Message? {
    switch self {
    case .strict: Message("policy-templates.strict")
    case .standard: Message("policy-templates.default")
    case .own: nil
    }
  }
}

/// A template in the list.
struct PolicyTemplateRow: ViewModel {
  let template: PolicyTemplate
  let context: ProjectContext

  private var mayChange: Bool {
    context.signedIn.administrator.may(.changePolicy, in: context.scope)
  }

  private func value(_ field: PolicyChange.Field) -> Message {
    PolicyChange.value(field, template.edit).message
  }

  static let keys: Keys<Self> = [
    .text("id") { $0.template.kind.text },
    .text("label") { $0.template.label },
    .text("totp") { $0.value(.totp) },
    .markup("window") { WindowStrip.small($0.template.edit.configuration) },
    .text("sms") { $0.value(.sms) },
    .text("pattern") { $0.value(.pattern) },
    .text("apply") { row in
      row.mayChange
        ? ConsolePaths.policyTemplate(row.context.scope.project.text, row.template.kind.text) : nil
    },
    .text("removal") { row in
      guard row.mayChange, row.template.name != nil else { return nil }
      return ConsolePaths.policyTemplateRemoval(
        row.context.scope.project.text, row.template.kind.text)
    },
  ]
}

/// A tenant that got a template.
struct TemplatedTenantRow: ViewModel {
  let tenant: TemplatedTenant
  let times: Times

  static let keys: Keys<Self> = [
    .text("name") { $0.tenant.policy.scope.name },
    .text("href") { ConsolePaths.policy($0.tenant.policy.scope) },
    .text("template") { $0.tenant.template?.label },
    .markup("appliedAt") { row in row.tenant.appliedAt.map(row.times.day) },
    .markup("state") { row in
      row.tenant.hasDrifted
        ? Chip.look(Message("policy-templates.drifted"))
        : Chip.on(Message("policy-templates.matches"))
    },
    .text("fields") { row in
      guard row.tenant.hasDrifted, let template = row.tenant.template else { return nil }
      return Message.value(
        .sequence(
          PolicyChange.between(template.edit, row.tenant.policy.edit).map(\.field.name)))
    },
  ]
}
