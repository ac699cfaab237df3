import HTTP
import Identity
import Localization
import Templating

/// The field for the end of a suspension: a preset or a specific day.
struct UntilField: ViewModel {
  enum Choice: String, CaseIterable {
    case today, tomorrow, days = "3-days", week
  }

  let chosen: String
  /// The day as entered; it overrides the preset.
  let day: String
  let today: Day
  let now: Instant
  let times: Times
  var error: Message?
  var dayError: Message?

  init(_ form: Form, _ times: Times, at now: Instant) {
    self.now = now
    chosen = form.text("until") ?? Choice.tomorrow.rawValue
    day = form.trimmed("day")
    today = times.calendarDay(of: now)
    self.times = times
  }

  /// The end of the suspension; nil for invalid input.
  ///
  /// It's the end of a day, or this time of the last day that can be chosen.
  var moment: Instant? {
    if !day.isEmpty { return Day(day).map(end) }
    return Choice(rawValue: chosen).map { end(end($0)) }
  }

  /// The ID of the field that the end was taken from, which an error about it belongs to.
  var source: String { day.isEmpty ? "until" : "day" }

  private func end(_ day: Day) -> Instant {
    let end = times.start(of: day.next)
    guard day <= last else { return end }
    return min(end, now.advanced(bySeconds: Int64(Support.longestSuspension) * 86_400))
  }

  private var last: Day { today.after(Support.longestSuspension) }

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
      let date = Times.value(end(choice))
      let label =
        switch choice {
        case .today: Message("End of today, {date}", ["date": date])
        case .tomorrow: Message("End of tomorrow, {date}", ["date": date])
        case .days: Message("In 3 days, {date}", ["date": date])
        case .week: Message("In 7 days, {date}", ["date": date])
        }
      return SupportOption(
        value: choice.rawValue, label: label, isChosen: choice.rawValue == chosen)
    }
  }

  static let keys: Keys<Self> = [
    .list("choices") { $0.choices },
    .text(\.error),
    .text(\.dayError),
    .object("hiddenZone") { $0.times.hiddenZone },
    .text(\.day),
    .text("first") { $0.today.description },
    .text("last") { $0.last.description },
    .number("longest") { _ in Support.longestSuspension },
  ]
}

extension Day {
  func after(_ days: Int) -> Day { (0..<days).reduce(self) { day, _ in day.next } }
}

struct CodeField: ViewModel {
  let id: String
  let error: Message?
  /// The form's address, under which its fields are kept while a passkey or the provider is used
  /// instead; nil if the form doesn't offer that.
  let action: String?
  let alternatives: CodeAlternatives?

  /// Creates the field; nil while the last code is within the re-authentication interval.
  init?(_ isDue: Bool, _ frame: FrameView, id: String = "code", action: String?) {
    guard isDue else { return nil }
    self.id = id
    self.action = action
    error = frame.error(at: id)
    alternatives = action == nil ? nil : CodeAlternatives(frame)
  }

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.error),
    .text(\.action),
    .optional(\.alternatives),
  ]
}

struct NameField: ViewModel {
  let value: String
  var error: Message?

  static let keys: Keys<Self> = [
    .text(\.value),
    .text(\.error),
    .number("longest") { _ in Factor.longestName },
  ]
}

struct ConfirmationField: ViewModel {
  let account: Account
  let typed: String
  var error: Message?

  var fault: FieldError {
    FieldError(
      field: "confirmation",
      text: typed.isEmpty
        ? Message("Enter the user’s email address or UID.")
        : Message("This isn’t the user’s email address or UID. Enter one of them."))
  }

  static let keys: Keys<Self> = [
    .text("email") { $0.account.email },
    .text("uid") { $0.account.id.text },
    .text(\.typed),
    .text(\.error),
  ]
}
