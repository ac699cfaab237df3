import Identity
import Localization
import OTP
import Templating

extension WindowChoice {
  var window: Window { intervals.flatMap(Window.init(adjacentIntervals:)) ?? .standard }
}

struct WindowEffectRow: ViewModel {
  let choice: WindowChoice
  let evidence: PolicyEvidence
  let isCurrent: Bool
  /// The number of users with an authenticator app.
  let accounts: Int
  /// The address of the list of affected users; nil without access to it.
  let affected: String?
  /// The address of the review page for this window; nil if there's nothing to change.
  let proposal: String?

  var odds: GuessingOdds { GuessingOdds(choice.window, cap: evidence.cap) }
  private var effect: WindowEvidence.Effect? {
    evidence.evidence.flatMap { $0.isEnough ? $0.effect(of: choice.window) : nil }
  }

  static let keys: Keys<Self> = [
    .text("choice") { $0.choice.name.description },
    .text("name") { WindowText.name($0.choice.window) },
    .text(\.proposal),
    .flag(\.isCurrent),
    .flag("isDefault") { $0.choice.window == .standard },
    .flag("isRecommended") { $0.evidence.recommended?.window == $0.choice.window },
    .markup("strip") { WindowStrip.plain($0.choice.window) },
    .number("codes") { $0.choice.window.codes },
    .text("rejected") { $0.effect.map { .value(.number($0.rejected)) } ?? .verbatim("–") },
    .text("share") { row in
      row.effect.map { ShareText.percent($0.rejected, of: row.evidence.evidence?.codes ?? 0) }
        ?? .verbatim("–")
    },
    .text("interval") { row in
      row.effect.flatMap { effect in
        ShareText.interval(effect.rejected, of: row.evidence.evidence?.codes ?? 0)
      }
    },
    .text("users") { $0.effect.map { .value(.number($0.users)) } ?? .verbatim("–") },
    .text("affected") { $0.effect.map { $0.users > 0 } == true ? $0.affected : nil },
    .text("untilLocked") { OddsText.chance($0.odds.untilClosed) },
    .text("withinYear") { OddsText.chance($0.odds.withinYear) },
    .text("hits") { OddsText.hits($0.odds.expectedHits(in: $0.accounts)) },
  ]
}

struct RecommendationView: ViewModel {
  let outcome: WindowRecommendation.Outcome
  let current: Window?
  let cap: Int
  let goals: [Link]
  /// Returns the address of the review page for a window; nil for administrators who can't change
  /// the policy.
  let proposed: @Sendable (Window) -> String?
  /// Returns the address of the list of users who need more than a window; nil without access.
  let affected: @Sendable (Window) -> String?

  private var found: WindowRecommendation? {
    if case .window(let found) = outcome { found } else { nil }
  }

  private var missing: Message? {
    guard case .notEnoughData(let userDays) = outcome else { return nil }
    return Message(
      one: """
        Not enough data for a recommendation: {count} user-day (a user and a day with at least \
        one correct code), {needed} needed.
        """,
      other: """
        Not enough data for a recommendation: {count} user-days (a user and a day with at least \
        one correct code), {needed} needed.
        """,
      ["count": .number(userDays), "needed": .number(WindowRecommendation.fewestUserDays)])
  }

  var reasons: [Message] {
    guard let found else { return [] }
    var reasons = [kept(by: found)]
    if let smaller = found.keptBySmaller,
      let window = Window(adjacentIntervals: found.window.adjacentIntervals - 1)
    {
      reasons.append(
        Message(
          one: "{window} would keep {kept} of {count} user-day ({share}).",
          other: "{window} would keep {kept} of {count} user-days ({share}).",
          [
            "window": .text(WindowText.name(window)), "kept": .number(smaller),
            "count": .number(found.total),
            "share": .message(ShareText.estimate(smaller, of: found.total)),
          ]))
    }
    reasons.append(odds(of: found.window))
    return reasons
  }

  private func kept(by found: WindowRecommendation) -> Message {
    let goal = Message.Value.message(ShareText.percent(basisPoints: found.goal.basisPoints))
    let share = Message.Value.message(ShareText.estimate(found.kept, of: found.total))
    let (kept, total) = (Message.Value.number(found.kept), Message.Value.number(found.total))
    guard let aside = found.setAside else {
      return Message(
        one: """
          It’s the smallest window that keeps at least {goal} of legitimate sign-ins: {kept} of \
          {count} user-day ({share}). A user-day is a user and a day with at least one correct \
          code.
          """,
        other: """
          It’s the smallest window that keeps at least {goal} of legitimate sign-ins: {kept} of \
          {count} user-days ({share}). A user-day is a user and a day with at least one correct \
          code.
          """, ["goal": goal, "kept": kept, "count": total, "share": share])
    }
    return Message(
      one: """
        Ignoring the users whose clocks are farthest off ({users}; at most 1%, rounded up), it’s \
        the smallest window that keeps at least {goal} of legitimate sign-ins: {kept} of {count} \
        user-day ({share}). A user-day is a user and a day with at least one correct code.
        """,
      other: """
        Ignoring the users whose clocks are farthest off ({users}; at most 1%, rounded up), it’s \
        the smallest window that keeps at least {goal} of legitimate sign-ins: {kept} of {count} \
        user-days ({share}). A user-day is a user and a day with at least one correct code.
        """,
      [
        "users": .number(aside.users), "goal": goal, "kept": kept, "count": total,
        "share": share,
      ])
  }

  private func odds(of window: Window) -> Message {
    guard let current, current != window,
      let new = OddsText.cases(GuessingOdds(window, cap: cap).untilClosed),
      let old = OddsText.cases(GuessingOdds(current, cap: cap).untilClosed)
    else { return OddsText.untilLocked(window, cap: cap) }
    return Message(
      "Odds of guessing a code before lockout: 1 in {cases} (now 1 in {old}).",
      ["cases": .number(new), "old": .number(old)])
  }

  /// The address of the review page for the recommended window; nil if it's in effect already.
  private var proposal: String? {
    guard let found, let current, found.window != current else { return nil }
    return proposed(found.window)
  }

  var line: Message? {
    guard let found else { return nil }
    let window = Message.Value.text(WindowText.name(found.window))
    let goal = Message.Value.message(ShareText.percent(basisPoints: found.goal.basisPoints))
    guard let aside = found.setAside else {
      return Message(
        "{window} keeps at least {goal} of sign-ins.", ["window": window, "goal": goal])
    }
    return Message(
      one: """
        {window} keeps at least {goal} of sign-ins, not counting the clock that’s farthest off.
        """,
      other: """
        {window} keeps at least {goal} of sign-ins, not counting the {count} clocks farthest off.
        """, ["window": window, "goal": goal, "count": .number(aside.users)])
  }

  /// What the next smaller window would keep.
  private var lineOfSmaller: Message? {
    guard let found, let smaller = found.keptBySmaller,
      let window = Window(adjacentIntervals: found.window.adjacentIntervals - 1)
    else { return nil }
    return Message(
      one: "{window} keeps {share} of {count} user-day.",
      other: "{window} keeps {share} of {count} user-days.",
      [
        "window": .text(WindowText.name(window)),
        "share": .message(ShareText.percent(smaller, of: found.total)),
        "count": .number(found.total),
      ])
  }

  private var setAside: Message? {
    guard let aside = found?.setAside else { return nil }
    return Message(
      one: "To accept all codes of the {count} user whose clock is farthest off, choose {window}.",
      other: """
        To accept all codes of the {count} users whose clocks are farthest off, choose {window}.
        """,
      ["count": .number(aside.users), "window": .text(WindowText.name(aside.needing))])
  }

  static let keys: Keys<Self> = [
    .text("missing") { $0.missing },
    .text("name") { $0.found.map { WindowText.name($0.window) } },
    .flag("isCurrent") { $0.found?.window == $0.current && $0.current != nil },
    .text("line") { $0.line },
    .text("lineOfSmaller") { $0.lineOfSmaller },
    .texts("reasons") { $0.reasons },
    .text("setAside") { $0.setAside },
    .text("setAsideUsers") { view in
      view.found?.setAside.flatMap { view.affected($0.beyond) }
    },
    .text("notHelped") { view in
      view.found.flatMap {
        $0.notHelped > 0
          ? Message(
            one: "{count} user would still be rejected",
            other: "{count} users would still be rejected", ["count": .number($0.notHelped)]) : nil
      }
    },
    .text("notHelpedUsers") { view in
      view.found.flatMap { $0.notHelped > 0 ? view.affected($0.window) : nil }
    },
    .text("proposal") { $0.proposal },
    .list(\.goals),
  ]
}

struct WindowImpact: ViewModel {
  let old: Window
  let new: Window
  let evidence: WindowEvidence
  let cap: Int
  /// The users whom the change affects; nil for administrators who can't see users.
  let affected: String?
  /// The users outside the new window; nil for administrators who can't see users.
  let notHelped: String?

  private var change: WindowEvidence.Change { evidence.change(from: old, to: new) }

  private static func signed(_ number: Int) -> Message {
    number > 0
      ? Message("+{number}", ["number": .number(number)])
      : number < 0 ? Message("−{number}", ["number": .number(-number)]) : .value(.number(0))
  }

  static let keys: Keys<Self> = [
    .number("days") { $0.evidence.histogram.days },
    .text("codes") { signed($0.change.codes) },
    .text("codesBase") {
      Message(
        one: "of {count} correct code", other: "of {count} correct codes",
        ["count": .number($0.evidence.codes)])
    },
    .text("users") { signed($0.change.users) },
    .text("usersBase") {
      Message(
        one: "of {count} user", other: "of {count} users", ["count": .number($0.evidence.users)])
    },
    .text("affected") { $0.change.users == 0 ? nil : $0.affected },
    .number("rejected") { $0.change.stillRejected },
    .text("rejectedBase") {
      Message(
        one: "from {count} user", other: "from {count} users",
        ["count": .number($0.change.stillAffected)])
    },
    .text("notHelped") { $0.change.stillAffected == 0 ? nil : $0.notHelped },
    .text("chance") {
      OddsText.chance(GuessingOdds($0.new, cap: $0.cap).untilClosed)
    },
    .text("chanceBase") { view in
      let cap = view.cap
      return OddsText.cases(GuessingOdds(view.old, cap: cap).untilClosed).map {
        Message("now 1 in {old}", ["old": .number($0)])
      }
    },
  ]
}
