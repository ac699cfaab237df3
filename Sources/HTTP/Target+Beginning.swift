extension Target {
  /// Parses a malformed target up to the first path segment that can't be decoded.
  ///
  /// The result shows which API or page a request was for, so that its error has the right format.
  public static func beginning(of text: String) -> Target? {
    // As bytes: the text is unchecked, and comparing its characters can be slow.
    let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let slash = UInt8(ascii: "/")
    guard path.first == slash, var readable = Target("/") else { return nil }
    var begun = ""
    // The first few segments are enough; more would be wasted work on malformed input.
    let segments = path.dropFirst().split(
      separator: slash, maxSplits: 4, omittingEmptySubsequences: false)
    for segment in segments.prefix(4) {
      begun += "/" + String(Substring(segment))
      guard let longer = Target(begun) else { break }
      readable = longer
    }
    return readable
  }
}
