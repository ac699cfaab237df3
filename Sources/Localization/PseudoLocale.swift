extension Catalog {
  /// Returns a catalog whose texts are recognizable but still readable: accented, with every vowel
  /// doubled, at least 40% longer, and in brackets.
  ///
  /// Text that isn't in brackets isn't a message, and a page that breaks has no space for
  /// longer languages. Arguments, tags, and code stay as they are.
  ///
  /// - Parameter rightToLeft: Whether texts run from right to left.
  /// - Returns: A catalog with the locale `en-XA` or `ar-XB`.
  public static func pseudo(rightToLeft: Bool = false) -> Catalog {
    Catalog(
      locale: rightToLeft ? "ar-XB" : "en-XA", formats: english.formats,
      change: { $0.pseudo(rightToLeft) })
  }
}

extension Pattern {
  fileprivate func pseudo(_ rightToLeft: Bool) -> Pattern {
    var result: [Piece] = [.text("⟦")]
    var (isCode, isInTag) = (false, false)
    var length = Length()
    for piece in pieces {
      guard case .text(let text) = piece else {
        result.append(piece)
        continue
      }
      // A tag can contain arguments, so it can go on in a later piece.
      let tag = isInTag ? text.prefix(through: ">") : ""
      let rest = text.dropFirst(tag.count)
      isInTag = isInTag && tag.last != ">" || rest.opensTag
      result.append(.text(tag + Self.pseudo(String(rest), rightToLeft, &isCode, &length)))
    }
    result.append(.text(length.padding + "⟧"))
    // Joined, so that a message without arguments stays plain.
    return Pattern(
      pieces: result.reduce(into: []) { joined, piece in
        if case .text(let last)? = joined.last, case .text(let text) = piece {
          joined[joined.count - 1] = .text(last + text)
        } else {
          joined.append(piece)
        }
      })
  }

  private static func pseudo(
    _ text: String, _ rightToLeft: Bool, _ isCode: inout Bool, _ length: inout Length
  ) -> String {
    var result = ""
    var rest = text[...]
    while let first = rest.first {
      if let kept = rest.prefixMatch(of: /<\/?([a-z]+)[^>]*(?:>|$)|&[#a-zA-Z0-9]+;/) {
        if let name = kept.1, name == "code" || name == "kbd" { isCode = !kept.0.hasPrefix("</") }
        result += kept.0
        rest = rest[kept.range.upperBound...]
        continue
      }
      let run = rest.dropFirst().prefix { $0 != "<" && $0 != "&" }
      let chunk = String(first) + run
      let changed = isCode ? chunk : chunk.reduce(into: "") { $0 += accented($1) }
      if !isCode { length.add(chunk, changed) }
      result += rightToLeft ? "\u{202E}\(changed)\u{202C}" : changed
      rest = rest[run.endIndex...]
    }
    return result
  }

  private static func accented(_ letter: Character) -> String {
    guard let mark = accents[letter] else { return String(letter) }
    return "aeiouyAEIOUY".contains(letter) ? mark + mark.lowercased() : mark
  }

  private static let accents: [Character: String] = {
    let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    let marked = "åƀçđéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýžÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽ"
    return Dictionary(uniqueKeysWithValues: zip(plain, marked.map(String.init)))
  }()
}

/// The characters of a text and of its replacement, without tags and code.
private struct Length {
  private var before = 0
  private var after = 0
  private var hasLetters = false

  mutating func add(_ text: String, _ replacement: String) {
    before += text.count
    after += replacement.count
    hasLetters = hasLetters || text.contains(where: \.isLetter)
  }

  /// The dots without which the replacement would be less than 40% longer, in pairs that a line can
  /// end between; none for a text without letters.
  var padding: String {
    let missing = hasLetters ? (before * 14 + 9) / 10 - after : 0
    return (0..<max(missing, 0)).reduce(into: "") { $0 += $1 % 3 == 2 ? " " : "·" }
  }
}

extension StringProtocol {
  /// The text through the first `end`; all of it if there's none.
  fileprivate func prefix(through end: Character) -> String {
    firstIndex(of: end).map { String(self[...$0]) } ?? String(self)
  }

  /// Whether the last tag isn't closed.
  fileprivate var opensTag: Bool {
    guard let start = lastIndex(of: "<") else { return false }
    return !self[start...].contains(">")
  }
}
