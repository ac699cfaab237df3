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
