import Localization
import Testing

@testable import countersign

/// Text from outside can't control the terminal that it's printed to.
struct TerminalTests {
  private static let hostile =
    "\u{1B}]0;x\u{7}\u{9B}2J\r\n\t\u{85}\u{2028}\u{202E}\u{2066}\u{E0041}"
  private static let escaped =
    #"\u001B]0;x\u0007\u009B2J\u000D\u000A\u0009\u0085\u2028\u202E\u2066\uDB40\uDC41"#

  @Test func `no value of a message controls the terminal`() {
    let values: [(hostile: Message.Value, harmless: Message.Value)] = [
      (.text(Self.hostile), .text(Self.escaped)),
      (.message(.verbatim(Self.hostile)), .text(Self.escaped)),
      (.sequence([.verbatim(Self.hostile)]), .text(Self.escaped)),
      (.list([.value(.text(Self.hostile))]), .text(Self.escaped)),
      (.choice([.verbatim(Self.hostile)]), .text(Self.escaped)),
    ]
    for value in values {
      func printed(_ value: Message.Value) -> [String] {
        [
          Message("Unknown option {word}.", ["word": value]),
          Message(
            one: "{count} of {x}", other: "{count} in {x}", ["count": .number(2), "x": value]),
        ].map(OperatorText.string)
      }
      let (shown, expected) = (printed(value.hostile), printed(value.harmless))
      #expect(shown.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }
  }

  @Test func `a text that isn't translated is escaped as well`() {
    let printed = OperatorText.string(.verbatim(Self.hostile))
    #expect(Array(printed.utf8) == Array(Self.escaped.utf8))
  }

  @Test func `every control character, line end, and direction control is escaped`() {
    for number in [0...UInt32(0x1FFFF), 0xE0000...0xE0FFF].joined() {
      guard let scalar = Unicode.Scalar(number) else { continue }
      let text = String(scalar)
      let isEscaped = Array(Terminal.escaped(text).utf8) != Array(text.utf8)
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: #expect(isEscaped, "\(number)")
      case .format: #expect(isEscaped == (number != 0x200C && number != 0x200D), "\(number)")
      default: if isEscaped { Issue.record("\(number) is escaped") }
      }
    }
  }

  @Test(arguments: [
    ("\u{1B}[2K\rvalid", #"\u001B[2K\u000Dvalid"#),
    ("\u{7F}\u{85}\u{9B}1A", #"\u007F\u0085\u009B1A"#),
    ("a\u{0}b\r\n", #"a\u0000b\u000D"# + "\n"), ("Zo\u{EB}\tx\ny", "Zo\u{EB}\tx\ny"),
    ("{\"a\": \"\u{202E}\u{1D173}\"}\n", #"{"a": "\u202E\uD834\uDD73"}"# + "\n"),
  ])
  func `a document keeps its lines and columns`(text: String, shown: String) {
    #expect(Array(Terminal.visible(text).utf8) == Array(shown.utf8))
  }
}
