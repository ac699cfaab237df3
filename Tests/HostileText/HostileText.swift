/// Text that is expensive to normalize, and plain text of the same length.
public enum HostileText {
  /// Returns a letter with as many combining marks as fit, which normalization must reorder.
  ///
  /// - Parameter size: The size of the text in bytes; an even size gets one more letter.
  /// - Returns: The text.
  public static func marks(_ size: Int) -> String {
    let pairs = String(repeating: "\u{301}\u{323}", count: size / 4)
    let text = "a" + pairs
    return text.utf8.count > size
      ? "a" + String(String.UnicodeScalarView(pairs.unicodeScalars.dropLast()))
        + String(repeating: "a", count: size % 2 == 0 ? 1 : 0)
      : text + String(repeating: "a", count: size - text.utf8.count)
  }

  /// Returns letters with thirty marks each, the most that's accepted in a row.
  public static func acceptedMarks(_ size: Int) -> String {
    let cluster = "a" + String(repeating: "\u{301}\u{323}", count: 15)
    let text = String(repeating: cluster, count: size / cluster.utf8.count)
    return text + String(repeating: "a", count: size - text.utf8.count)
  }

  /// Returns ASCII text with the given size in bytes.
  public static func plain(_ size: Int) -> String { String(repeating: "a", count: size) }

  /// Returns a text with non-ASCII bytes percent-encoded, as in a form or query.
  public static func coded(_ text: String) -> String {
    String(
      decoding: text.utf8.flatMap { byte -> [UInt8] in
        guard byte >= 0x80 else { return [byte] }
        return [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { Array("0123456789ABCDEF".utf8)[Int(value)] }
}
