import HTTP
import Identity
import Templating

/// `S/settings/support`: what a pool asks of those who act for its users.
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
    let answers = SupportRulesForm(signedIn.form)
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await identity.support.change(
        context.scope, to: answers.settings, ActionInput(signedIn.form).request(signedIn))
    } catch {
      let faults = try ActionErrorText.faults(error, signedIn.times, .editSupportRules)
      return try await page(context, answers, status: .unprocessableContent, errors: faults)
    }
    return ending.response(
      Flash(
        text: outcome.value
          ? "The rules of the support are saved." : "These rules are in force already."),
      signedIn, renewed: outcome.renewed, to: ConsolePaths.supportRules(context.scope))
  }

  private func page(
    _ context: ScopeContext, _ answers: SupportRulesForm, status: Status = .ok,
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let session = context.signedIn.session
    let asksForCode = try await refusing { try await identity.support.asksForCode(session) }
    var frame = try await ending.frames.frame("The support · Settings", in: context, tab: .settings)
    frame.errors = errors
    frame.crumbs = [Link(text: "Settings", href: ConsolePaths.settings(scope))]
    var history: [AuditRow]?
    if context.may(.readAudit) {
      var filter = AuditFilter(scope: scope)
      filter.action = "support"
      let asked = filter
      history = try await refusing {
        try await identity.audit.list(asked, limit: Self.historyLength).items
      }
    }
    let model = SupportRulesView(
      frame: FrameView(frame), context: context, answers: answers, asksForCode: asksForCode,
      history: history)
    return .html(view.render(model), status: status)
  }
}

struct SupportRulesView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let answers: SupportRulesForm
  let asksForCode: Bool
  let history: [AuditRow]?

  private var isOffered: Bool { context.may(.editSupportRules) }

  /// Why somebody whose role may change them cannot.
  private var refusal: SupportRefusal? {
    isOffered ? SupportRefusal(lackingCode: asksForCode, context.signedIn.session) : nil
  }

  private var numbers: [SupportNumberField] {
    [
      SupportNumberField(
        id: "code-cap", label: "Wrong codes in a row", value: answers.codeCap,
        hint:
          "5 to 100. From the fifth on codes wait; with this many they are closed until somebody unlocks them."
      ),
      SupportNumberField(
        id: "undo-hours", label: "Undo of a removal, in hours", value: answers.undoHours,
        hint:
          "0 to 720. For so long another administrator can take a removal back; 0 for not at all. Never after “Stolen device” or “Compromised”."
      ),
      SupportNumberField(
        id: "code-attempt-days", label: "CodeAttempts on codes, in days",
        value: answers.codeAttemptDays,
        hint: "1 to 400. After that only counts of each day stay."),
      SupportNumberField(
        id: "actions-per-hour", label: "Actions an hour", value: answers.actionsPerHour,
        hint: "1 to 1000 for each agent. Then an owner has to release them."),
    ].map { number in
      var number = number
      number.error = frame.error(at: number.id)
      return number
    }
  }

  private var switches: [SupportToggle] {
    [
      SupportToggle(
        id: "temporary-codes", label: "Temporary codes", isOn: answers.temporaryCodes,
        hint:
          "Agents may make a code that stands in for a lost device: once, for a day at most."),
      SupportToggle(
        id: "recovery-codes", label: "Recovery codes of users", isOn: answers.recoveryCodes,
        hint: "Users may keep a set of codes for the day on which the device is gone."),
      SupportToggle(
        id: "approval-for-last-factor", label: "Two for a last factor",
        isOn: answers.approvalForLastFactor,
        hint:
          "Where enrollment is mandatory, a second administrator approves that somebody loses the last one."
      ),
      SupportToggle(
        id: "tokens-remove-factors", label: "Factor removal by service tokens",
        isOn: answers.tokensRemoveFactors,
        hint: "Off: calls of the REST API and imports can't remove a user's second factors."),
    ]
  }

  private var facts: [Fact] {
    let proof = answers.proof.split(whereSeparator: \.isNewline).joined(separator: "; ")
    return numbers.map { Fact($0.label, $0.value) }
      + [
        Fact(
          "Approval of many at once",
          answers.approvalOverUsers.isEmpty ? "never" : "over \(answers.approvalOverUsers) users"),
        Fact(
          "Approval of a weaker MFA policy",
          answers.policyApprovalOverUsers.isEmpty
            ? "never" : "above \(answers.policyApprovalOverUsers) affected users"),
        Fact(
          "Factor changes per hour and service token",
          answers.tokenChangesPerHour.isEmpty
            ? "no limit" : "\(answers.tokenChangesPerHour) users"),
        Fact("Identity proof", proof.isEmpty ? HTML.escaped("none") : HTML.isolated(proof)),
      ]
      + switches.map { Fact($0.label, $0.isOn ? "on" : "off") }
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("kind") { $0.context.scope.kind },
    .text("kindInSentence") { $0.context.scope.kindInSentence },
    .text("scopeName") { $0.context.scope.name },
    .text("action") { ConsolePaths.supportRules($0.context.scope) },
    .text("back") { ConsolePaths.settings($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("mayChange") { $0.isOffered && $0.refusal == nil },
    .flag("isForOthers") { !$0.isOffered },
    .optional("refusal") { $0.refusal },
    .optional("codeField") { CodeField($0.asksForCode, $0.frame) },
    .list("numbers") { $0.numbers },
    .list("switches") { $0.switches },
    .text("over") { $0.answers.approvalOverUsers },
    .text("overError") { $0.frame.error(at: "approval-over-users") },
    .text("policyOver") { $0.answers.policyApprovalOverUsers },
    .text("policyOverError") { $0.frame.error(at: "policy-approval-over-users") },
    .text("tokenChanges") { $0.answers.tokenChangesPerHour },
    .text("tokenChangesError") { $0.frame.error(at: "token-changes-per-hour") },
    .text("proof") { $0.answers.proof },
    .text("proofError") { $0.frame.error(at: "identity-proof") },
    .number("mostProofs") { _ in SupportRules.mostProofs },
    .number("longestProof") { _ in SupportRules.longestProof },
    .list("facts") { $0.facts },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { view in
      (view.history ?? []).map { HistoryRow($0, view.frame.times) }
    },
  ]
}

struct SupportNumberField: ViewModel {
  let id: String
  let label: String
  let value: String
  let hint: String
  var error: String?

  static let keys: Keys<Self> = [
    .text("id") { $0.id },
    .text("label") { $0.label },
    .text("value") { $0.value },
    .text("hint") { $0.hint },
    .text("error") { $0.error },
  ]
}

struct SupportToggle: ViewModel {
  let id: String
  let label: String
  let isOn: Bool
  let hint: String

  static let keys: Keys<Self> = [
    .text("id") { $0.id },
    .text("label") { $0.label },
    .flag("isOn") { $0.isOn },
    .text("hint") { $0.hint },
  ]
}
