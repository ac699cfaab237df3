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
  let curl: String
  let node: String
  var race: PolicyRace?
  var plans: PolicyPlans?
  var isUnchanged = false
  /// The number of consecutive wrong codes after which a user's codes are locked.
  var codeCap = SupportRules().codeCap

  init(
    frame: Frame, context: ScopeContext, policy: Policy, answers: PolicyAnswers,
    versions: PolicyVersions, prerequisites: [PolicyPrerequisite], publicURL: PublicURL
  ) {
    self.frame = FrameView(frame)
    self.context = context
    self.policy = policy
    self.answers = answers
    self.versions = versions
    self.prerequisites = prerequisites
    curl = PolicyCurl.text(policy, publicURL: publicURL)
    node = PolicyNode.text(policy)
  }

  private var configuration: MFAConfiguration { policy.configuration }

  /// The window that the form values describe; the current one if they're invalid.
  private var drawn: Window? {
    guard case .change(let request) = answers.read() else { return configuration.accepted }
    guard request.isOn else { return nil }
    return request.intervals.flatMap(Window.init(adjacentIntervals:)) ?? .standard
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

  /// The change of adjacent intervals, such as `5 → 2`.
  private var windowChange: Message {
    let (old, new) = (configuration.accepted, drawn)
    guard old != new else { return Self.short(new) }
    return Message(
      "policy.change-values",
      ["from": .message(Self.short(old)), "to": .message(Self.short(new))])
  }

  private static func short(_ window: Window?) -> Message {
    window.map { Message.value(.number($0.adjacentIntervals)) } ?? Message("common.off")
  }

  /// The current adjacent intervals for the script, which compares them with those of the form.
  private var windowNow: String {
    configuration.accepted.map { String($0.adjacentIntervals) } ?? "off"
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.policy($0.context.scope) },
    .text("stateTOTP") { ConsolePaths.policyTOTPState($0.context.scope) },
    .text("cancel") { ConsolePaths.overview($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.policy.version },
    .text("holder") { _ in Permission.changePolicy.startingHolder },
    .text("reader") { _ in Permission.readMessages.holder },
    .text("scopeName") { $0.context.scope.name },
    .markup("since") { view in view.policy.changedAt.map(view.frame.times.moment) },
    .optional(\.race),
    .optional(\.plans),
    .text("unchanged") { $0.isUnchanged ? Message("policy.unchanged") : nil },
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
    .flag("isDefault") { $0.answers.window == "default" },
    .flag("isOwn") { $0.answers.window == "own" },
    .text("intervals") { $0.answers.intervals },
    .text("intervalsError") {
      $0.frame.error(at: "intervals") ?? $0.frame.error(at: "window-default")
    },
    .markup("explanations") { WindowWords.explanations(cap: $0.codeCap) },
    .markup("strip") { WindowStrip.large($0.drawn) },
    .text("words") { WindowWords.explanation($0.drawn) },
    .text("odds") { OddsWords.sentence($0.drawn, cap: $0.codeCap) },
    .text("windowNow") { $0.windowNow },
    .markup("stripNow") { WindowStrip.small($0.configuration) },
    .text("windowChange") { $0.windowChange },
    .flag("isSMSOn") { $0.answers.sms == "on" },
    .flag("isSMSOff") { $0.answers.sms == "off" },
    .text("smsHint") {
      $0.configuration.smsEnabled && !$0.configuration.isSMSOn
        ? Message("policy.sms-hint") : nil
    },
    .text("smsError") { $0.frame.error(at: "sms") },
    .text("sms") {
      $0.configuration.isSMSOn ? Message("common.on") : Message("common.off")
    },
    .list("patterns") { $0.patterns },
    .text("patternError") { $0.frame.error(at: "pattern-none") },
    .markup("totp") { $0.configuration.chip },
    .text("intervalsInWords") { WindowWords.number($0.configuration) },
    .text("guidance") { ConsolePaths.scopeGuidance($0.context.scope) },
    .text("pattern") { $0.policy.patternName ?? Message("policy.no-pattern") },
    .list(\.prerequisites),
    .object(\.versions),
    .text(\.curl),
    .text(\.node),
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

/// The start date of the mandatory pattern.
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
