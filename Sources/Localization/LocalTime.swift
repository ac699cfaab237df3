/// A date on the calendar of a time zone.
public struct LocalDate: Sendable, Hashable {
  /// The year, such as 2026.
  public let year: Int
  /// The month, 1–12.
  public let month: Int
  /// The day of the month, 1–31.
  public let day: Int

  /// Creates a date of the Gregorian calendar.
  public init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// The day of the week, 1 for Monday to 7 for Sunday.
  var weekday: Int {
    // March is the first month, so that a leap day is the last of a year.
    let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day
    return (days + 1) % 7 + 1
  }
}

/// A time on the clocks of a time zone, to the second.
public struct LocalTime: Sendable, Hashable {
  /// How precisely a time is shown.
  public enum Form: Sendable {
    /// To the minute: `Nov 3, 2026, 09:12 UTC`.
    case minute
    /// To the second: `Nov 3, 2026, 09:12:11 UTC`.
    case second
    /// To the second, with the day of the week: `Tue, Nov 3, 2026, 09:12:11 UTC`.
    case full
  }

  /// The date.
  public let date: LocalDate
  /// The hour, 0–23.
  public let hour: Int
  /// The minute, 0–59.
  public let minute: Int
  /// The second, 0–59.
  public let second: Int
  /// The time zone's label, such as `UTC+1`.
  public let zone: String

  /// Creates a time.
  public init(_ date: LocalDate, hour: Int, minute: Int, second: Int = 0, zone: String) {
    self.date = date
    self.hour = hour
    self.minute = minute
    self.second = second
    self.zone = zone
  }
}
