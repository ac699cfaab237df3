import HTTP

/// Text that is gathered for a log, and the ways to write JSON into it.
struct LogLine {
  private(set) var bytes: [UInt8] = []
  private var second: UInt64 = .max
  private var secondText: [UInt8] = []

  /// The most bytes of a path that are shown.
  private static let longestPath = 1024

  /// Takes the text out, and leaves an empty one with the room of another.
  mutating func take(leaving room: [UInt8]) -> [UInt8] {
    var room = room
    room.removeAll(keepingCapacity: true)
    swap(&room, &bytes)
    return room
  }

  /// A text that stands in the program, as it is.
  mutating func raw(_ text: StaticString) {
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// The twelve characters of an id.
  mutating func characters(of id: RequestID) {
    for index in 0..<12 { bytes.append(id.character(index)) }
  }

  /// A number.
  mutating func number(_ value: Int) {
    if (0...9).contains(value) {
      bytes.append(UInt8(ascii: "0") + UInt8(value))
    } else {
      bytes.append(contentsOf: String(value).utf8)
    }
  }

  /// A number of thousandths, such as 1.234.
  mutating func thousandths(_ value: Int) {
    number(value / 1000)
    bytes.append(UInt8(ascii: "."))
    digits(value % 1000, 3)
  }

  /// The content of a JSON string: everything but plain printable ASCII is escaped.
  mutating func escaped(_ text: String) {
    escaped(text.utf8.span, upTo: text.utf8.count)
  }

  /// The content of a JSON string: a target up to its query, cut when it is long.
  mutating func escaped(path target: String) {
    let span = target.utf8.span
    var end = 0
    while end < span.count, end < LogLine.longestPath, span[end] != UInt8(ascii: "?") { end += 1 }
    escaped(span, upTo: end)
  }

  private mutating func escaped(_ span: borrowing Span<UInt8>, upTo end: Int) {
    for index in 0..<end {
      let byte = span[index]
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x20...0x7E: bytes.append(byte)
      default:
        raw("\\u00")
        bytes.append(LogLine.hexadecimal(byte >> 4))
        bytes.append(LogLine.hexadecimal(byte & 15))
      }
    }
  }

  private static func hexadecimal(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// A moment as RFC 3339 writes it, in UTC with milliseconds.
  mutating func time(_ unixMilliseconds: UInt64) {
    if unixMilliseconds / 1000 != second {
      second = unixMilliseconds / 1000
      secondText = LogLine.text(ofSecond: Int(second))
    }
    bytes.append(contentsOf: secondText)
    bytes.append(UInt8(ascii: "."))
    digits(Int(unixMilliseconds % 1000), 3)
    bytes.append(UInt8(ascii: "Z"))
  }

  private mutating func digits(_ value: Int, _ count: Int) {
    var scale = 1
    for _ in 1..<count { scale *= 10 }
    while scale > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(value / scale % 10))
      scale /= 10
    }
  }

  /// A second since 1970 as `2026-01-31T23:59:59`, by the proleptic Gregorian calendar.
  private static func text(ofSecond second: Int) -> [UInt8] {
    let days = second / 86400
    let time = second % 86400
    // Years are counted from March, so that the leap day is the last of its year.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    var line = LogLine()
    line.digits(year, 4)
    line.raw("-")
    line.digits(month, 2)
    line.raw("-")
    line.digits(dayOfYear - (153 * marchMonth + 2) / 5 + 1, 2)
    line.raw("T")
    line.digits(time / 3600, 2)
    line.raw(":")
    line.digits(time / 60 % 60, 2)
    line.raw(":")
    line.digits(time % 60, 2)
    return line.bytes
  }
}
