/// The source of a message, between `{{%}}` and `{{/%}}`.
enum MessageSource {
  /// Returns the text, or the texts around `{{%other}}`.
  ///
  /// A line break, with the space around it, is one space.
  static func texts(_ source: ArraySlice<UInt8>) -> [String] {
    String(decoding: source, as: UTF8.self)
      .split(separator: "{{%other}}", omittingEmptySubsequences: false)
      .map { text in
        text.split { $0.isNewline }.map(trimmed).filter { !$0.isEmpty }.joined(separator: " ")
      }
  }

  private static func trimmed(_ line: Substring) -> Substring {
    var line = line.drop { $0 == " " || $0 == "\t" }
    while let last = line.last, last == " " || last == "\t" { line.removeLast() }
    return line
  }
}
