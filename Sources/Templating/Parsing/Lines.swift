/// The lines of a template's source, for the rules about standalone tags.
struct Lines {
  let source: [UInt8]
  /// Where each line starts, in order; joined lines are long, so they aren't searched each time.
  private let starts: [Int]

  init(source: [UInt8]) {
    self.source = source
    var starts = [0]
    for (index, byte) in source.enumerated() where byte == UInt8(ascii: "\n") {
      starts.append(index + 1)
    }
    self.starts = starts
  }

  func start(of offset: Int) -> Int {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return starts[low]
  }

  /// Returns the start of the line that contains `offset`, if only blanks are in between.
  func startIfBlank(before offset: Int) -> Int? {
    let start = start(of: offset)
    return source[start..<offset].allSatisfy(isBlank) ? start : nil
  }

  /// Returns the start of the next line, if only blanks are in between.
  func endIfBlank(after offset: Int) -> Int? {
    var end = offset
    while end < source.count, isBlank(source[end]) { end += 1 }
    if end == source.count { return end }
    if source[end] == UInt8(ascii: "\r"), end + 1 < source.count { end += 1 }
    return source[end] == UInt8(ascii: "\n") ? end + 1 : nil
  }

  /// Returns the range of a standalone tag including its line; nil for an inline tag.
  func standalone(_ range: Range<Int>) -> Range<Int>? {
    guard let start = startIfBlank(before: range.lowerBound),
      let end = endIfBlank(after: range.upperBound)
    else { return nil }
    return start..<end
  }

  /// Returns the blanks before the first other character in `range`; nil if there is none.
  func indentation(of range: Range<Int>) -> ArraySlice<UInt8>? {
    guard let first = source[range].firstIndex(where: { !isWhitespace($0) }) else { return nil }
    return source[max(start(of: first), range.lowerBound)..<first]
  }
}

extension Collection<UInt8> {
  /// Returns the collection without the longest common prefix with `prefix`.
  func dropping(prefix: some Collection<UInt8>) -> SubSequence {
    let common = zip(self, prefix).prefix { $0 == $1 }.count
    return dropFirst(common)
  }
}

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
