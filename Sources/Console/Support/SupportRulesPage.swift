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
          ? "Support rules saved." : "No changes made."),
      signedIn, renewed: outcome.renewed, to: ConsolePaths.supportRules(context.scope))
  }

  private func page(
    _ context: ScopeContext, _ answers: SupportRulesForm, status: Status = .ok,
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let session = context.signedIn.session
    let asksForCode = try await refusing { try await identity.support.asksForCode(session) }
    var frame = try await ending.frames.frame(
      "Support rules · Settings", in: context, tab: .settings)
    frame.errors = errors
    frame.crumbs = [Link(text: "Settings", href: ConsolePaths.settings(scope))]
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

  /// Why an administrator with the permission to change the rules can't do so now; nil if they can.
  private var refusal: SupportRefusal? {
    isOffered ? SupportRefusal(lackingCode: asksForCode, context.signedIn.session) : nil
  }

  private var numbers: [SupportNumberField] {
    [
      SupportNumberField(
        id: "code-cap", label: "Incorrect codes before lockout", value: answers.codeCap,
        hint:
          "5 to 100 in a row. From the fifth on, codes are blocked for a while. After this many, they’re locked until an administrator unlocks them."
      ),
      SupportNumberField(
        id: "undo-hours", label: "Undo window for removals (hours)", value: answers.undoHours,
        hint:
          "0 to 720. How long another administrator can undo a removal; 0 means never. Removals for “Stolen device” or “Compromised” can’t be undone."
      ),
      SupportNumberField(
        id: "code-attempt-days", label: "Code attempt log retention (days)",
        value: answers.codeAttemptDays,
        hint: "1 to 400. After that, only daily totals are kept."),
      SupportNumberField(
        id: "actions-per-hour", label: "Actions per hour", value: answers.actionsPerHour,
        hint:
          "1 to 1,000 per agent. An agent who exceeds the limit is blocked until \(Permission.protectUsers.holder) unblocks them."
      ),
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
          "Agents can generate a single-use code for a user who lost their device. Valid for at most one day."
      ),
      SupportToggle(
        id: "recovery-codes", label: "Recovery codes", isOn: answers.recoveryCodes,
        hint: "Users can save a set of codes to use if they lose their device."),
      SupportToggle(
        id: "approval-for-last-factor", label: "Approval for removing a user’s last factor",
        isOn: answers.approvalForLastFactor,
        hint:
          "Where enrollment is mandatory, a second administrator must approve the removal of a user’s last second factor."
      ),
      SupportToggle(
        id: "tokens-remove-factors", label: "Factor removal by service tokens",
        isOn: answers.tokensRemoveFactors,
        hint: "When off, REST API calls and imports can’t remove users’ second factors."),
    ]
  }

  private var facts: [Fact] {
    let proof = answers.proof.split(whereSeparator: \.isNewline).joined(separator: "; ")
    return numbers.map { Fact($0.label, $0.value) }
      + [
        Fact(
          "Approval of bulk removals",
          answers.approvalOverUsers.isEmpty ? "never" : "above \(answers.approvalOverUsers) users"),
        Fact(
          "Approval of a weaker MFA policy",
          answers.policyApprovalOverUsers.isEmpty
            ? "never" : "above \(answers.policyApprovalOverUsers) affected users"),
        Fact(
          "Factor changes per hour and service token",
          answers.tokenChangesPerHour.isEmpty
            ? "no limit" : "\(answers.tokenChangesPerHour) users"),
        Fact("Identity checks", proof.isEmpty ? HTML.escaped("none") : HTML.isolated(proof)),
      ]
      + switches.map { Fact($0.label, $0.isOn ? "on" : "off") }
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
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
      (view.history ?? []).map { HistoryRow($0, view.frame.times, view.frame.catalog) }
    },
  ]
}

struct SupportNumberField: ViewModel {
  let id: String
  let label: String
  let value: String
  let hint: String
  var error: Message?

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
