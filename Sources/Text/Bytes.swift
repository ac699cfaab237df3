extension String {
  /// Returns whether the UTF-8 bytes are identical.
  ///
  /// Lengths are compared first, and nothing is normalized.
  public func isSameBytes(as other: String) -> Bool {
    // Most texts differ in length, which costs less to read than a span.
    guard utf8.count == other.utf8.count else { return false }
    let one = utf8Span.span
    let other = other.utf8Span.span
    for index in one.indices where one[index] != other[index] { return false }
    return true
  }

  /// Returns whether the UTF-8 bytes are identical except for the case of ASCII letters, as in
  /// protocol tokens.
  public func isSameToken(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let one = utf8Span.span
    let other = other.utf8Span.span
    func lowercased(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
    for index in one.indices where lowercased(one[index]) != lowercased(other[index]) {
      return false
    }
    return true
  }

  /// Hashes the UTF-8 bytes, consistently with `isSameBytes(as:)`.
  public func hashBytes(into hasher: inout Hasher) {
    let bytes = utf8Span.span
    var word: UInt64 = 0
    for index in bytes.indices {
      word = word << 8 | UInt64(bytes[index])
      if index & 7 == 7 {
        hasher.combine(word)
        word = 0
      }
    }
    hasher.combine(word)
    hasher.combine(bytes.count)
  }

  /// Returns whether the text begins with the bytes of `prefix`.
  public func hasSameBytes(atStart prefix: String) -> Bool {
    utf8.count >= prefix.utf8.count && utf8.starts(with: prefix.utf8)
  }

  /// Returns whether the text ends with the bytes of `suffix`.
  public func hasSameBytes(atEnd suffix: String) -> Bool {
    utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}
