import Identity
import Localization
import OTP
import Templating

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
      guard let new = OddsText.cases(GuessingOdds(view.new, cap: cap).untilClosed),
        let old = OddsText.cases(GuessingOdds(view.old, cap: cap).untilClosed)
      else { return nil }
      return Message("1 in {cases}, now 1 in {old}", ["cases": .number(new), "old": .number(old)])
    },
  ]
}
