import HTTP
import Identity
import Localization
import Templating

/// `S/settings/support`: the rules for support agents of a pool.
struct SupportRulesPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SupportRulesView>

  private static let historyLength = 10

  func show(_ context: PoolContext) async throws -> Response {
    let settings = try await identity.support.settings(context.pool)
    let form = SupportRulesForm(settings)
    return try await page(context, form, over: form)
  }

  func change(_ context: PoolContext) async throws -> Response {
    let signedIn = context.signedIn
    var answers = SupportRulesForm(signedIn.form)
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await identity.support.change(
        context.pool, to: answers.settings, expecting: answers.version,
        by: .console(ActionInput(signedIn.form).request(signedIn)))
    } catch SupportRulesError.changedMeanwhile(let current) {
      answers.version = current.version
      return try await page(
        context, answers, over: SupportRulesForm(current), status: .conflict, isConflict: true)
    } catch let denial as ActionDenial {
      let faults = try ActionErrorText.settingsFaults(denial, signedIn.times, .editSupportRules)
      let stored = try await identity.support.settings(context.pool)
      return try await page(
        context, answers, over: SupportRulesForm(stored), status: .unprocessableContent,
        errors: faults)
    }
    return frames.leave(
      Flash(
        text: outcome.value
          ? Message("Support rules saved.") : Message("No changes made.")),
      signedIn, renewed: outcome.renewed, to: ConsolePaths.supportRules(context.pool))
  }

  private func page(
    _ context: PoolContext, _ answers: SupportRulesForm, over stored: SupportRulesForm,
    status: Status = .ok, errors: [FieldError] = [], isConflict: Bool = false
  ) async throws -> Response {
    let pool = context.pool
    let session = context.signedIn.session
    let asksForCode = try await identity.support.asksForCode(session)
    let frame = try await frames.frame(
      Message("Support rules · Settings"), in: context, errors: errors)
    var history: [AuditRow]?
    if context.may(.readAudit) {
      var filter = AuditFilter(pool: pool)
      filter.action = .any(AuditGroup.support.actions)
      let asked = filter
      history = try await identity.audit.list(asked, limit: Self.historyLength).items
    }
    let model = SupportRulesView(
      frame: FrameView(frame), context: context, answers: answers, stored: stored,
      isConflict: isConflict, asksForCode: asksForCode, history: history)
    return .html(view.render(model), status: status)
  }
}

struct SupportRulesView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let answers: SupportRulesForm
  let stored: SupportRulesForm
  /// Whether someone else saved what's stored after the form was opened.
  let isConflict: Bool
  let asksForCode: Bool
  let history: [AuditRow]?

  private var isOffered: Bool { context.may(.editSupportRules) }

  private var sections: [SettingsSection] { SupportRulesSections.all(answers, over: stored) }

  private var conflict: SettingsConflict? {
    guard isConflict else { return nil }
    return SettingsConflict(
      Message("These support rules changed while you were editing."),
      current: SupportRulesSections.all(stored, over: stored).flatMap(\.facts),
      entered: sections.flatMap(\.facts), discard: ConsolePaths.supportRules(context.pool))
  }

  private var refusal: Notice? {
    isOffered ? Notice(lackingCode: asksForCode, context.signedIn) : nil
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.context.pool.name },
    .text("action") { ConsolePaths.supportRules($0.context.pool) },
    .text("back") { ConsolePaths.overview($0.context.pool) },
    .flag("mayChange") { $0.isOffered && $0.refusal == nil },
    .text("roles") { _ in Message.value(Permission.editSupportRules.roleNames) },
    .flag("isForOthers") { !$0.isOffered },
    .optional("refusal") { $0.refusal },
    .optional("codeField") {
      CodeField(
        $0.asksForCode, $0.frame, action: ConsolePaths.supportRules($0.context.pool))
    },
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { $0.conflict },
    .list("sections") { view in view.sections.map { $0.shown(view.frame) } },
    .flag("showsHistory") { $0.history != nil },
    .list("history") { $0.frame.history($0.history) },
  ]
}

extension CallerVerification {
  var label: Message {
    switch self {
    case .off: Message("Off")
    case .offered: Message("Offer a code by email")
    case .required: Message("Require a code by email")
    }
  }
}
