import HTTP
import Identity
import Localization
import MailText
import Templating
import Text

/// `/projects/{p}/policy-templates/{t}`: chooses tenants for a template, and previews and applies it.
///
/// The chosen tenants are in the query, so the preview has a separate address.
struct PolicyTemplatePage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<PolicyTemplateView>

  func show(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    let query = context.signedIn.query
    let chosen = query.all("tenant").compactMap { $0.text(atMost: 128) }
    // The buttons that turn the list's pages are in the same form as the one for the preview.
    let isPreview = query.text("step") == "preview" && query.text("after") == nil
    return try await page(
      context, try await template(context, id), chosen.map { ID($0) }, isPreview: isPreview,
      faults: chosen.isEmpty && isPreview ? [try Self.fault(.wrongNumberOfTenants)] : [])
  }

  func apply(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    let template = try await template(context, id)
    let tenants = signedIn.form.all("tenant").compactMap { ChosenTenant($0.text(atMost: 160)) }
    let project = context.scope.project
    let typed = signedIn.form.trimmed("confirmation")
    let changes = try await preview(context, template, tenants.map(\.id))
    guard Self.missing(tenants.map(\.id), in: changes).isEmpty else {
      return try await page(context, template, tenants.map(\.id), isPreview: true, typed: typed)
    }
    if changes.contains(where: \.switchesOff), !context.scope.isNamed(typed) {
      let action = Self.action(changes)
      let faults = [
        FieldError(field: "confirmation", text: Message("policy.name-differs"))
      ]
      return try await page(
        context, template, tenants.map(\.id), isPreview: true, typed: typed,
        faults: faults + (try await actions.unmet(action, signedIn)))
    }
    let faults: [FieldError]
    do {
      let outcome = try await identity.policyTemplates.apply(
        template.kind, to: tenants.map { ($0.id, $0.version) }, of: project,
        actions.request(signedIn))
      return actions.leave(
        Self.result(outcome.value), signedIn, after: outcome,
        to: ConsolePaths.policyTemplates(project.text))
    } catch {
      switch error {
      case .failed(let reason): faults = [try Self.fault(reason)]
      case .refused(let refusal):
        faults = try ActionForms.faults(refusal, .weakenPolicy, signedIn)
      }
      return try await page(
        context, template, tenants.map(\.id), isPreview: true, typed: typed, faults: faults)
    }
  }

  private static func fault(_ error: PolicyTemplateError) throws(Refusal) -> FieldError {
    let text: Message
    switch error {
    case .changedMeanwhile(let name):
      text = Message("policy-templates.changed-meanwhile", ["tenant": .name(name)])
    case .refusalNeedsEmail(let name):
      text = Message("policy-templates.refusal-needs-email", ["tenant": .name(name)])
    case .approvalPending(let name):
      text = Message("policy-templates.approval-pending", ["tenant": .name(name)])
    case .tenantNotFound(let tenant): return notFound(tenant)
    case .wrongNumberOfTenants:
      text = Message(
        "policy-templates.select-tenants", ["number": .number(PolicyTemplates.mostTenants)])
    case .notFound: throw .notFound
    case .invalidName, .nameTaken, .unavailable: throw .unavailable(error)
    }
    return FieldError(field: "tenants", text: text)
  }

  private static func notFound(_ tenant: ID<Tenant>) -> FieldError {
    FieldError(
      field: "tenants",
      text: Message("policy-templates.no-such-tenant", ["tenant": .name(tenant.text)]))
  }

  /// Returns the previewed tenants that don't exist.
  private static func missing(
    _ chosen: [ID<Tenant>], in preview: [TemplateChange]
  ) -> [ID<Tenant>] {
    let found = Set(preview.compactMap(\.policy.scope.tenant))
    return chosen.prefix(PolicyTemplates.mostTenants).filter { !found.contains($0) }
  }

  private static func result(_ outcome: TemplateOutcome) -> Message {
    let changed = Message(
      "policy-templates.applied", ["count": .number(outcome.changed)])
    guard outcome.waiting > 0 else { return changed }
    return Message(
      "policy-templates.applied-and-waiting",
      ["changed": .message(changed), "count": .number(outcome.waiting)])
  }

  private func template(
    _ context: ProjectContext, _ id: String
  ) async throws(Refusal) -> PolicyTemplate {
    let all = try await refusing {
      try await identity.policyTemplates.list(context.scope.project)
    }
    guard let template = all.first(where: { $0.kind.text == id }) else { throw .notFound }
    return template
  }

  private static func action(_ changes: [TemplateChange]) -> ConsoleAction {
    changes.contains { !$0.weakenings.isEmpty } ? .weakenPolicy : .changePolicy
  }

  private func preview(
    _ context: ProjectContext, _ template: PolicyTemplate, _ chosen: [ID<Tenant>]
  ) async throws(Refusal) -> [TemplateChange] {
    do {
      return try await identity.policyTemplates.preview(
        template.kind, for: Array(chosen.prefix(PolicyTemplates.mostTenants)),
        of: context.scope.project)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
  }

  /// Shows the tenants to choose from, or the preview of those that were chosen and exist.
  private func page(
    _ context: ProjectContext, _ template: PolicyTemplate, _ selected: [ID<Tenant>],
    isPreview: Bool, typed: String = "", faults: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let project = context.scope.project
    let after = context.signedIn.query.text("after").flatMap { $0.isEmpty ? nil : $0 }
    let preview = try await isPreview ? preview(context, template, selected) : []
    let missing = isPreview ? Self.missing(selected, in: preview) : []
    let chosen = selected.filter { !missing.contains($0) }
    let faults = faults.isEmpty ? missing.map(Self.notFound) : faults
    let isChoosing = chosen.isEmpty || !isPreview
    let tenants =
      isChoosing
      ? try await refusing {
        try await identity.policyTemplates.tenants(of: project, after: after)
      } : nil
    let path = ConsolePaths.policyTemplate(project.text, template.kind.text)
    if let tenants,
      let first = context.signedIn.firstPage(of: path, insteadOf: tenants, without: ["step"])
    {
      return first
    }
    var frame = try await actions.frames.frame(template.label, in: context)
    frame.errors = faults
    frame.crumbs = PolicyTemplatesPage.crumbs(to: context.scope)
    let framed = FrameView(frame)
    let model = PolicyTemplateView(
      frame: framed, context: context, template: template, preview: preview, chosen: chosen,
      tenants: tenants, after: after, typed: typed,
      fields: try await actions.fields(Self.action(preview), context.signedIn, framed),
      carriesMail: identity.messages.carriesMail, carriesText: identity.messages.carriesText,
      now: identity.clock.now())
    return .html(view.render(model), status: faults.isEmpty ? .ok : .unprocessableContent)
  }
}

/// A tenant in the preview, with the version of its policy: `emea-1:4`.
private struct ChosenTenant {
  let id: ID<Tenant>
  let version: Int

  init?(_ text: String?) {
    guard let text, let colon = text.lastIndex(of: ":"),
      let version = Int(text[text.index(after: colon)...])
    else { return nil }
    (id, self.version) = (ID(String(text[..<colon])), version)
  }
}

struct PolicyTemplateView: ViewModel {
  let frame: FrameView
  let context: ProjectContext
  let template: PolicyTemplate
  let preview: [TemplateChange]
  let chosen: [ID<Tenant>]
  /// The tenants to choose from; nil in the preview.
  let tenants: Page<TemplatedTenant>?
  let after: String?
  /// The project's name as typed, if the template turns off TOTP.
  let typed: String
  let fields: ActionFields
  /// Whether this server sends email.
  let carriesMail: Bool
  /// Whether this server sends text messages.
  let carriesText: Bool
  let now: Instant

  private var address: String {
    ConsolePaths.policyTemplate(context.scope.project.text, template.kind.text)
  }

  /// The address at which other tenants can be chosen as well.
  private var choice: String {
    chosen.reduce(into: Form()) { $0.add("tenant", $1.text) }.query(of: address)
  }

  /// The chosen tenants that are on other pages of the list.
  private var chosenElsewhere: [ID<Tenant>] {
    let shown = Set((tenants?.items ?? []).map { Array($0.policy.scope.objectID.utf8) })
    return chosen.filter { !shown.contains(Array($0.text.utf8)) }
  }

  private var switchesOff: Bool { preview.contains(where: \.switchesOff) }

  private var changing: [TemplateChange] { preview.filter { !$0.changes.isEmpty } }

  /// How many policies become weaker, and for how many users.
  private var weakening: Message {
    let weaker = changing.filter { !$0.weakenings.isEmpty }
    let count = Message.Value.number(weaker.count)
    let affected = weaker.reduce(0) { $0 + $1.affectedUsers }
    if weaker.isEmpty { return Message("policy-templates.none-weaker") }
    if affected == 0 {
      return Message("policy-templates.n-weaker-for-no-user", ["count": count])
    }
    let users = Message("policy-templates.n-users-affected", ["count": .number(affected)])
    return Message("policy-templates.n-weaker", ["count": count, "users": .message(users)])
  }

  private var hits: [Message] {
    let waiting = changing.count { $0.needsApproval }
    let losing = changing.reduce(0) { $0 + $1.losingSecondFactor }
    return [
      Message("policy-templates.n-change", ["count": .number(changing.count)]),
      weakening,
      losing > 0 ? self.losing(losing) : nil,
      waiting > 0 ? Message("policy-templates.n-need-approval", ["count": .number(waiting)]) : nil,
    ].compactMap(\.self)
  }

  /// What happens to users who lose their second factor.
  private func losing(_ users: Int) -> Message {
    let count = Message.Value.number(users)
    guard let enforcement = template.edit.effectiveEnforcement,
      let day = template.edit.firstDueDay(at: now)
    else { return Message("policy.users-lose-factor", ["count": count]) }
    return switch enforcement.applied(carriesMail: carriesMail).mode {
    case .claim:
      Message("policy-templates.users-get-claim", ["count": count, "day": Times.value(day)])
    case .refuse:
      Message("policy-templates.users-are-refused", ["count": count, "day": Times.value(day)])
    }
  }

  /// Warnings about the template's values, each of them once.
  private var warnings: [PolicyWarning] {
    changing.reduce(into: []) { warnings, change in
      let all = PolicyWarning.all(
        from: change.policy.edit, to: template.edit, at: now, carriesText: carriesText)
      warnings += all.filter { !warnings.contains($0) }
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("label") { $0.template.label },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("address") { $0.address },
    .text("choice") { $0.choice },
    .optional("typed") { view in
      view.switchesOff
        ? TypedName(
          view.context.scope, view.typed, view.frame.error(at: "confirmation")) : nil
    },
    .text("buttonStyle") { $0.switchesOff ? "destroy" : "primary" },
    .text("action") {
      ConsolePaths.policyTemplateApplication(
        $0.context.scope.project.text, $0.template.kind.text)
    },
    .list("facts") { $0.template.facts },
    .flag("isChoosing") { $0.tenants != nil },
    .flag("isPreview") { $0.tenants == nil },
    .flag("hasChoices") { !($0.tenants?.items.isEmpty ?? true) },
    .list("choices") { view in
      (view.tenants?.items ?? []).enumerated().map { index, tenant in
        TenantChoice(
          index: index, tenant: tenant, template: view.template,
          isChosen: view.chosen.contains { $0.text == tenant.policy.scope.objectID })
      }
    },
    .list("elsewhere") { view in
      view.chosenElsewhere.map { HiddenField(name: "tenant", value: $0.text) }
    },
    .text("chosenElsewhere") { view in
      view.chosenElsewhere.isEmpty
        ? nil
        : Message(
          "policy-templates.chosen-elsewhere", ["count": .number(view.chosenElsewhere.count)])
    },
    .flag("isLater") { $0.after != nil },
    .text("next") { $0.tenants?.next },
    .text("tenantsError") { $0.frame.error(at: "tenants") },
    .texts("hits") { $0.hits },
    .texts("warnings") { $0.warnings.map(\.message) },
    .list("rows") { view in
      view.preview.map { TemplateChangeRow(change: $0, times: view.frame.times) }
    },
    .object("authorization") { $0.fields },
  ]
}

/// A tenant that a template can be applied to.
struct TenantChoice: ViewModel {
  let index: Int
  let tenant: TemplatedTenant
  let template: PolicyTemplate
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .flag(\.isChosen),
    // The first ID is that of the errors, which the error summary links to.
    .text("field") { $0.index == 0 ? "tenants" : "tenant-\($0.tenant.policy.scope.objectID)" },
    .text("id") { $0.tenant.policy.scope.objectID },
    .text("name") { $0.tenant.policy.scope.name },
    .text("hint") { choice in
      let fields = PolicyChange.between(choice.tenant.policy.edit, choice.template.edit)
      return fields.isEmpty
        ? Message("policy-templates.matches") : Message.value(.sequence(fields.map(\.field.name)))
    },
  ]
}

/// What a template changes in a tenant.
struct TemplateChangeRow: ViewModel {
  let change: TemplateChange
  let times: Times

  static let keys: Keys<Self> = [
    .text("name") { $0.change.policy.scope.name },
    .text("tenant") { "\($0.change.policy.scope.objectID):\($0.change.policy.version)" },
    .flag("isUnchanged") { $0.change.changes.isEmpty },
    .list("changes") { $0.change.changes.map(ChangeRow.init) },
    .text("users") { Message.value(.number($0.change.policy.users)) },
    .flag("isWeaker") { !$0.change.weakenings.isEmpty },
    .flag("needsApproval") { $0.change.needsApproval },
    .text("outdates") { row in
      row.change.outdatesScheduledAt.map {
        Message("policy-templates.outdates-scheduled", ["time": row.times.value($0)])
      }
    },
  ]
}
