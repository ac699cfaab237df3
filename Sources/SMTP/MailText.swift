import Foundation

enum MailText {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Formats a date as in RFC 5322 (section 3.3), in UTC.
  static func date(_ seconds: Int64) -> String {
    let moment = Date(timeIntervalSince1970: Double(seconds))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
    let parts = calendar.dateComponents(
      [.year, .month, .day, .hour, .minute, .second], from: moment)
    let day = (seconds / 86_400 % 7 + 7) % 7
    let time = [parts.hour, parts.minute, parts.second].map { pair($0 ?? 0) }
    return """
      \(days[Int(day)]), \(pair(parts.day ?? 1)) \(months[(parts.month ?? 1) - 1]) \
      \(parts.year ?? 1970) \(time.joined(separator: ":")) +0000
      """
  }

  private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Encodes header text: unchanged if it's short and plain, otherwise as encoded words (RFC 2047).
  static func line(_ text: String) -> String {
    isPlain(text) && text.utf8.count <= 66 && !text.contains("=?") ? text : mimeEncodedWords(text)
  }

  /// Encodes a display name: quoted if it's short and plain, otherwise as encoded words.
  static func phrase(_ name: String) -> String {
    guard isPlain(name), name.utf8.count <= 66, !name.contains("=?") else {
      return mimeEncodedWords(name)
    }
    return "\"\(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (32...126).contains($0) }
  }

  /// The maximum size of an encoded word's text, in bytes: 52 characters of Base64.
  private static let longestPart = 39

  /// Returns encoded words of at most 75 characters that don't split Unicode characters, on lines
  /// of at most 76, including the name of the first line's field (RFC 2047 sections 2 and 5).
  private static func mimeEncodedWords(_ text: String) -> String {
    var words: [String] = []
    var part: [UInt8] = []
    func end() {
      words.append("=?UTF-8?B?\(Data(part).base64EncodedString())?=")
      part = []
    }
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if part.count + bytes.count > longestPart { end() }
      part += bytes
    }
    if !part.isEmpty || words.isEmpty { end() }
    return words.joined(separator: "\r\n ")
  }

  /// Encodes text as quoted-printable (RFC 2045 section 6.7): lines of at most 76 characters that
  /// end with CR LF, regardless of the text's own line breaks.
  static func quotedPrintable(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    for line in lines(text) {
      var width = 0
      for (index, byte) in line.enumerated() {
        let isBlank = byte == 32 || byte == 9
        let isLast = index == line.count - 1
        let isLiteral =
          isBlank ? !isLast : (33...126).contains(byte) && byte != UInt8(ascii: "=")
        let length = isLiteral ? 1 : 3
        if width + length > 75 {
          result += [UInt8(ascii: "="), 13, 10]
          width = 0
        }
        result += isLiteral ? [byte] : [UInt8(ascii: "="), digit(byte >> 4), digit(byte & 15)]
        width += length
      }
      result += [13, 10]
    }
    return result
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func lines(_ text: String) -> [[UInt8]] {
    var lines: [[UInt8]] = [[]]
    var last: UInt8 = 0
    for byte in text.utf8 {
      if byte == 10, last == 13 {
        last = byte
        continue
      }
      if byte == 10 || byte == 13 {
        lines.append([])
      } else {
        lines[lines.count - 1].append(byte)
      }
      last = byte
    }
    if lines.last == [] { lines.removeLast() }
    return lines
  }
}
