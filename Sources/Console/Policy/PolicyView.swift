import Identity
import Localization
import MailText
import OTP
import Templating

struct PolicyView: ViewModel {
  let frame: FrameView
  let context: PoolContext
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
  /// The change that's on its way to the server of a connected pool, or whose outcome is unknown.
  var change: Notice?

  private var isHosted: Bool { context.pool.kind == .hosted }

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

  private var intervals: IntervalsControl {
    IntervalsControl(
      selected: answers.intervals, cap: evidence.cap, error: frame.error(at: "intervals-default"),
      stored: PolicyAnswers(policy.edit).intervals)
  }

  /// The intervals of a connected pool's form, which aren't told apart from the default if they're 0.
  private var intervalOptions: [FieldOption] {
    let all = WindowChoice.all.map { ($0.value, $0.label) }
    let unsaid = [(PolicyAnswers.unsaid, Message("0 or default"))]
    let isUnsaid = configuration.totp?.intervals == .unsaid
    return ((isUnsaid ? unsaid : []) + all).map { value, label in
      FieldOption(
        option: Field.Option(value: value, label: label), id: value,
        isChosen: value == answers.intervals)
    }
  }

  /// The evidence if there's enough of it to compare windows.
  private var counts: WindowEvidence? {
    evidence.evidence.flatMap { $0.isEnough ? $0 : nil }
  }

  /// The heading of the evidence for each window.
  private var questions: [WindowQuestion] {
    guard let counts else { return [] }
    return WindowChoice.all.map {
      WindowQuestion(
        choice: $0, isShown: answers.totp != "off" && $0.value == answers.intervals,
        text: EvidenceText.question($0.window, counts))
    }
  }

  private var effects: [WindowEffectRow] {
    WindowChoice.all.dropFirst().map { choice in
      let window = choice.window
      let isCurrent = configuration.accepted == window
      return WindowEffectRow(
        choice: choice, evidence: evidence, isCurrent: isCurrent, accounts: policy.totpUsers,
        affected: AffectedUsersPage.address(window, days: query.days, in: context),
        proposal: configuration.accepted == nil || isCurrent
          ? nil : PolicyPages.proposal(window, in: context))
    }
  }

  private var recommendation: RecommendationView? {
    guard let outcome = evidence.outcome else { return nil }
    let (context, query) = (context, query)
    return RecommendationView(
      outcome: outcome, current: configuration.accepted, cap: evidence.cap,
      goals: Set(SignInGoal.offered + [evidence.poolGoal, evidence.goal])
        .sorted { $0.basisPoints < $1.basisPoints }.map { goal in
          Link(
            text: ShareText.percent(basisPoints: goal.basisPoints),
            href: EvidenceQuery(days: query.days, goal: goal == evidence.poolGoal ? nil : goal)
              .choice(in: context) + "#recommendation",
            isCurrent: goal == evidence.goal)
        },
      proposed: { PolicyPages.proposal($0, in: context) },
      affected: { AffectedUsersPage.address($0, days: query.days, in: context) })
  }

  private var offHint: Message {
    let apps = policy.usersOnly(with: .totp)
    return apps > 0
      ? Message(
        one: """
          Users can’t enroll an authenticator app, and {count} enrolled user signs in without a \
          second factor.
          """,
        other: """
          Users can’t enroll an authenticator app, and {count} enrolled users sign in without a \
          second factor.
          """, ["count": .number(apps)])
      : Message("Users can’t enroll an authenticator app and aren’t asked for its codes.")
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.policy($0.context.pool) },
    .text("stateTOTP") { ConsolePaths.policyTOTPState($0.context.pool) },
    .text("cancel") { ConsolePaths.overview($0.context.pool) },
    .number("version") { $0.policy.version },
    .text("readOnly") {
      $0.context.offers(.policyChanges)
        ? Message(
          "You have read-only access. Changing the policy requires the {roles} role.",
          ["roles": Permission.changePolicy.roleNames]) : Capability.policyChanges.refusal
    },
    .flag("hasEvidence") { $0.context.offers(.secrets) },
    .text("poolName") { $0.context.pool.name },
    .markup("since") { view in view.policy.changedAt.map(view.frame.times.moment) },
    .optional(\.race),
    .optional(\.drift),
    .text("restore") {
      $0.context.may(.changePolicy) && $0.isHosted
        ? ConsolePaths.policyVersions($0.context.pool) : nil
    },
    .optional(\.change),
    .flag("isHosted") { $0.isHosted },
    .list("intervalOptions") { $0.intervalOptions },
    .text("storedIntervals") { PolicyAnswers($0.policy.edit).intervals },
    .text("intervalsError") { $0.frame.error(at: "intervals-\(WindowChoice.byDefault)") },
    .text("textMessages") { ChangeTextMessages.path($0.context.pool) },
    .text("sms") { PolicyChange.value(.sms, $0.policy.edit).message },
    .text("sentence") { PolicySentence.text($0.policy.edit) },
    .text("note") { $0.note.isEmpty ? nil : $0.note },
    .flag("isUnstated") { $0.configuration.isUnstated && $0.isHosted },
    .flag("mayChange") { $0.context.may(.changePolicy) },
    .flag("isOn") { $0.answers.totp == "on" },
    .flag("isOff") { $0.answers.totp == "off" },
    .text("storedTOTP") { PolicyAnswers($0.policy.edit).totp },
    .text("storedSMS") { PolicyAnswers($0.policy.edit).sms },
    .object("unsaved") { UnsavedChanges($0.answers, over: $0.policy.edit) },
    .text("onLabel") {
      $0.configuration.totp?.state == .mandatory
        ? Message("On (mandatory)") : Message("On")
    },
    .text("offHint") { $0.offHint },
    .text("totpError") { $0.frame.error(at: "totp") },
    .object("chart") { $0.chart.frame },
    .markup("unconfirmed") { $0.chart.unconfirmed },
    .text("unconfirmedCodes") { view in
      let count = view.evidence.evidence?.unconfirmed ?? 0
      return count > 0
        ? Message(
          one: "Not counted: {count} near miss that may be a guess",
          other: "Not counted: {count} near misses that may be guesses",
          ["count": .number(count)]) : nil
    },
    .object("intervalsControl") { $0.intervals },
    .markup("cells") { view in
      view.context.may(.changePolicy)
        ? WindowCells.labels(view.drawn) : WindowCells.drawing(view.configuration.accepted)
    },
    .list("questions") { $0.questions },
    .flag("isQuestionOff") { $0.answers.totp == "off" },
    .optional("recommendation") { $0.recommendation },
    .list("effects") { $0.effects },
    .text("evidenceFile") {
      $0.query.address(of: ConsolePaths.policyEvidence($0.context.pool))
    },
    .flag("isMissingEvidence") { $0.evidence.evidence == nil },
    .flag("isEnough") { $0.counts != nil },
    .text("shareBase") { view in
      guard let counts = view.evidence.evidence, counts.isEnough else { return nil }
      return Message(
        """
        Share: correct codes outside the window, of all correct codes ({codes}), with its 95% \
        confidence interval (Wilson).
        """, ["codes": .number(counts.codes)])
    },
    .text("allAccounts") {
      Message(
        one: "Expected hits, {count} account", other: "Expected hits, all {count} accounts",
        ["count": .number($0.policy.totpUsers)])
    },
    .text("yearBase") { _ in
      Message(
        """
        Within a year: the chance of guessing a code for one account that’s unlocked whenever \
        it’s locked. Temporary blocks of up to {longest} limit an attacker to {guesses} guesses.
        """,
        [
          "guesses": .number(GuessingOdds.guessesPerYear),
          "longest": .message(Formatted.duration(seconds: GuessingOdds.longestWait)),
        ])
    },
    .flag("isSMSOn") { $0.answers.sms == "on" },
    .flag("isSMSOff") { $0.answers.sms == "off" },
    .text("smsDelivery") {
      $0.carriesText
        ? Message("The server sends text messages, up to the daily limits of its configuration.")
        : Message(
          """
          The server has no SMS gateway: codes are stored in Messages. Opening them requires the \
          {roles} role.
          """, ["roles": Permission.readMessages.roleNames])
    },
    .text("smsHint") {
      $0.configuration.smsEnabled && !$0.configuration.isSMSOn
        ? Message("The configuration lists PHONE_SMS, but its state isn’t enabled.") : nil
    },
    .text("smsError") { $0.frame.error(at: "sms") },
    .object("patternControl") { PatternControl(view: $0) },
    .object("enforcementControl") { EnforcementControl(view: $0) },
    .list(\.prerequisites),
    .object(\.versions),
    .object(\.snippets),
    .object(\.effective),
    .text("tokens") {
      $0.context.may(.manageKeys) ? CreateServiceToken.path($0.context.pool) : nil
    },
  ]
}

/// The heading of the evidence while a window is selected.
struct WindowQuestion: ViewModel {
  let choice: WindowChoice
  let isShown: Bool
  let text: Message

  static let keys: Keys<Self> = [
    .text("choice") { $0.choice.name.description },
    .flag(\.isShown),
    .text(\.text),
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
    who = policy.changedBy.map(Message.verbatim) ?? Message("Someone")
    at =
      policy.changedAt.map(times.moment) ?? Markup(escaping: Message("an unknown date"))
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

extension Pool {
  /// What it is, capitalized.
  var noun: Message {
    tenant == nil ? Message("Project") : Message("Tenant")
  }
}
