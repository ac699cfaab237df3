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
    bytes.reserveCapacity(96)
    bytes.append(contentsOf: "<time datetime=\"".utf8)
    append(parts.year, width: 4, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    append(parts.month, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    append(parts.day, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: "T"))
    append(parts.hour, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(parts.minute, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(parts.second, width: 2, to: &bytes)
    bytes.append(contentsOf: isPast ? "Z\" data-ago>".utf8 : "Z\">".utf8)
    append(parts, withTime: withTime, to: &bytes)
    bytes.append(contentsOf: "</time>".utf8)
    return Markup(trusted: bytes)
  }

  private static func append(_ parts: Parts, withTime: Bool, to bytes: inout [UInt8]) {
    append(parts.day, width: 1, to: &bytes)
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: months[parts.month - 1])
    bytes.append(UInt8(ascii: " "))
    append(parts.year, width: 4, to: &bytes)
    guard withTime else { return }
    bytes.append(contentsOf: ", ".utf8)
    append(parts.hour, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(parts.minute, width: 2, to: &bytes)
    bytes.append(contentsOf: " UTC".utf8)
  }

  /// Adds a number with at least `width` digits.
  private static func append(_ number: Int, width: Int, to bytes: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<width { divisor *= 10 }
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  private static let months: [[UInt8]] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ].map { Array($0.utf8) }
}
