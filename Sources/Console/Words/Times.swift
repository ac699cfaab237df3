import Identity
import Templating

/// Moments as people read them, always in UTC, with the machine's form beside.
///
/// The words are made here by hand: a date formatter costs more than the rest of a page.
enum Times {
  /// A day and minute, for what must be exact: `3 Nov 2026, 09:12 UTC`.
  static func moment(_ instant: Instant) -> Markup {
    markup(instant, withTime: true, isPast: false)
  }

  /// A day: `3 Nov 2026`.
  static func day(_ instant: Instant) -> Markup {
    markup(instant, withTime: false, isPast: false)
  }

  /// A moment that the script may turn to “4 minutes ago”.
  static func past(_ instant: Instant) -> Markup {
    markup(instant, withTime: true, isPast: true)
  }

  /// A moment as plain text, for sentences: `3 Nov 2026, 09:12 UTC`.
  static func words(_ instant: Instant) -> String {
    var bytes: [UInt8] = []
    append(instant.calendar, withTime: true, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private typealias Parts = (
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  )

  private static func markup(_ instant: Instant, withTime: Bool, isPast: Bool) -> Markup {
    let parts = instant.calendar
    var bytes: [UInt8] = []
    bytes.reserveCapacity(80)
    bytes += opening
    pair(parts.year / 100, to: &bytes)
    pair(parts.year % 100, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    pair(parts.month, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    pair(parts.day, to: &bytes)
    bytes.append(UInt8(ascii: "T"))
    pair(parts.hour, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(parts.minute, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(parts.second, to: &bytes)
    bytes += isPast ? endOfPast : end
    append(parts, withTime: withTime, to: &bytes)
    bytes += closing
    return Markup(trusted: bytes)
  }

  private static func append(_ parts: Parts, withTime: Bool, to bytes: inout [UInt8]) {
    if parts.day > 9 { bytes.append(UInt8(ascii: "0") + UInt8(parts.day / 10)) }
    bytes.append(UInt8(ascii: "0") + UInt8(parts.day % 10))
    bytes += months[parts.month - 1]
    pair(parts.year / 100, to: &bytes)
    pair(parts.year % 100, to: &bytes)
    guard withTime else { return }
    bytes.append(UInt8(ascii: ","))
    bytes.append(UInt8(ascii: " "))
    pair(parts.hour, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(parts.minute, to: &bytes)
    bytes += zone
  }

  /// Adds two digits of a number below 100.
  private static func pair(_ number: Int, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  private static let opening = Array("<time datetime=\"".utf8)
  private static let end = Array("Z\">".utf8)
  private static let endOfPast = Array("Z\" data-ago>".utf8)
  private static let closing = Array("</time>".utf8)
  private static let zone = Array(" UTC".utf8)
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ].map { Array(" \($0) ".utf8) }
}
