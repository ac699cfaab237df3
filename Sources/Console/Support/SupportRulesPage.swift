import HTTP
import Identity
import Localization
import Templating

/// `S/settings/support`: the rules for support agents of a pool.
struct SupportRulesPage: Sendable {
  let identity: Identity
  let ending: SupportRedirect
  let view: Template<SupportRulesView>

  private static let historyLength = 10

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let settings = try await refusing { try await identity.support.settings(context.scope) }
    return try await page(context, SupportRulesForm(settings))
  }

  func change(_ context: ScopeContext) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    var answers = SupportRulesForm(signedIn.form)
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await identity.support.change(
        context.scope, to: answers.settings, expecting: answers.version,
        ActionInput(signedIn.form).request(signedIn))
    } catch {
      if case .changedMeanwhile(let current) = error {
        answers.version = current.version
        return try await page(
          context, answers, status: .conflict, replacing: SupportRulesForm(current))
      }
      let faults = try ActionErrorText.faults(error, signedIn.times, .editSupportRules)
      return try await page(context, answers, status: .unprocessableContent, errors: faults)
    }
    return ending.response(
      Flash(
        text: outcome.value
          ? Message("support.rules-saved") : Message("support.no-changes-made")),
      signedIn, renewed: outcome.renewed, to: ConsolePaths.supportRules(context.scope))
  }

  private func page(
    _ context: ScopeContext, _ answers: SupportRulesForm, status: Status = .ok,
    errors: [FieldError] = [], replacing current: SupportRulesForm? = nil
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let session = context.signedIn.session
    let asksForCode = try await refusing { try await identity.support.asksForCode(session) }
    var frame = try await ending.frames.frame(
      Message("support.rules-title"), in: context)
    frame.errors = errors
    var history: [AuditRow]?
    if context.may(.readAudit) {
      var filter = AuditFilter(scope: scope)
      filter.action = .group(.support)
      let asked = filter
      history = try await refusing {
        try await identity.audit.list(asked, limit: Self.historyLength).items
      }
    }
    let model = SupportRulesView(
      frame: FrameView(frame), context: context, answers: answers, current: current,
      asksForCode: asksForCode, history: history)
    return .html(view.render(model), status: status)
  }
}

struct SupportRulesView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let answers: SupportRulesForm
  /// The rules that someone else saved after the form was opened; nil if no one did.
  let current: SupportRulesForm?
  let asksForCode: Bool
  let history: [AuditRow]?

  private var isOffered: Bool { context.may(.editSupportRules) }

  private var refusal: SupportRefusal? {
    isOffered ? SupportRefusal(lackingCode: asksForCode, context.signedIn) : nil
  }

  private func numbers(_ answers: SupportRulesForm) -> [SupportNumberField] {
    [
      SupportNumberField(
        id: "code-cap", label: Message("support.code-cap"), value: answers.codeCap,
        hint: Message("support.code-cap-hint")),
      SupportNumberField(
        id: "undo-hours", label: Message("support.undo-hours"), value: answers.undoHours,
        hint: Message("support.undo-hours-hint")),
      SupportNumberField(
        id: "code-attempt-days", label: Message("support.code-attempt-days"),
        value: answers.codeAttemptDays,
        hint: Message("support.code-attempt-days-hint")),
      SupportNumberField(
        id: "actions-per-hour", label: Message("support.actions-per-hour"),
        value: answers.actionsPerHour,
        hint: Message(
          "support.actions-per-hour-hint", ["holder": .message(Permission.protectUsers.holder)])),
      SupportNumberField(
        id: "sign-in-goal", label: Message("support.sign-in-goal"), value: answers.signInGoal,
        hint: Message("support.sign-in-goal-hint"), inputMode: "decimal"),
    ].map { number in
      var number = number
      number.error = frame.error(at: number.id)
      return number
    }
  }

  private func switches(_ answers: SupportRulesForm) -> [SupportToggle] {
    [
      SupportToggle(
        id: "temporary-codes", label: Message("support.temporary-codes"),
        isOn: answers.temporaryCodes, hint: Message("support.temporary-codes-hint")),
      SupportToggle(
        id: "recovery-codes", label: Message("support.recovery-codes"),
        isOn: answers.recoveryCodes, hint: Message("support.recovery-codes-hint")),
      SupportToggle(
        id: "approval-for-last-factor", label: Message("support.approval-for-last-factor"),
        isOn: answers.approvalForLastFactor,
        hint: Message("support.approval-for-last-factor-hint")),
      SupportToggle(
        id: "tokens-remove-factors", label: Message("support.tokens-remove-factors"),
        isOn: answers.tokensRemoveFactors,
        hint: Message("support.tokens-remove-factors-hint")),
    ]
  }

  private var callerOptions: [SupportOption] {
    CallerVerification.allCases.map { choice in
      SupportOption(
        value: choice.rawValue, label: choice.label,
        isChosen: choice.rawValue == answers.callerVerification)
    }
  }

  private func facts(_ answers: SupportRulesForm) -> [Fact] {
    let proof = answers.proof.split(whereSeparator: \.isNewline).joined(separator: "; ")
    let none = Markup(escaping: Message("support.none"))
    var facts = numbers(answers).map { Fact($0.label, $0.value) }
    facts += [
      Fact(
        Message("support.approval-of-bulk-removals"),
        Self.limit(answers.approvalOverUsers, without: Message("support.never")) {
          Message("support.above-users", ["count": .number($0)])
        }),
      Fact(
        Message("support.approval-of-weaker-policy"),
        Self.limit(answers.policyApprovalOverUsers, without: Message("support.never")) {
          Message("support.above-affected-users", ["count": .number($0)])
        }),
      Fact(
        Message("support.token-changes-per-hour"),
        Self.limit(answers.tokenChangesPerHour, without: Message("support.no-limit")) {
          Message("support.users", ["count": .number($0)])
        }),
      Fact(Message("support.identity-checks"), proof.isEmpty ? none : HTML.isolated(proof)),
      Fact(
        Message("support.caller-verification"),
        (CallerVerification(rawValue: answers.callerVerification) ?? .off).label),
    ]
    return facts
      + switches(answers).map {
        Fact($0.label, $0.isOn ? Message("common.on") : Message("common.off"))
      }
  }

  /// Returns a limit in words; text that isn't a number stays as entered.
  private static func limit(
    _ entered: String, without none: Message, _ words: (Int) -> Message
  ) -> Message {
    entered.isEmpty ? none : Int(entered).map(words) ?? .verbatim(entered)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("scopeName") { $0.context.scope.name },
    .text("action") { ConsolePaths.supportRules($0.context.scope) },
    .text("back") { ConsolePaths.overview($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("mayChange") { $0.isOffered && $0.refusal == nil },
    .text("holder") { _ in Permission.editSupportRules.startingHolder },
    .text("protector") { _ in Permission.protectUsers.holder },
    .flag("isForOthers") { !$0.isOffered },
    .optional("refusal") { $0.refusal },
    .optional("codeField") {
      CodeField(
        $0.asksForCode, $0.frame, action: ConsolePaths.supportRules($0.context.scope))
    },
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { view in
      view.current.map { current in
        SettingsConflict(
          Message("support.rules-changed-meanwhile"), current: view.facts(current),
          entered: view.facts(view.answers),
          discard: ConsolePaths.supportRules(view.context.scope))
      }
    },
    .list("numbers") { $0.numbers($0.answers) },
    .list("switches") { $0.switches($0.answers) },
    .text("over") { $0.answers.approvalOverUsers },
    .text("overError") { $0.frame.error(at: "approval-over-users") },
    .text("policyOver") { $0.answers.policyApprovalOverUsers },
    .text("policyOverError") { $0.frame.error(at: "policy-approval-over-users") },
    .text("tokenChanges") { $0.answers.tokenChangesPerHour },
    .text("tokenChangesError") { $0.frame.error(at: "token-changes-per-hour") },
    .text("proof") { $0.answers.proof },
    .text("proofError") { $0.frame.error(at: "identity-proof") },
    .list("callerOptions") { $0.callerOptions },
    .text("callerError") { $0.frame.error(at: "caller-verification") },
    .number("mostProofs") { _ in SupportRules.mostProofs },
    .number("longestProof") { _ in SupportRules.longestProof },
    .list("facts") { $0.facts($0.answers) },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { view in
      (view.history ?? []).map { HistoryRow($0, view.frame.times, view.frame.catalog) }
    },
  ]
}

extension CallerVerification {
  var label: Message {
    switch self {
    case .off: Message("support.caller-verification-off")
    case .offered: Message("support.caller-verification-offered")
    case .required: Message("support.caller-verification-required")
    }
  }
}

struct SupportNumberField: ViewModel {
  let id: String
  let label: Message
  let value: String
  let hint: Message
  var inputMode = "numeric"
  var error: Message?

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.label),
    .text(\.value),
    .text(\.hint),
    .text(\.inputMode),
    .text(\.error),
  ]
}

struct SupportToggle: ViewModel {
  let id: String
  let label: Message
  let isOn: Bool
  let hint: Message

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.label),
    .flag(\.isOn),
    .text(\.hint),
  ]
}
