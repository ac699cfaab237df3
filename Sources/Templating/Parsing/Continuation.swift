/// Joins the lines of a template that were broken for its readers.
enum Continuation {
  /// The byte in place of a removed line break, which counts as a line in errors and isn't written.
  static let mark: UInt8 = 0x01

  /// Returns the source with a mark in place of each line break before an indented line that starts
  /// with an element or a section, and in place of its indentation; in a message, a line break is a
  /// space.
  static func joining(_ source: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(source.count)
    var index = 0
    var isMessage = false
    while index < source.count {
      if source[index] == UInt8(ascii: "{") {
        if source[index...].starts(with: "{{%".utf8) { isMessage = true }
        if source[index...].starts(with: "{{/%}}".utf8) { isMessage = false }
      }
      guard source[index] == UInt8(ascii: "\n"), !isMessage,
        let start = continuation(source, after: index)
      else {
        result.append(source[index])
        index += 1
        continue
      }
      result.append(mark)
      index = start
    }
    return result
  }

  /// Returns where the next line's text starts, if it continues the line that ends at `newline`.
  private static func continuation(_ source: [UInt8], after newline: Int) -> Int? {
    let rest = source[(newline + 1)...]
    let text = rest.drop { $0 == UInt8(ascii: " ") }
    guard text.count < rest.count else { return nil }
    let starts = ["<", "{{#", "{{^", "{{/"]
    return starts.contains { text.starts(with: $0.utf8) } ? text.startIndex : nil
  }
}
