import Templating

/// The NATO phonetic alphabet, for reading codes aloud on the phone.
enum CodeWords {
  private static let letters = [
    "Alfa", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliett",
    "Kilo", "Lima", "Mike", "November", "Oscar", "Papa", "Quebec", "Romeo", "Sierra", "Tango",
    "Uniform", "Victor", "Whiskey", "X-ray", "Yankee", "Zulu",
  ]
  private static let digits = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
  ]

  static func word(_ character: Character) -> String {
    guard let byte = character.asciiValue else { return "" }
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): return letters[Int(byte - UInt8(ascii: "A"))]
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return digits[Int(byte - UInt8(ascii: "0"))]
    default: return ""
    }
  }
}

/// A character of a code with its code word.
struct SpelledLetter: ViewModel {
  let letter: Character

  static let keys: Keys<Self> = [
    .text("letter") { String($0.letter) },
    .text("word") { CodeWords.word($0.letter) },
  ]
}

/// A group of characters of a code.
struct SpelledGroup: ViewModel {
  let letters: [SpelledLetter]

  /// Returns the groups of a code, which are separated by hyphens.
  static func groups(_ code: String) -> [SpelledGroup] {
    code.split(separator: "-").map { part in
      SpelledGroup(letters: part.map { SpelledLetter(letter: $0) })
    }
  }

  static let keys: Keys<Self> = [.list("letters") { $0.letters }]
}
