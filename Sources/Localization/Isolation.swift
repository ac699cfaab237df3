/// Isolates names, so that they can't change the direction of the text around them.
public enum Isolation {
  /// Returns a name between direction isolates; a name in ASCII needs none.
  ///
  /// Direction controls in the name are dropped because one of them could end the isolation.
  public static func isolated(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
    var text = String.UnicodeScalarView()
    text.append("\u{2068}")
    for scalar in name.unicodeScalars where !isDirectionControl(scalar) { text.append(scalar) }
    text.append("\u{2069}")
    return String(text)
  }

  private static func isDirectionControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }
}
