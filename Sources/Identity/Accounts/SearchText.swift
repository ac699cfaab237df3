import Foundation
import Text

/// What of an account is searched: a folded copy, in which upper case, accents and the width of
/// letters are gone.
///
/// Its lines are the email address, the name, the phone number, the uid, then the enrollment ids
/// and the numbers of phones that are second factors.
struct SearchText: Sendable {
  /// The lines, joined.
  let folded: String
  /// The name's line, by which lists are sorted; nil without a name.
  let name: String?

  /// Of the text as the database has it.
  init(folded: String) {
    self.folded = folded
    let lines = folded.split(separator: "\n", omittingEmptySubsequences: false)
    name =
      lines.count > 1 && !lines[1].isEmpty
      ? String(lines[1].unicodeScalars.prefix(Self.longestSortedName)) : nil
  }

  init(_ account: Account) {
    self.init(
      fields: [account.email, account.displayName, account.phoneNumber, account.id.text],
      factors: account.factors.map { ($0.id.text, $0.phoneNumber) })
  }

  /// Of email, name, phone number and uid, and the ids and numbers of factors.
  init(fields: [String?], factors: [(id: String, phoneNumber: String?)]) {
    var lines = fields.map { Self.folded($0 ?? "") }
    lines += factors.map { Self.folded($0.id) }
    lines += factors.compactMap { $0.phoneNumber.map(Self.folded) }
    self.init(folded: lines.joined(separator: "\n"))
  }

  /// How much of a name lists are sorted by.
  private static let longestSortedName = 60
  /// The most characters of one field that are searched.
  static let longestField = 400

  /// A text without what searches do not tell apart, in one line.
  ///
  /// Compatibility forms become plain ones, and what shows nothing, such as a mark of direction,
  /// goes.
  static func folded(_ text: String) -> String {
    // Before anything reads it: no field of an account is as long, and folding long text is slow.
    let text =
      text.utf8.count <= 4 * longestField
      ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestField)))
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return collapsed(text.lowercased()) }
    let plain = text.decomposedStringWithCompatibilityMapping.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    return collapsed(withoutVowelPoints(plain).precomposedStringWithCanonicalMapping)
  }

  /// Arabic and Hebrew without the points that are written or left out at will, and with one form
  /// of the letters for which Persian and Arabic keyboards have two, or that end a word either way
  /// (teh marbuta and heh).
  private static func withoutVowelPoints(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: continue
      case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E8:
        continue
      case 0x06CC, 0x0649: result.append("\u{064A}")
      case 0x06A9: result.append("\u{0643}")
      case 0x0629, 0x06C1, 0x06C3, 0x06D5: result.append("\u{0647}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// One blank for any row of them, none at the ends, no apostrophes, nothing that can't be seen.
  ///
  /// `O'Brien`, `O’Brien` and `OBrien` are one name to a person who types it.
  private static func collapsed(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var blank = false
    var count = 0
    for scalar in text.unicodeScalars where count < longestField {
      if scalar.value <= 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace {
        blank = count > 0
        continue
      }
      if isApostrophe(scalar) { continue }
      if scalar.value >= 0x80, isInvisible(scalar) { continue }
      if blank {
        result.append(" ")
        count += 1
      }
      blank = false
      result.append(scalar)
      count += 1
    }
    return String(result)
  }

  private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x27, 0x60, 0xB4, 0x02B9, 0x02BB...0x02BD, 0x05F3, 0x2018, 0x2019, 0x201B, 0x2032: true
    default: false
    }
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format
      || properties.generalCategory == .control
  }
}

extension SearchText {
  /// The most beginnings of words that are kept of one account.
  private static let mostBeginnings = 250

  /// The first character and the first two of every word, and of the ids.
  ///
  /// A script without blanks between its words has a beginning at each character.
  var beginnings: Set<UntrustedText> {
    var beginnings: Set<UntrustedText> = []
    let lines = folded.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      let scalars = Array(line.unicodeScalars)
      // An id has no words; of a uuid only the beginning is ever read out.
      let starts = number < 3 ? Self.starts(scalars) : scalars.isEmpty ? [] : [0]
      for start in starts {
        guard beginnings.count < Self.mostBeginnings else { return beginnings }
        beginnings.insert(UntrustedText(String(scalars[start])))
        guard start + 1 < scalars.count, scalars[start + 1] != " " else { continue }
        var two = String.UnicodeScalarView()
        two.append(scalars[start])
        two.append(scalars[start + 1])
        beginnings.insert(UntrustedText(String(two)))
      }
    }
    return beginnings
  }

  private static func starts(_ scalars: [Unicode.Scalar]) -> [Int] {
    scalars.indices.filter { index in
      let scalar = scalars[index]
      guard scalar != " " else { return false }
      guard index > 0, scalars[index - 1] != " " else { return true }
      guard scalar.isPartOfWord else { return scalar.value >= 0x80 }
      return !scalars[index - 1].isPartOfWord || scalar.standsAlone
    }
  }
}

extension Unicode.Scalar {
  /// A letter, a digit, or a mark on one.
  fileprivate var isPartOfWord: Bool {
    switch value {
    case 0x30...0x39, 0x61...0x7A, 0x41...0x5A: return true
    case ..<0x80: return false
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return properties.isAlphabetic || properties.numericType != nil
    }
  }

  /// True in scripts that put no blanks between words: Han, Kana, Hangul, Thai and their like.
  fileprivate var standsAlone: Bool {
    switch value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x3400...0x9FFF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}
