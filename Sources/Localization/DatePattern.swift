import Foundation
import Text

/// A locale's form of dates and times, compiled because a date formatter costs more than a page.
struct DatePattern: Sendable {
  private enum Part: Sendable {
    /// The position of the text among ``texts``.
    case text(Int)
    case year
    case month
    case monthName
    case day
    case weekdayName
    case hour
    case minute
    case second
  }

  private struct Field: Sendable {
    let part: Part
    /// Whether a number below ten has a leading zero.
    let isPadded: Bool
  }

  private let fields: [Field]
  private let texts: JoinedBytes
  private let monthNames: JoinedBytes
  /// From Monday to Sunday.
  private let weekdayNames: JoinedBytes
  private let digits: JoinedBytes

  /// The form of dates and times on a 24-hour clock that consist of a template's fields.
  ///
  /// - Precondition: Foundation's form of a Gregorian date consists of numbers and the abbreviated
  ///   names of the month and of the day of the week.
  init(locale identifier: String, template: String) {
    let locale = Locale(identifier: identifier + "-u-ca-gregory")
    let pattern =
      DateFormatter.dateFormat(fromTemplate: template, options: 0, locale: locale)
      ?? "y-MM-dd HH:mm"
    let formatter = DateFormatter()
    formatter.locale = locale
    let isAlone = pattern.contains("LLL")
    let monthNames = isAlone ? formatter.shortStandaloneMonthSymbols : formatter.shortMonthSymbols
    self.monthNames = JoinedBytes(monthNames.map { Array($0.utf8) })
    let weekdays =
      pattern.contains("ccc")
      ? formatter.shortStandaloneWeekdaySymbols : formatter.shortWeekdaySymbols
    weekdayNames = JoinedBytes(
      (weekdays.dropFirst() + weekdays.prefix(1)).map { Array($0.utf8) })
    let number = IntegerFormatStyle<Int>.number.locale(Locale(identifier: identifier))
    digits = JoinedBytes((0...9).map { Array($0.formatted(number).utf8) })
    let (fields, texts) = Self.fields(of: pattern)
    self.fields = fields
    self.texts = JoinedBytes(texts.map { Array($0.utf8) })
  }

  private static func fields(of pattern: String) -> (fields: [Field], texts: [Substring]) {
    // A word between date and time, as in “Nov 3, 2026 at 09:12”, gives way to a comma.
    var rest = pattern.replacing(#/ '[^']*' (?=H)/#, with: ", ")[...]
    var fields: [Field] = []
    var texts: [Substring] = []
    while let first = rest.first {
      let run = rest.prefix { $0 == first }
      rest = rest.dropFirst(run.count)
      let part: Part
      switch first {
      case "y": part = .year
      case "M" where run.count > 2, "L" where run.count > 2: part = .monthName
      case "M", "L": part = .month
      case "d": part = .day
      case "E", "c": part = .weekdayName
      case "H": part = .hour
      case "m": part = .minute
      case "s": part = .second
      case "'":
        let quoted = rest.prefix { $0 != "'" }
        rest = rest.dropFirst(quoted.count + 1)
        part = .text(texts.count)
        texts.append(quoted.isEmpty ? "'" : quoted)
      default:
        part = .text(texts.count)
        texts.append(run)
      }
      fields.append(Field(part: part, isPadded: run.count == 2))
    }
    return (fields, texts)
  }

  func text(_ date: LocalDate, hour: Int = 0) -> String {
    var bytes: [UInt8] = []
    append(date, hour: hour, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  func append(
    _ date: LocalDate, hour: Int = 0, minute: Int = 0, second: Int = 0, to bytes: inout [UInt8]
  ) {
    for field in fields {
      switch field.part {
      case .text(let index): texts.append(index, to: &bytes)
      case .year: append(date.year, isPadded: false, to: &bytes)
      case .month: append(date.month, isPadded: field.isPadded, to: &bytes)
      case .monthName: monthNames.append(date.month - 1, to: &bytes)
      case .day: append(date.day, isPadded: field.isPadded, to: &bytes)
      case .weekdayName: weekdayNames.append(date.weekday - 1, to: &bytes)
      case .hour: append(hour, isPadded: field.isPadded, to: &bytes)
      case .minute: append(minute, isPadded: field.isPadded, to: &bytes)
      case .second: append(second, isPadded: field.isPadded, to: &bytes)
      }
    }
  }

  func append(_ time: LocalTime, to bytes: inout [UInt8]) {
    append(time.date, hour: time.hour, minute: time.minute, second: time.second, to: &bytes)
  }

  private func append(_ number: Int, isPadded: Bool, to bytes: inout [UInt8]) {
    if number >= 10 {
      append(number / 10, isPadded: false, to: &bytes)
    } else if isPadded {
      digits.append(0, to: &bytes)
    }
    digits.append(number % 10, to: &bytes)
  }
}

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
