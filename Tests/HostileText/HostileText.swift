/// Text that is expensive to normalize, and plain text of the same length.
public enum HostileText {
  /// A letter with as many combining marks as fit, in an order that normalization must sort.
  ///
  /// - Parameter size: The bytes of the text; an even number gets one letter more.
  /// - Returns: The text.
  public static func marks(_ size: Int) -> String {
    let pairs = String(repeating: "\u{301}\u{323}", count: size / 4)
    let text = "a" + pairs
    return text.utf8.count > size
      ? "a" + String(String.UnicodeScalarView(pairs.unicodeScalars.dropLast()))
        + String(repeating: "a", count: size % 2 == 0 ? 1 : 0)
      : text + String(repeating: "a", count: size - text.utf8.count)
  }

  /// Letters with thirty marks each: the most that is accepted in a row.
  public static func acceptedMarks(_ size: Int) -> String {
    let cluster = "a" + String(repeating: "\u{301}\u{323}", count: 15)
    let text = String(repeating: cluster, count: size / cluster.utf8.count)
    return text + String(repeating: "a", count: size - text.utf8.count)
  }

  /// ASCII of so many bytes.
  public static func plain(_ size: Int) -> String { String(repeating: "a", count: size) }

  /// The bytes of a text as a form or a query writes them.
  public static func coded(_ text: String) -> String {
    String(
      decoding: text.utf8.flatMap { byte -> [UInt8] in
        guard byte >= 0x80 else { return [byte] }
        return [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { Array("0123456789ABCDEF".utf8)[Int(value)] }
}
