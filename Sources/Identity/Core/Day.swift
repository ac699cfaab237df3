/// A calendar day without a time zone.
public struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The year, 0 to 9999; days that forms send have at least 1970.
  public let year: Int
  public let month: Int
  public let day: Int

  /// Parses a day such as `2026-12-01`, as forms send it; nil if the text is malformed or the day
  /// doesn't exist.
  public init?(_ text: String) {
    guard let day = Day(anyYear: text), day.year >= Self.first.year else { return nil }
    self = day
  }

  /// Parses a day of the years 1 to 9999.
  init?(anyYear text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 10 else { return nil }
    var numbers = [0, 0, 0]
    var part = 0
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 7 {
        guard byte == UInt8(ascii: "-") else { return nil }
        part += 1
      } else {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        numbers[part] = numbers[part] * 10 + Int(byte - UInt8(ascii: "0"))
      }
    }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    guard year >= 1, (1...12).contains(month), day >= 1, day <= Self.days(of: month, in: year)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  public static let first = Day(Instant(seconds: 0))
  public static let last = Day(year: 9_999, month: 12, day: 31)

  private init(year: Int, month: Int, day: Int) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// Creates the UTC day of a time.
  public init(_ instant: Instant) {
    let parts = instant.calendar
    (year, month, day) = (parts.year, parts.month, parts.day)
  }

  /// The day in ISO 8601 format, such as `2026-12-01`.
  public var description: String {
    func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(pair(year / 100))\(pair(year % 100))-\(pair(month))-\(pair(day))"
  }

  public static func < (one: Day, other: Day) -> Bool {
    (one.year, one.month, one.day) < (other.year, other.month, other.day)
  }

  private static func days(of month: Int, in year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }
}

extension Day {
  /// The next day; the last representable day returns itself.
  public var next: Day { Day(start.advanced(bySeconds: 86_400)) }

  /// The start of the day in UTC.
  public var start: Instant {
    // Counts in eras of 400 years that begin on March 1.
    let shifted = Int64(month <= 2 ? year - 1 : year)
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Instant(seconds: (era * 146_097 + dayOfEra - 719_468) * 86_400)
  }
}
