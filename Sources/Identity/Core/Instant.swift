public import Database
import Dispatch

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

extension Instant {
  /// Parses an RFC 3339 time such as `2026-09-24T10:15:00.123456Z`, with `Z` or an offset; nil if
  /// the text is malformed, or the time in UTC isn't in the years 1 to 9999.
  ///
  /// Digits beyond microseconds are truncated.
  public init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.count <= 40, let day = Day(anyYear: String(text.prefix(10))),
      bytes[10] | 0x20 == UInt8(ascii: "t"), bytes[13] == Self.colon, bytes[16] == Self.colon,
      let hour = Self.pair(bytes, 11), let minute = Self.pair(bytes, 14),
      let second = Self.pair(bytes, 17), hour < 24, minute < 60, second <= 60
    else { return nil }
    var place = 19
    var fraction: Int64 = 0
    if bytes[place] == UInt8(ascii: ".") {
      place += 1
      let start = place
      while place < bytes.count, let digit = Self.digit(bytes[place]) {
        if place - start < 6 { fraction = fraction * 10 + digit }
        place += 1
      }
      guard place > start else { return nil }
      for _ in min(place - start, 6)..<6 { fraction *= 10 }
    }
    guard let offset = Self.offset(bytes[place...]) else { return nil }
    let seconds = day.start.seconds + hour * 3_600 + minute * 60 + min(second, 59) - offset
    guard (Self.firstParsed...Self.range.upperBound).contains(seconds) else { return nil }
    self.init(microseconds: seconds * 1_000_000 + fraction)
  }

  /// 0001-01-01T00:00:00Z, the first timestamp of protocol buffers.
  private static let firstParsed: Int64 = -62_135_596_800

  private static let colon = UInt8(ascii: ":")

  /// Parses a time zone offset, `Z` or `+hh:mm`, in seconds.
  private static func offset(_ bytes: ArraySlice<UInt8>) -> Int64? {
    let bytes = Array(bytes)
    if bytes.count == 1, bytes[0] | 0x20 == UInt8(ascii: "z") { return 0 }
    guard bytes.count == 6, bytes[3] == colon, let hours = pair(bytes, 1),
      let minutes = pair(bytes, 4), hours < 24, minutes < 60
    else { return nil }
    switch bytes[0] {
    case UInt8(ascii: "+"): return hours * 3_600 + minutes * 60
    case UInt8(ascii: "-"): return -(hours * 3_600 + minutes * 60)
    default: return nil
    }
  }

  private static func digit(_ byte: UInt8) -> Int64? {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
  }

  private static func pair(_ bytes: [UInt8], _ index: Int) -> Int64? {
    guard let tens = digit(bytes[index]), let ones = digit(bytes[index + 1]) else { return nil }
    return tens * 10 + ones
  }
}

extension Instant: SQLConvertible {
  /// Reads a time in microseconds since 1970.
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> Instant {
    Instant(microseconds: try Int64.read(row, column))
  }

  /// The time in microseconds since 1970.
  public var sqlValue: SQLValue { .integer(microseconds) }
}

/// Times that were stored by a clock that was ahead don't hold once it's set back.
extension Instant {
  /// How far in the future a stored time may be, in seconds: the clocks of servers differ, and each
  /// is adjusted.
  private static let tolerance: Int64 = 120

  /// Returns whether a stored time is further in the future than clocks differ.
  package func isInFuture(at now: Instant) -> Bool {
    self > Self.latest(at: now)
  }

  /// Returns whether what was stored at this time gives way to what was asked for at another one.
  func isOlder(than asked: Instant, at now: Instant) -> Bool { self < asked || isInFuture(at: now) }

  /// Returns the latest stored time that isn't in the future.
  static func latest(at now: Instant) -> Instant { now.advanced(bySeconds: tolerance) }

  /// Returns whether something happened less than this many seconds ago, and not in the future.
  func isRecent(within seconds: Int64, at now: Instant) -> Bool {
    !isInFuture(at: now) && now < advanced(bySeconds: seconds)
  }

  /// Returns whether this is after a time, by a number of days at most.
  func isWithin(days: Int, after now: Instant) -> Bool {
    self > now && self <= now.advanced(bySeconds: Int64(days) * 86_400)
  }

  /// Returns whether what began at this time isn't over, and didn't begin in the future.
  func lasts(_ seconds: Int64, at now: Instant) -> Bool {
    !isInFuture(at: now) && now <= advanced(bySeconds: seconds)
  }

  /// Returns the end of a wait that isn't over yet; nil if it's over, or further away than the longest
  /// wait.
  func pending(for longest: Int64, at now: Instant) -> Instant? {
    self > now && self <= Self.latestEnd(of: longest, at: now) ? self : nil
  }

  /// Returns the latest time at which a wait of at most this many seconds can end.
  static func latestEnd(of longest: Int64, at now: Instant) -> Instant {
    now.advanced(bySeconds: longest + tolerance)
  }
}

/// The source of the current time.
///
/// Use cases never read the system clock directly; tests pass a fixed clock.
public struct WallClock: Sendable {
  public let now: @Sendable () -> Instant

  public init(_ now: @escaping @Sendable () -> Instant) { self.now = now }

  /// Returns the time since boot, including sleep, from a clock that can't be adjusted.
  public static let sinceBoot: @Sendable () -> Duration = {
    ContinuousClock().systemEpoch.duration(to: .now)
  }

  public static let system = WallClock {
    let wall = DispatchWallTime.now().rawValue
    // Dispatch represents wall time as negative nanoseconds since 1970.
    let nanoseconds = Int64(bitPattern: wall)
    return Instant(microseconds: (nanoseconds < 0 ? -nanoseconds : nanoseconds) / 1_000)
  }
}
