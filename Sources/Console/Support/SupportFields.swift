import HTTP
import Identity
import Localization
import Templating

/// The fields for the end of a suspension or an exemption: a preset or a specific day.
struct EndFields {
  private enum Preset: String, CaseIterable {
    case today, tomorrow, days = "3-days", week
  }

  private let chosen: String
  /// The day as entered; it overrides the preset.
  private let day: String
  private let today: Day
  private let now: Instant
  private let times: Times

  /// - Throws: ``Refusal/unreadableForm`` for an unknown time zone.
  init(_ target: PoolTarget, at now: Instant) throws {
    self.now = now
    times = try target.signedIn.times(of: target.form)
    chosen = target.form.text("until") ?? Preset.tomorrow.rawValue
    day = target.form.trimmed("day")
    today = times.calendarDay(of: now)
  }

  /// The end of the suspension; nil for invalid input.
  ///
  /// It's the end of a day, or this time of the last day that can be chosen.
  var moment: Instant? {
    if !day.isEmpty { return Day(day).map(end) }
    return Preset(rawValue: chosen).map { end(end($0)) }
  }

  /// Returns an error about the end with the field that the end was taken from.
  static func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    guard error.field == "until", !target.form.trimmed("day").isEmpty else { return error }
    return FieldError(field: "day", text: error.text)
  }

  private func end(_ day: Day) -> Instant {
    let end = times.start(of: day.next)
    guard day <= last else { return end }
    return min(end, now.advanced(bySeconds: Int64(Support.longestSuspension) * 86_400))
  }

  private var last: Day { today.after(Support.longestSuspension) }

  private func end(_ preset: Preset) -> Day {
    switch preset {
    case .today: today
    case .tomorrow: today.next
    case .days: today.after(3)
    case .week: today.after(7)
    }
  }

  private func option(_ preset: Preset) -> Field.Option {
    let date = Times.value(end(preset))
    let label =
      switch preset {
      case .today: Message("End of today, {date}", ["date": date])
      case .tomorrow: Message("End of tomorrow, {date}", ["date": date])
      case .days: Message("In 3 days, {date}", ["date": date])
      case .week: Message("In 7 days, {date}", ["date": date])
      }
    return Field.Option(value: preset.rawValue, label: label)
  }

  var fields: [Field] {
    [
      .hidden(times.hiddenZone),
      .menu(
        "until", Message("Until"), Preset.allCases.map(option), value: Preset.tomorrow.rawValue),
      .date(
        "day", Message("Custom end date <span class=\"soft\">(optional)</span>"),
        hint: Message(
          """
          Through the end of that day, at most {longest} days from today. Overrides the choice \
          above.
          """, ["longest": .number(Support.longestSuspension)]),
        Field.Range(first: today, last: last)),
    ]
  }
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

extension Field {
  /// The field that confirms the user for an action that can't be undone.
  static func confirmation(of account: Account) -> Field {
    let uid = Message.Value.text(account.id.text)
    guard let email = account.email else {
      return .line(
        "confirmation", Message("Enter the UID <bdi class=\"mono\">{uid}</bdi>", ["uid": uid]),
        hint: Message("Prevents accidental deletion."), Look.exact)
    }
    return .line(
      "confirmation",
      Message("Enter the email address <bdi>{email}</bdi>", ["email": .text(email)]),
      hint: Message(
        "Or the UID <span class=\"mono\">{uid}</span>. Prevents accidental deletion.", ["uid": uid]),
      Look.exact)
  }

  /// Returns an error of the field that confirms the user with its text.
  static func placedConfirmation(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    guard error.field == "confirmation" else { return error }
    return FieldError(
      field: error.field,
      text: target.form.trimmed("confirmation").isEmpty
        ? Message("Enter the user’s email address or UID.")
        : Message("This isn’t the user’s email address or UID. Enter one of them."))
  }
}
