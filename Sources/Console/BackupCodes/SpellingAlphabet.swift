import Localization
import Templating

/// The NATO phonetic alphabet, for reading codes aloud on the phone.
enum SpellingAlphabet {
  private static let letters = [
    Message("Alfa"),
    Message("Bravo"),
    Message("Charlie"),
    Message("Delta"),
    Message("Echo"),
    Message("Foxtrot"),
    Message("Golf"),
    Message("Hotel"),
    Message("India"),
    Message("Juliett"),
    Message("Kilo"),
    Message("Lima"),
    Message("Mike"),
    Message("November"),
    Message("Oscar"),
    Message("Papa"),
    Message("Quebec"),
    Message("Romeo"),
    Message("Sierra"),
    Message("Tango"),
    Message("Uniform"),
    Message("Victor"),
    Message("Whiskey"),
    Message("X-ray"),
    Message("Yankee"),
    Message("Zulu"),
  ]
  private static let digits = [
    Message("zero"),
    Message("one"),
    Message("two"),
    Message("three"),
    Message("four"),
    Message("five"),
    Message("six"),
    Message("seven"),
    Message("eight"),
    Message("nine"),
  ]

  static func word(_ character: Character) -> Message {
    switch character.asciiValue {
    case let byte? where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte):
      letters[Int(byte - UInt8(ascii: "A"))]
    case let byte? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte):
      digits[Int(byte - UInt8(ascii: "0"))]
    default: .verbatim("")
    }
  }
}

struct SpelledLetter: ViewModel {
  let letter: Character

  static let keys: Keys<Self> = [
    .text("letter") { String($0.letter) },
    .text("word") { SpellingAlphabet.word($0.letter) },
  ]
}

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
