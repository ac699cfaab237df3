import HTTP
import Identity
import Templating

/// Until when a factor is suspended: one of some usual ends, or a day of one's own.
struct UntilField: ViewModel {
  /// The ends that are offered, by their value in the form.
  enum Choice: String, CaseIterable {
    case today, tomorrow, days = "3-days", week
  }

  let chosen: String
  /// A day as it was typed; it counts before the choice.
  let day: String
  let today: Day
  let times: Times
  var error: String?

  init(_ form: Form, _ times: Times, at now: Instant) {
    chosen = form.text("until") ?? Choice.tomorrow.rawValue
    day = form.trimmed("day")
    today = times.calendarDay(of: now)
    self.times = times
  }

  /// The moment that was chosen; nil for what is none.
  var moment: Instant? {
    if !day.isEmpty { return Day(day).map { times.start(of: $0.next) } }
    return Choice(rawValue: chosen).map { times.start(of: end($0).next) }
  }

  private func end(_ choice: Choice) -> Day {
    switch choice {
    case .today: today
    case .tomorrow: today.next
    case .days: today.after(3)
    case .week: today.after(7)
    }
  }

  private var choices: [SupportOption] {
    Choice.allCases.map { choice in
      let name =
        switch choice {
        case .today: "End of today"
        case .tomorrow: "End of tomorrow"
        case .days: "In three days"
        case .week: "In a week"
        }
      return SupportOption(
        value: choice.rawValue, label: "\(name), \(Times.words(end(choice)))",
        isChosen: choice.rawValue == chosen)
    }
  }

  static let keys: Keys<Self> = [
    .list("choices") { $0.choices },
    .text("error") { $0.error },
    .text("day") { $0.day },
    .text("first") { $0.today.description },
    .text("last") { $0.today.after(Support.longestSuspension - 1).description },
    .number("longest") { _ in Support.longestSuspension },
  ]
}

extension Day {
  /// The day so many days after this one.
  fileprivate func after(_ days: Int) -> Day { (0..<days).reduce(self) { day, _ in day.next } }
}

/// The field for a code of the administrator's own, where one is due.
struct CodeField: ViewModel {
  let id: String
  let error: String?

  /// Nil while the last code is fresh enough.
  init?(_ isDue: Bool, _ frame: FrameView, id: String = "code") {
    guard isDue else { return nil }
    self.id = id
    error = frame.error(at: id)
  }

  static let keys: Keys<Self> = [
    .text("id") { $0.id },
    .text("error") { $0.error },
  ]
}

/// The name that a factor is given.
struct NameField: ViewModel {
  let value: String
  var error: String?

  static let keys: Keys<Self> = [
    .text("value") { $0.value },
    .text("error") { $0.error },
    .number("longest") { _ in Factor.longestName },
  ]
}

/// Who is meant, typed by whoever is about to delete them.
struct ConfirmationField: ViewModel {
  let account: Account
  let typed: String
  var error: String?

  /// What is wrong with what was typed, when the desk says that somebody else is meant.
  var fault: FieldError {
    FieldError(
      field: "confirmation",
      text: typed.isEmpty
        ? "Type the email address or the uid of the user."
        : "That is not this user’s email address or uid. Type one of them.")
  }

  static let keys: Keys<Self> = [
    .text("email") { $0.account.email },
    .text("uid") { $0.account.id.text },
    .text("typed") { $0.typed },
    .text("error") { $0.error },
  ]
}
