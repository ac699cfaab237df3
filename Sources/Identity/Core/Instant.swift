/// A time in microseconds since 1970-01-01T00:00:00Z, in the years 0 to 9999.
///
/// Numbers outside this range, which clients can send, are clamped to it.
public struct Instant: Hashable, Comparable, Sendable {
  public let microseconds: Int64

  /// The valid range in seconds: 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
  public static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  public init(microseconds: Int64) {
    self.microseconds = Self.clamped(microseconds, perSecond: 1_000_000)
  }

  public init(seconds: Int64) {
    microseconds = Self.clamped(seconds, perSecond: 1) * 1_000_000
  }

  public init(milliseconds: Int64) {
    microseconds = Self.clamped(milliseconds, perSecond: 1_000) * 1_000
  }

  private static func clamped(_ value: Int64, perSecond: Int64) -> Int64 {
    min(max(value, range.lowerBound * perSecond), (range.upperBound + 1) * perSecond - 1)
  }

  /// Whole seconds since 1970, rounded down.
  public var seconds: Int64 { Self.floor(microseconds, by: 1_000_000) }

  /// Whole milliseconds since 1970, rounded down.
  public var milliseconds: Int64 { Self.floor(microseconds, by: 1_000) }

  /// Whole days since 1970, rounded down.
  package var day: Int64 { Self.floor(seconds, by: 86_400) }

  /// Returns the time a number of seconds later, or earlier if negative.
  public func advanced(bySeconds seconds: Int64) -> Instant {
    let span = Self.range.upperBound - Self.range.lowerBound
    let bounded = min(max(seconds, -span), span)
    return Instant(microseconds: microseconds + bounded * 1_000_000)
  }

  public static func < (left: Instant, right: Instant) -> Bool {
    left.microseconds < right.microseconds
  }

  /// The time in RFC 3339 format with microseconds, such as `2026-09-24T10:15:00.123456Z`.
  public var rfc3339: String { text(fraction: 6) }

  public var rfc3339Milliseconds: String { text(fraction: 3) }

  /// Year, month (1 to 12), day, hour, minute, and second in UTC.
  public var calendar: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    let seconds = seconds
    let days = Self.floor(seconds, by: 86_400)
    let rest = Int(seconds - days * 86_400)
    // Computes the civil date in eras of 400 years that begin on March 1.
    let shifted = days + 719_468
    let era = Self.floor(shifted, by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    return (Int(year), Int(month), Int(day), rest / 3_600, rest / 60 % 60, rest % 60)
  }

  private func text(fraction digits: Int) -> String {
    let parts = calendar
    let micro = Int(microseconds - seconds * 1_000_000)
    var text = [UInt8]()
    text.reserveCapacity(28)
    func add(_ number: Int, _ width: Int) {
      var divisor = 1
      for _ in 1..<width { divisor *= 10 }
      while divisor > 0 {
        text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
        divisor /= 10
      }
    }
    add(parts.year, 4)
    text.append(UInt8(ascii: "-"))
    add(parts.month, 2)
    text.append(UInt8(ascii: "-"))
    add(parts.day, 2)
    text.append(UInt8(ascii: "T"))
    add(parts.hour, 2)
    text.append(UInt8(ascii: ":"))
    add(parts.minute, 2)
    text.append(UInt8(ascii: ":"))
    add(parts.second, 2)
    text.append(UInt8(ascii: "."))
    add(digits == 3 ? micro / 1_000 : micro, digits)
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }

  static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
