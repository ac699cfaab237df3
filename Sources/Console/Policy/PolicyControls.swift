import HTTP
import Identity
import Localization
import OTP
import Templating

/// The number of adjacent intervals: 12 radio buttons behind a stepper, with the strip and the odds
/// of the selected window.
///
/// All windows but the selected one are hidden by the style sheet. The cells of ``WindowCells`` are
/// labels of the same radio buttons.
struct IntervalsControl: ViewModel {
  let selected: String
  /// The number of consecutive wrong codes after which a user's codes are locked.
  let cap: Int
  let error: Message?
  /// What is stored; nil where nothing else can be changed.
  var stored: String?

  /// All windows; without a valid selection, the default is shown.
  var outcomes: [WindowOutcome] {
    let isValid = WindowChoice.all.contains { $0.value == selected }
    return WindowChoice.all.map {
      WindowOutcome(
        choice: $0, isShown: isValid ? $0.value == selected : $0.intervals == nil, cap: cap)
    }
  }

  static let keys: Keys<Self> = [
    .markup("picks") { WindowPicks.markup($0.selected) },
    .list("outcomes") { $0.outcomes },
    .text(\.error),
    .text(\.stored),
  ]
}

/// What the control shows about the selected window.
struct WindowOutcome: ViewModel {
  let choice: WindowChoice
  let isShown: Bool
  let cap: Int

  private var window: Window { choice.window }

  var number: Message {
    choice.intervals.map { Message.value(.number($0)) } ?? Message("5 (default)")
  }

  var value: PolicyChange.Value {
    .adjacentIntervals(AdjacentIntervals(choice.intervals))
  }

  static let keys: Keys<Self> = [
    .text("choice") { $0.choice.name.description },
    .flag(\.isShown),
    .text("name") { WindowText.name($0.window) },
    .markup("strip") { WindowStrip.plain($0.window) },
    .flag("isDefault") { $0.choice.intervals == nil },
    .flag("isLikeDefault") { $0.window == .standard },
    .text("smaller") { $0.window.smaller.map { String($0.adjacentIntervals) } },
    .text("wider") { $0.window.wider.map { String($0.adjacentIntervals) } },
    .text("odds") { OddsText.valid($0.window, cap: $0.cap) },
  ]
}

extension Window {
  fileprivate var smaller: Window? { Window(adjacentIntervals: adjacentIntervals - 1) }
  fileprivate var wider: Window? { Window(adjacentIntervals: adjacentIntervals + 1) }
}

struct PatternControl: ViewModel {
  let view: PolicyView

  private var stored: PolicyAnswers { PolicyAnswers(view.policy.edit) }

  private var choices: [PatternChoice] {
    let (policy, answers, pool) = (view.policy, view.answers, view.context.pool)
    let none = PatternChoice(
      value: PolicyAnswers.noPattern, label: Message("None"),
      hint: Message("No pattern is recorded, so your application decides."), guide: nil,
      isChosen: answers.pattern == PolicyAnswers.noPattern)
    return EnrollmentPattern.allCases.map { pattern in
      PatternChoice(
        value: pattern.rawValue, label: pattern.name, hint: Self.hint(pattern, policy),
        guide: pool.guides(ConsolePaths.guide(pattern.rawValue)),
        isChosen: answers.pattern == pattern.rawValue)
    } + [none]
  }

  private static func hint(_ pattern: EnrollmentPattern, _ policy: Policy) -> Message {
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
    .list("choices") { $0.choices },
    // Nothing is selected if what was sent isn't among the choices.
    .flag("isUnknown") { !$0.choices.contains(where: \.isChosen) },
    .text("stored") { $0.stored.pattern },
    .text("storedFrom") { $0.stored.from },
    .text("from") { $0.view.answers.from },
    .text("error") { $0.view.frame.error(at: "pattern") },
    .text("fromError") { $0.view.frame.error(at: "from") },
  ]
}

struct PatternChoice: ViewModel {
  let value: String
  let label: Message
  let hint: Message
  let guide: String?
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .text(\.value),
    .text(\.label),
    .text(\.hint),
    .text(\.guide),
    .flag(\.isChosen),
  ]
}

struct EnforcementControl: ViewModel {
  let view: PolicyView

  private var answers: PolicyAnswers { view.answers }
  private var stored: PolicyAnswers { PolicyAnswers(view.policy.edit) }

  private func isChosen(_ mode: Enforcement.Mode) -> Bool { answers.enforcement == mode.rawValue }

  static let keys: Keys<Self> = [
    .text("condition") {
      $0.view.policy.configuration.isTOTPOn && $0.view.policy.pattern == .mandatory
        ? nil
        : Message(
          """
          Server enforcement has no effect until TOTP is on and the pattern is “Mandatory at \
          sign-up”.
          """)
    },
    .flag("isClaim") { $0.isChosen(.claim) },
    .flag("isRefuse") { $0.isChosen(.refuse) },
    .text("noMail") { $0.view.carriesMail ? nil : Message("Requires email, which isn’t set up.") },
    .flag("isRefusalDisabled") { !$0.view.carriesMail && !$0.isChosen(.refuse) },
    .text("from") { $0.answers.enforcedFrom },
    .text("grace") { $0.answers.grace },
    .text("stored") { $0.stored.enforcement },
    .text("storedFrom") { $0.stored.enforcedFrom },
    .text("storedGrace") { $0.stored.grace },
    .text("error") { $0.view.frame.error(at: "enforcement") },
    .text("fromError") { $0.view.frame.error(at: "enforced-from") },
    .text("graceError") { $0.view.frame.error(at: "grace") },
  ]
}

/// What the form would change: the bar at its end, which a script keeps up to date.
struct UnsavedChanges: ViewModel {
  let changes: [PolicyChange]

  init(_ answers: PolicyAnswers, over edit: PolicyEdit) {
    guard case .change(let request) = answers.read() else {
      changes = []
      return
    }
    changes = PolicyChange.between(edit, request.applied(to: edit))
  }

  /// A change as the script says it: “adjacent intervals ±1 → ±3”.
  private static func sentence(_ change: PolicyChange) -> Message {
    guard case .adjacentIntervals(let from) = change.from,
      case .adjacentIntervals(let to) = change.to
    else { return change.sentence }
    return Message(
      "{field} {from} → {to}",
      [
        "field": .message(change.field.name), "from": .message(window(from)),
        "to": .message(window(to)),
      ])
  }

  private static func window(_ intervals: AdjacentIntervals?) -> Message {
    switch intervals {
    case nil: Message("none")
    case .standard?:
      Message("{window} (default)", ["window": .text(WindowText.name(.standard))])
    case .number(let number)?: .verbatim("±\(number)")
    case .unsaid?: Message("0 or default")
    }
  }

  static let keys: Keys<Self> = [
    .text("count") { $0.changes.isEmpty ? nil : UnsavedCount.ofForm($0.changes.count) },
    .text("list") { Message.value(.sequence($0.changes.map(sentence))) },
  ]
}
