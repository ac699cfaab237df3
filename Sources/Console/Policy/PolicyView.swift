import HTTP
import Identity
import Localization
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

  private var patterns: [PatternChoice] {
    let none = PatternChoice(
      value: PolicyAnswers.noPattern, label: Message("None"),
      hint: Message("No pattern is recorded, so your application decides."), guide: nil,
      isChecked: answers.pattern == PolicyAnswers.noPattern)
    return EnrollmentPattern.allCases.map { pattern in
      PatternChoice(
        value: pattern.rawValue, label: pattern.name, hint: hint(pattern),
        guide: context.pool.guidance(ConsolePaths.guide(pattern.rawValue)),
        isChecked: answers.pattern == pattern.rawValue,
        day: pattern == .mandatory ? PatternDay(self) : nil)
    } + [none]
  }

  private func hint(_ pattern: EnrollmentPattern) -> Message {
    let without = max(policy.users - policy.enrolledUsers, 0)
    guard pattern == .mandatory, without > 0 else { return pattern.hint }
    return Message(
      one: """
        Users must enroll before they can use the application. {number} of {count} user has no \
        factor yet.
        """,
      other: """
        Users must enroll before they can use the application. {number} of {count} users have no \
        factor yet.
        """,
      ["number": .number(without), "count": .number(policy.users)])
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.policy($0.context.pool) },
    .text("stateTOTP") { ConsolePaths.policyTOTPState($0.context.pool) },
    .text("cancel") { ConsolePaths.overview($0.context.pool) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.policy.version },
    .text("roles") { _ in Message.value(Permission.changePolicy.roleNames) },
    .text("poolName") { $0.context.pool.name },
    .markup("since") { view in view.policy.changedAt.map(view.frame.times.moment) },
    .optional(\.race),
    .optional(\.drift),
    .text("restore") { ConsolePaths.policyVersions($0.context.pool) },
    .text("note") { $0.note.isEmpty ? nil : $0.note },
    .flag("isUnstated") { $0.configuration.isUnstated },
    .flag("mayChange") { $0.context.may(.changePolicy) },
    .flag("isOn") { $0.answers.totp == "on" },
    .flag("isOff") { $0.answers.totp == "off" },
    .text("onLabel") {
      $0.configuration.totp?.state == .mandatory
        ? Message("On (mandatory)") : Message("On")
    },
    .text("onHint") { _ in
      Message("Users can enroll. Enrolled users are asked for a code at sign-in.")
    },
    .text("offHint") { $0.offHint },
    .text("totpError") { $0.frame.error(at: "totp") },
    .object("chart") { $0.chart.frame },
    .markup("unconfirmed") { $0.chart.unconfirmed },
    .text("unconfirmedCodes") { view in
      let count = view.evidence.evidence?.unconfirmed ?? 0
      return count > 0
        ? Message(
          one: """
            {count} unconfirmed near miss isn’t counted: the user didn’t sign in soon after, so it \
            may be a guess.
            """,
          other: """
            {count} unconfirmed near misses aren’t counted: the users didn’t sign in soon after, so \
            they may be guesses.
            """, ["count": .number(count)]) : nil
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
      $0.query.address(of: ConsolePaths.policyEvidence($0.context.pool))
    },
    .flag("isMissingEvidence") { $0.evidence.evidence == nil },
    .text("shareBase") { view in
      guard let counts = view.evidence.evidence, counts.isEnough else { return nil }
      return Message(
        """
        Share: correct codes outside the window, of all correct codes ({codes}), with its 95% \
        confidence interval (Wilson).
        """, ["codes": .number(counts.codes)])
    },
    .text("evidenceBase") { view in
      Message(
        one: """
          Guess succeeds: the chance of guessing a code before {cap} incorrect codes in a row \
          lock the account. All accounts: expected number of successful guesses if each of \
          {count} enrolled account is tried until it’s locked.
          """,
        other: """
          Guess succeeds: the chance of guessing a code before {cap} incorrect codes in a row \
          lock the account. All accounts: expected number of successful guesses if each of \
          {count} enrolled accounts is tried until it’s locked.
          """,
        ["cap": .number(view.evidence.cap), "count": .number(view.policy.totpUsers)])
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
    .text("sms") {
      $0.configuration.isSMSOn ? Message("on") : Message("off")
    },
    .list("patterns") { $0.patterns },
    .object("enforcement") { EnforcementFields($0) },
    .text("patternError") { $0.frame.error(at: "pattern-none") },
    .markup("totp") { $0.configuration.chip },
    .text("intervals") { WindowText.number($0.configuration) },
    .text("guidance") { ConsolePaths.poolGuidance($0.context.pool) },
    .text("pattern") { $0.policy.edit.patternName ?? Message("none") },
    .list(\.prerequisites),
    .object(\.versions),
    .object(\.snippets),
    .object(\.effective),
    .text("tokens") {
      $0.context.may(.manageKeys) ? ConsolePaths.newToken($0.context.pool) : nil
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
    .text("condition") {
      $0.isInEffect
        ? nil
        : Message(
          """
          Server enforcement has no effect until TOTP is on and the pattern is “Mandatory at \
          sign-up”.
          """)
    },
    .flag("isOff") { !$0.isChosen(.claim) && !$0.isChosen(.refuse) },
    .flag("isClaim") { $0.isChosen(.claim) },
    .flag("isRefuse") { $0.isChosen(.refuse) },
    .text("noMail") {
      $0.carriesMail
        ? nil
        : Message(
          """
          This server sends no email, so refused users couldn’t get an enrollment link. Configure \
          email first, or select Claim.
          """)
    },
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
  /// The kind of pool, capitalized.
  var kind: Message {
    tenant == nil ? Message("Project") : Message("Tenant")
  }
}
