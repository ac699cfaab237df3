import Foundation
import Synchronization

/// Formats numbers, lists, and dates in a locale.
struct Formats: Sendable {
  /// How a locale with ASCII digits groups them in threes.
  private struct Grouping: Sendable {
    let separator: String
    /// The number of digits from which numbers are grouped; some locales leave four together.
    let fewest: Int
  }

  private let locale: Locale
  /// Nil if Foundation has to format each number.
  private let grouping: Grouping?
  private let compiled: CompiledFormats
  let axis: AxisFormats

  init(locale identifier: String) {
    let locale = Locale(identifier: identifier)
    self.locale = locale
    grouping = Self.grouping(in: locale)
    compiled = CompiledFormats(locale: identifier)
    axis = AxisFormats(locale: identifier)
  }

  func number(_ number: Int) -> String {
    guard let grouping, number >= 0 else {
      return number.formatted(.number.locale(locale))
    }
    let digits = String(number)
    guard digits.utf8.count >= grouping.fewest else { return digits }
    var text = ""
    for (index, digit) in digits.utf8.enumerated() {
      if index > 0, (digits.utf8.count - index) % 3 == 0 { text += grouping.separator }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
  }

  /// A number with its sign, and with a minus instead of a hyphen.
  func signed(_ number: Int) -> String {
    number.formatted(.number.locale(locale).sign(strategy: .always(includingZero: false)))
      .replacing("-", with: "−")
  }

  /// A number in units of its last decimal place, with all places.
  func decimal(_ number: Int, places: Int) -> String {
    Self.exact(number, places: places)
      .formatted(.number.locale(locale).precision(.fractionLength(places)))
  }

  /// A percentage in units of its last decimal place, without zeros at its end.
  func percentage(_ number: Int, places: Int) -> String {
    Self.exact(number, places: places + 2)
      .formatted(.percent.locale(locale).precision(.fractionLength(0...places)))
  }

  private static func exact(_ number: Int, places: Int) -> Decimal {
    Decimal(
      sign: number < 0 ? .minus : .plus, exponent: -places, significand: Decimal(number.magnitude))
  }

  /// The whole percentage at or below a share.
  func percent(_ share: Double) -> String {
    // The tolerance keeps 0.29, stored as a little less than 29 percent, at 29.
    compiled.all.percents[Int(min(max(share * 100 + 1e-9, 0), 100))]
  }

  func list(_ texts: [String]) -> String {
    joined(texts, .and, .standard)
  }

  func choice(_ texts: [String]) -> String {
    joined(texts, .or, .standard)
  }

  /// A list without a conjunction, where the language can do without.
  func sequence(_ texts: [String]) -> String {
    joined(texts, .and, .narrow)
  }

  private typealias List = ListFormatStyle<StringStyle, [String]>

  private func joined(_ texts: [String], _ type: List.ListType, _ width: List.Width) -> String {
    texts.count < 2
      ? texts.first ?? "" : texts.formatted(.list(type: type, width: width).locale(locale))
  }

  func append(_ date: LocalDate, to bytes: inout [UInt8]) {
    compiled.all.dates.append(date, to: &bytes)
  }

  func append(_ time: LocalTime, _ form: LocalTime.Form = .minute, to bytes: inout [UInt8]) {
    let all = compiled.all
    // In place: a pattern consists of many arrays, and a page has a hundred times.
    switch form {
    case .minute: all.minutes.append(time, to: &bytes)
    case .second: all.seconds.append(time, to: &bytes)
    case .full: all.full.append(time, to: &bytes)
    }
    // A line doesn't end between a time and its zone.
    bytes += "\u{00A0}".utf8
    bytes += time.zone.utf8
  }

  func date(_ date: LocalDate) -> String {
    var bytes: [UInt8] = []
    append(date, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  func time(_ time: LocalTime, _ form: LocalTime.Form = .minute) -> String {
    var bytes: [UInt8] = []
    append(time, form, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func grouping(in locale: Locale) -> Grouping? {
    let style = IntegerFormatStyle<Int>.number.locale(locale)
    let probe = 1_234_567.formatted(style)
    guard let match = probe.wholeMatch(of: /1([^0-9]+)234([^0-9]+)567/), match.1 == match.2 else {
      return nil
    }
    return Grouping(
      separator: String(match.1), fewest: 1_234.formatted(style) == "1234" ? 5 : 4)
  }
}

/// The formats of percentages and dates, compiled when the first one is needed.
private final class CompiledFormats: Sendable {
  final class All: Sendable {
    /// From 0 to 100.
    let percents: [String]
    let dates: DatePattern
    let minutes: DatePattern
    let seconds: DatePattern
    let full: DatePattern

    init(locale: String) {
      let style = FloatingPointFormatStyle<Double>.Percent.percent
        .locale(Locale(identifier: locale)).precision(.fractionLength(0))
      percents = (0...100).map { (Double($0) / 100).formatted(style) }
      dates = DatePattern(locale: locale, template: "yMMMd")
      minutes = DatePattern(locale: locale, template: "yMMMdHHmm")
      seconds = DatePattern(locale: locale, template: "yMMMdHHmmss")
      full = DatePattern(locale: locale, template: "yMMMEdHHmmss")
    }
  }

  private let locale: String
  private let compiled = AtomicLazyReference<All>()

  init(locale: String) {
    self.locale = locale
  }

  var all: All { compiled.load() ?? compiled.storeIfNil(All(locale: locale)) }
}

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
