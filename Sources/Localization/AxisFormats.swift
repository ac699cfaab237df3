import Foundation
import Synchronization

/// The formats of chart axes, compiled when the first chart needs them.
final class AxisFormats: Sendable {
  private struct Compiled: Sendable {
    let dayOfMonth: DatePattern
    let month: DatePattern
    let hour: DatePattern
    /// From Monday to Sunday.
    let weekdays: [String]
  }

  private let locale: String
  private let compiled = Mutex<Compiled?>(nil)

  init(locale: String) {
    self.locale = locale
  }

  func dayOfMonth(_ date: LocalDate) -> String { formats.dayOfMonth.text(date) }

  func month(_ date: LocalDate) -> String { formats.month.text(date) }

  /// The short name of a weekday, 1 for Monday to 7 for Sunday.
  func weekday(_ day: Int) -> String { formats.weekdays[day - 1] }

  /// An hour on a 24-hour clock.
  func hour(_ hour: Int) -> String {
    formats.hour.text(LocalDate(year: 2000, month: 1, day: 1), hour: hour)
  }

  private var formats: Compiled {
    compiled.withLock { compiled in
      if let compiled { return compiled }
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: locale + "-u-ca-gregory")
      let symbols = formatter.shortStandaloneWeekdaySymbols
      let new = Compiled(
        dayOfMonth: DatePattern(locale: locale, template: "MMMd"),
        month: DatePattern(locale: locale, template: "yMMM"),
        hour: DatePattern(locale: locale, template: "HHmm"),
        weekdays: Array(symbols.dropFirst() + symbols.prefix(1)))
      compiled = new
      return new
    }
  }
}
