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
