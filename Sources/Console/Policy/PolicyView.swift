import HTTP
import Identity
import Localization
import OTP
import Templating

struct PolicyView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let policy: Policy
  let answers: PolicyAnswers
  let versions: PolicyVersions
  let prerequisites: [PolicyPrerequisite]
  let snippets: PolicySnippets
  let effective: EffectiveStateView
  let evidence: PolicyEvidence
  let query: EvidenceQuery
  let carriesMail: Bool
  let carriesText: Bool
  let drift: PolicyFileDrift?
  var race: PolicyRace?
  /// The reason that was given on the review page, so that it needn't be given again.
  var note = ""

  private var configuration: MFAConfiguration { policy.configuration }

  /// The window that the form values mean; the current one if they're invalid.
  private var drawn: Window? {
    guard case .change(let request) = answers.read() else { return configuration.accepted }
    guard request.isOn else { return nil }
    return request.intervals.flatMap(Window.init(adjacentIntervals:)) ?? .standard
  }

  private var chart: OffsetChart {
    OffsetChart(
      evidence: evidence, query: query, context: context, current: configuration.accepted,
      drawn: drawn)
  }

  private var outcomes: [WindowOutcome] {
    WindowChoice.all.map {
      WindowOutcome(
        $0, isShown: answers.totp != "off" && $0.value == answers.intervals,
        insteadOf: configuration.accepted, evidence)
    }
  }

  private var effects: [WindowEffectRow] {
    WindowChoice.all.dropFirst().map { choice in
      let window = choice.window
      let isCurrent = configuration.accepted == window
      return WindowEffectRow(
        choice: choice, evidence: evidence, isCurrent: isCurrent, accounts: policy.totpUsers,
        affected: affected(window),
        proposal: configuration.accepted == nil || isCurrent
          ? nil : PolicyPage.proposal(window, in: context))
    }
  }

  private var recommendation: RecommendationView? {
    guard let outcome = evidence.outcome else { return nil }
    let (context, query) = (context, query)
    return RecommendationView(
      outcome: outcome, current: configuration.accepted, cap: evidence.cap,
      goals: Set(SignInGoal.offered + [evidence.poolGoal, evidence.goal])
        .sorted { $0.basisPoints < $1.basisPoints }.map { goal in
          ChartPeriod(
            text: ShareText.percent(basisPoints: goal.basisPoints),
            href: EvidenceQuery(days: query.days, goal: goal == evidence.poolGoal ? nil : goal)
              .choice(in: context) + "#recommendation",
            isCurrent: goal == evidence.goal)
        },
      proposed: { PolicyPage.proposal($0, in: context) },
      affected: { AffectedUsersPage.address($0, days: query.days, in: context) })
  }

  private func affected(_ window: Window) -> String? {
    AffectedUsersPage.address(window, days: query.days, in: context)
  }

  private var offHint: Message {
    let apps = policy.usersOnly(with: .totp)
    return apps > 0
      ? Message("policy.off-hint-with-users", ["count": .number(apps)])
      : Message("policy.off-hint")
  }

  private var patterns: [PatternChoice] {
    let none = PatternChoice(
      value: PolicyAnswers.noPattern, label: Message("policy.pattern-none"),
      hint: Message("policy.pattern-none-hint"), guide: nil,
      isChecked: answers.pattern == PolicyAnswers.noPattern)
    return EnrollmentPattern.allCases.map { pattern in
      PatternChoice(
        value: pattern.rawValue, label: pattern.name, hint: hint(pattern),
        guide: context.scope.guidance(ConsolePaths.guide(pattern.rawValue)),
        isChecked: answers.pattern == pattern.rawValue,
        day: pattern == .mandatory ? PatternDay(self) : nil)
    } + [none]
  }

  private func hint(_ pattern: EnrollmentPattern) -> Message {
    let without = max(policy.users - policy.enrolledUsers, 0)
    guard pattern == .mandatory, without > 0 else { return pattern.hint }
    return Message(
      "policy.pattern-mandatory-hint-with-users",
      ["number": .number(without), "count": .number(policy.users)])
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.policy($0.context.scope) },
    .text("stateTOTP") { ConsolePaths.policyTOTPState($0.context.scope) },
    .text("cancel") { ConsolePaths.overview($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.policy.version },
    .text("holder") { _ in Permission.changePolicy.startingHolder },
    .text("scopeName") { $0.context.scope.name },
    .markup("since") { view in view.policy.changedAt.map(view.frame.times.moment) },
    .optional(\.race),
    .optional(\.drift),
    .text("restore") { ConsolePaths.policyVersions($0.context.scope) },
    .text("note") { $0.note.isEmpty ? nil : $0.note },
    .flag("isUnstated") { $0.configuration.isUnstated },
    .flag("mayChange") { $0.context.may(.changePolicy) },
    .flag("isOn") { $0.answers.totp == "on" },
    .flag("isOff") { $0.answers.totp == "off" },
    .text("onLabel") {
      $0.configuration.totp?.state == .mandatory
        ? Message("policy.on-mandatory") : Message("policy.on")
    },
    .text("onHint") { _ in Message("policy.on-hint") },
    .text("offHint") { $0.offHint },
    .text("totpError") { $0.frame.error(at: "totp") },
    .object("chart") { $0.chart.frame },
    .markup("unconfirmed") { $0.chart.unconfirmed },
    .text("unconfirmedCodes") { view in
      let count = view.evidence.evidence?.unconfirmed ?? 0
      return count > 0 ? Message("policy.not-counted", ["count": .number(count)]) : nil
    },
    .markup("cells") { WindowCells.input($0.answers.intervals, $0.drawn) },
    .markup("drawing") { WindowCells.drawing($0.configuration.accepted) },
    .flag("isDefault") { $0.answers.intervals == PolicyAnswers.byDefault },
    .text("intervalsError") { $0.frame.error(at: "intervals-default") },
    .list("outcomes") { $0.outcomes },
    .flag("isOutcomeOff") { $0.answers.totp == "off" },
    .optional("recommendation") { $0.recommendation },
    .list("effects") { $0.effects },
    .text("evidenceFile") {
      $0.query.address(of: ConsolePaths.policyEvidence($0.context.scope))
    },
    .flag("isMissingEvidence") { $0.evidence.evidence == nil },
    .text("shareBase") { view in
      guard let counts = view.evidence.evidence, counts.isEnough else { return nil }
      return Message("policy.share-base", ["codes": EvidenceText.codes(counts.codes)])
    },
    .text("evidenceBase") { view in
      Message(
        "policy.evidence-odds",
        ["cap": .number(view.evidence.cap), "count": .number(view.policy.totpUsers)])
    },
    .text("yearBase") { _ in
      Message(
        "policy.evidence-year",
        [
          "guesses": .number(GuessingOdds.guessesPerYear),
          "longest": .message(Formatted.duration(seconds: GuessingOdds.longestWait)),
        ])
    },
    .flag("isSMSOn") { $0.answers.sms == "on" },
    .flag("isSMSOff") { $0.answers.sms == "off" },
    .text("smsDelivery") {
      $0.carriesText
        ? Message("policy.sms-is-sent")
        : Message(
          "policy.sms-is-stored", ["reader": .message(Permission.readMessages.holder)])
    },
    .text("smsHint") {
      $0.configuration.smsEnabled && !$0.configuration.isSMSOn
        ? Message("policy.sms-hint") : nil
    },
    .text("smsError") { $0.frame.error(at: "sms") },
    .text("sms") {
      $0.configuration.isSMSOn ? Message("common.on") : Message("common.off")
    },
    .list("patterns") { $0.patterns },
    .object("enforcement") { EnforcementFields($0) },
    .text("patternError") { $0.frame.error(at: "pattern-none") },
    .markup("totp") { $0.configuration.chip },
    .text("intervals") { WindowText.number($0.configuration) },
    .text("guidance") { ConsolePaths.scopeGuidance($0.context.scope) },
    .text("pattern") { $0.policy.edit.patternName ?? Message("policy.no-pattern") },
    .list(\.prerequisites),
    .object(\.versions),
    .object(\.snippets),
    .object(\.effective),
    .text("tokens") {
      $0.context.may(.manageKeys) ? ConsolePaths.newToken($0.context.scope) : nil
    },
  ]
}

struct PatternChoice: ViewModel {
  let value: String
  let label: Message
  let hint: Message
  let guide: String?
  let isChecked: Bool
  var day: PatternDay?

  static let keys: Keys<Self> = [
    .text(\.value),
    .text(\.label),
    .text(\.hint),
    .text(\.guide),
    .flag(\.isChecked),
    .optional(\.day),
  ]
}

struct EnforcementFields: ViewModel {
  let answers: PolicyAnswers
  let carriesMail: Bool
  let isInEffect: Bool
  let modeError: Message?
  let fromError: Message?
  let graceError: Message?

  init(_ view: PolicyView) {
    answers = view.answers
    carriesMail = view.carriesMail
    isInEffect = view.policy.configuration.isTOTPOn && view.policy.pattern == .mandatory
    modeError =
      view.frame.error(at: "enforcement-refuse") ?? view.frame.error(at: "enforcement-off")
    fromError = view.frame.error(at: "enforced-from")
    graceError = view.frame.error(at: "grace")
  }

  private func isChosen(_ mode: Enforcement.Mode) -> Bool { answers.enforcement == mode.rawValue }

  static let keys: Keys<Self> = [
    .text("condition") { $0.isInEffect ? nil : Message("policy.enforcement-condition") },
    .flag("isOff") { !$0.isChosen(.claim) && !$0.isChosen(.refuse) },
    .flag("isClaim") { $0.isChosen(.claim) },
    .flag("isRefuse") { $0.isChosen(.refuse) },
    .text("noMail") { $0.carriesMail ? nil : Message("policy.refusal-needs-email") },
    .flag("isRefusalDisabled") { !$0.carriesMail && !$0.isChosen(.refuse) },
    .text("from") { $0.answers.enforcedFrom },
    .text("grace") { $0.answers.grace },
    .text(\.modeError),
    .text(\.fromError),
    .text(\.graceError),
  ]
}

struct PatternDay: ViewModel {
  let from: String
  let error: Message?

  init(_ view: PolicyView) {
    from = view.answers.from
    error = view.frame.error(at: "from")
  }

  static let keys: Keys<Self> = [
    .text(\.from),
    .text("fromError") { $0.error },
  ]
}

/// Changes that another administrator made while the form was open.
struct PolicyRace: ViewModel {
  let who: Message
  let at: Markup
  let changes: [String]
  let discard: String

  init(
    _ policy: Policy, history: [AuditRow], discard: String, times: Times, catalog: Catalog
  ) {
    who = policy.changedBy.map(Message.verbatim) ?? Message("policy.someone")
    at =
      policy.changedAt.map(times.moment) ?? Markup(escaping: Message("policy.unknown-date"))
    changes = history.map { AuditFormatter(times, catalog).change($0) }
    self.discard = discard
  }

  static let keys: Keys<Self> = [
    .text(\.who),
    .markup(\.at),
    .texts("changes") { $0.changes },
    .text(\.discard),
  ]
}

extension Scope {
  /// The kind of scope, capitalized.
  var kind: Message {
    tenant == nil ? Message("policy.project") : Message("policy.tenant")
  }
}
