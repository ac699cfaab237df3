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
}

/// A time on the clocks of a time zone, to the minute.
public struct LocalTime: Sendable, Hashable {
  /// The date.
  public let date: LocalDate
  /// The hour, 0–23.
  public let hour: Int
  /// The minute, 0–59.
  public let minute: Int
  /// The time zone's label, such as `UTC+1`.
  public let zone: String

  /// Creates a time.
  public init(_ date: LocalDate, hour: Int, minute: Int, zone: String) {
    self.date = date
    self.hour = hour
    self.minute = minute
    self.zone = zone
  }
}
