extension Target {
  /// The part of a badly made target that can be read: its path up to the first segment that
  /// cannot.
  ///
  /// It tells which surface a request was meant for, so that its error comes in the right shape.
  public static func beginning(of text: String) -> Target? {
    // By bytes: nothing has checked this text, and comparing its characters could take long.
    let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let slash = UInt8(ascii: "/")
    guard path.first == slash, var readable = Target("/") else { return nil }
    var begun = ""
    // The first few segments tell the surface; more would be work for whoever sends nonsense.
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
