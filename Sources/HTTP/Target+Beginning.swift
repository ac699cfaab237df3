extension Target {
  /// The part of a badly made target that can be read: its path up to the first segment that
  /// cannot.
  ///
  /// It tells which surface a request was meant for, so that its error comes in the right shape.
  public static func beginning(of text: String) -> Target? {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    guard path.utf8.first == UInt8(ascii: "/"), var readable = Target("/") else { return nil }
    var begun = ""
    // The first few segments tell the surface; more would be work for whoever sends nonsense.
    for segment in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).prefix(
      4)
    {
      begun += "/\(segment)"
      guard let longer = Target(begun) else { break }
      readable = longer
    }
    return readable
  }
}
