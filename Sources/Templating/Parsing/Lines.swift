/// The lines of a template's source, as the rules about standalone tags see them.
struct Lines {
  let source: [UInt8]

  /// Where the line that holds `offset` begins.
  func start(of offset: Int) -> Int {
    var start = offset
    while start > 0, source[start - 1] != UInt8(ascii: "\n") { start -= 1 }
    return start
  }

  /// The start of the line of `offset`, if there is nothing but blanks in between.
  func startIfBlank(before offset: Int) -> Int? {
    let start = start(of: offset)
    return source[start..<offset].allSatisfy(isBlank) ? start : nil
  }

  /// The start of the line after that of `offset`, if there is nothing but blanks in between.
  func endIfBlank(after offset: Int) -> Int? {
    var end = offset
    while end < source.count, isBlank(source[end]) { end += 1 }
    if end == source.count { return end }
    if source[end] == UInt8(ascii: "\r"), end + 1 < source.count { end += 1 }
    return source[end] == UInt8(ascii: "\n") ? end + 1 : nil
  }

  /// What is left of a tag's place when its line is taken away with it; nil for an inline tag.
  func standalone(_ range: Range<Int>) -> Range<Int>? {
    guard let start = startIfBlank(before: range.lowerBound),
      let end = endIfBlank(after: range.upperBound)
    else { return nil }
    return start..<end
  }

  /// The blanks before the first other character of the lines in `range`; nil if there is none.
  func indentation(of range: Range<Int>) -> ArraySlice<UInt8>? {
    guard let first = source[range].firstIndex(where: { !isWhitespace($0) }) else { return nil }
    return source[max(start(of: first), range.lowerBound)..<first]
  }
}

extension Collection<UInt8> {
  /// What is left after as much of `prefix` as the collection begins with.
  func dropping(prefix: some Collection<UInt8>) -> SubSequence {
    let common = zip(self, prefix).prefix { $0 == $1 }.count
    return dropFirst(common)
  }
}
