import Localization
import Templating

/// The NATO phonetic alphabet, for reading codes aloud on the phone.
enum SpellingAlphabet {
  private static let letters = [
    Message("backup-codes.letter-a"),
    Message("backup-codes.letter-b"),
    Message("backup-codes.letter-c"),
    Message("backup-codes.letter-d"),
    Message("backup-codes.letter-e"),
    Message("backup-codes.letter-f"),
    Message("backup-codes.letter-g"),
    Message("backup-codes.letter-h"),
    Message("backup-codes.letter-i"),
    Message("backup-codes.letter-j"),
    Message("backup-codes.letter-k"),
    Message("backup-codes.letter-l"),
    Message("backup-codes.letter-m"),
    Message("backup-codes.letter-n"),
    Message("backup-codes.letter-o"),
    Message("backup-codes.letter-p"),
    Message("backup-codes.letter-q"),
    Message("backup-codes.letter-r"),
    Message("backup-codes.letter-s"),
    Message("backup-codes.letter-t"),
    Message("backup-codes.letter-u"),
    Message("backup-codes.letter-v"),
    Message("backup-codes.letter-w"),
    Message("backup-codes.letter-x"),
    Message("backup-codes.letter-y"),
    Message("backup-codes.letter-z"),
  ]
  private static let digits = [
    Message("backup-codes.digit-0"),
    Message("backup-codes.digit-1"),
    Message("backup-codes.digit-2"),
    Message("backup-codes.digit-3"),
    Message("backup-codes.digit-4"),
    Message("backup-codes.digit-5"),
    Message("backup-codes.digit-6"),
    Message("backup-codes.digit-7"),
    Message("backup-codes.digit-8"),
    Message("backup-codes.digit-9"),
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
