import HTTP
import Identity
import Templating

struct PolicyView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let policy: Policy
  let answers: PolicyAnswers
  let history: [HistoryRow]
  let curl: String
  var race: PolicyRace?
  var isUnchanged = false

  init(
    frame: Frame, context: ScopeContext, policy: Policy, answers: PolicyAnswers,
    history: [AuditRow], publicURL: PublicURL
  ) {
    self.frame = FrameView(frame)
    self.context = context
    self.policy = policy
    self.answers = answers
    self.history = history.map { HistoryRow(policy: $0, frame.times) }
    curl = PolicyCurl.text(policy, publicURL: publicURL)
  }

  private var configuration: MFAConfiguration { policy.configuration }

  /// The window that the answers ask for, as far as they can be read.
  private var drawn: Window? {
    guard case .change(let request) = answers.read() else { return configuration.accepted }
    guard request.isOn else { return nil }
    return request.intervals.flatMap(Window.init(adjacentIntervals:)) ?? .standard
  }

  private var offHint: String {
    guard policy.enrolledUsers > 0 else {
      return "Nobody can enrol, and nobody is asked for a code."
    }
    let users = Words.count(policy.enrolledUsers, "enrolled user signs", "enrolled users sign")
    return "Nobody can enrol; \(users) in with a password only."
  }

  private var patterns: [PatternChoice] {
    let none = PatternChoice(
      value: PolicyAnswers.noPattern, label: "None recorded",
      hint: "Your application decides, and nothing is written here.", guide: nil,
      isChecked: answers.pattern == PolicyAnswers.noPattern)
    return EnrolmentPattern.allCases.map { pattern in
      PatternChoice(
        value: pattern.rawValue, label: pattern.name, hint: pattern.hint,
        guide: context.scope.guidance(ConsolePaths.guide(pattern.rawValue)),
        isChecked: answers.pattern == pattern.rawValue)
    } + [none]
  }

  private var state: Markup? {
    policy.changedAt.map { instant in
      var html = HTML()
      html.raw("<span class=\"chip plain\">In force since&nbsp;")
      html.add(frame.times.moment(instant))
      html.raw("</span>")
      return html.markup
    }
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") { ConsolePaths.policy($0.context.scope) },
    .text("cancel") { ConsolePaths.overview($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.policy.version },
    .text("kind") { $0.context.scope.kind },
    .text("kindInSentence") { $0.context.scope.kindInSentence },
    .text("scopeName") { $0.context.scope.name },
    .markup("state") { $0.state },
    .optional("race") { $0.race },
    .text("unchanged") {
      $0.isUnchanged ? "These are the values in force already; there is nothing to save." : nil
    },
    .flag("isUnstated") { $0.configuration.isUnstated },
    .flag("mayChange") { $0.context.may(.changePolicy) },
    .flag("isOn") { $0.answers.totp == "on" },
    .flag("isOff") { $0.answers.totp == "off" },
    .text("onLabel") { $0.configuration.totp?.state == .mandatory ? "On (mandatory)" : "On" },
    .text("onHint") { _ in "Users may enrol; enrolled users are asked for a code." },
    .text("offHint") { $0.offHint },
    .text("totpError") { $0.frame.error(at: "totp") },
    .flag("isDefault") { $0.answers.window == "default" },
    .flag("isOwn") { $0.answers.window == "own" },
    .text("intervals") { $0.answers.intervals },
    .text("intervalsError") {
      $0.frame.error(at: "intervals") ?? $0.frame.error(at: "window-default")
    },
    .text("explanations") { _ in WindowWords.explanations },
    .markup("strip") { WindowStrip.large($0.drawn) },
    .text("words") { WindowWords.explanation($0.drawn) },
    .list("patterns") { $0.patterns },
    .text("patternError") { $0.frame.error(at: "pattern-none") },
    .markup("totp") { $0.configuration.chip },
    .text("intervalsInWords") { WindowWords.number($0.configuration) },
    .text("pattern") { $0.policy.pattern?.name ?? "none recorded" },
    .flag("hasHistory") { !$0.history.isEmpty },
    .list("history") { $0.history },
    .text("curl") { $0.curl },
  ]
}

struct PatternChoice: ViewModel {
  let value: String
  let label: String
  let hint: String
  let guide: String?
  let isChecked: Bool

  static let keys: Keys<Self> = [
    .text("value") { $0.value },
    .text("label") { $0.label },
    .text("hint") { $0.hint },
    .text("guide") { $0.guide },
    .flag("isChecked") { $0.isChecked },
  ]
}

/// What somebody else changed while the form was open.
struct PolicyRace: ViewModel {
  let who: String
  let at: Markup
  let changes: [String]
  let discard: String

  init(_ policy: Policy, history: ArraySlice<AuditRow>, discard: String, times: Times) {
    who = policy.changedBy ?? "Somebody"
    at = policy.changedAt.map(times.moment) ?? HTML.escaped("an unknown day")
    changes = history.map { AuditWords.change($0) }
    self.discard = discard
  }

  static let keys: Keys<Self> = [
    .text("who") { $0.who },
    .markup("at") { $0.at },
    .texts("changes") { $0.changes },
    .text("discard") { $0.discard },
  ]
}

extension Scope {
  /// What it is, to begin a sentence.
  var kind: String { tenant == nil ? "Project" : "Tenant" }
  /// What it is, inside a sentence.
  var kindInSentence: String { tenant == nil ? "project" : "tenant" }
}
