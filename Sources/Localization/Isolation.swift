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

  /// Returns a text without direction controls that would have an effect after its end: pairs of
  /// isolates stay, and all other controls are dropped.
  ///
  /// The `bdi` element doesn't contain them: an isolate that starts in it and doesn't end takes the
  /// element's end for its own.
  ///
  /// - Parameter text: The text of a `bdi` element.
  /// - Returns: The text, shorter if it had such controls.
  public static func contained(_ text: String) -> String {
    guard text.utf8.contains(0xE2), text.unicodeScalars.contains(where: isDirectionControl) else {
      return text
    }
    var kept: [Unicode.Scalar] = []
    var open: [Int] = []
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x202A...0x202E: continue
      case 0x2066...0x2068: open.append(kept.count)
      case 0x2069: guard open.popLast() != nil else { continue }
      default: break
      }
      kept.append(scalar)
    }
    let unclosed = Set(open)
    var result = String.UnicodeScalarView()
    for (index, scalar) in kept.enumerated() where !unclosed.contains(index) {
      result.append(scalar)
    }
    return String(result)
  }

  private static func isDirectionControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }
}
