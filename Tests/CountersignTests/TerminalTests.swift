import Localization
import Testing

@testable import countersign

/// Text from outside can't control the terminal that it's printed to.
struct TerminalTests {
  private static let hostile =
    "\u{1B}]0;x\u{7}\u{9B}2J\r\n\t\u{85}\u{2028}\u{202E}\u{2066}\u{E0041}"
  private static let escaped =
    #"\u001B]0;x\u0007\u009B2J\u000D\u000A\u0009\u0085\u2028\u202E\u2066\uDB40\uDC41"#

  /// Every message of the command line, with every value that it has.
  private static let messages: [(key: String, arguments: [String], isPlural: Bool)] = {
    do {
      let catalog = try Catalog(
        english: String(decoding: PackageResources.messages_po, as: UTF8.self), prefix: "cli",
        file: "messages.po")
      return catalog.keys.map { key in
        (key, (catalog.arguments(of: key) ?? []).sorted(), catalog.isPlural(key))
      }
    } catch { return [] }
  }()

  /// A message with one value for all its arguments.
  private func message(
    _ key: String, _ arguments: [String], isPlural: Bool, _ value: Message.Value
  ) throws -> Message {
    try #require(arguments.count <= 9)
    let names = arguments + (0..<9).map { "unused\($0)" }
    let count = isPlural ? "count" : "unused"
    // The first of two values with one name is used.
    return Message(
      key,
      [
        count: .number(2), names[0]: value, names[1]: value, names[2]: value, names[3]: value,
        names[4]: value, names[5]: value, names[6]: value, names[7]: value, names[8]: value,
      ])
  }

  @Test func `no value of any message controls the terminal`() throws {
    #expect(Self.messages.count > 300)
    for (key, arguments, isPlural) in Self.messages where !arguments.isEmpty {
      let values: [(hostile: Message.Value, harmless: Message.Value)] = [
        (.text(Self.hostile), .text(Self.escaped)),
        (.message(.verbatim(Self.hostile)), .text(Self.escaped)),
        (.sequence([.verbatim(Self.hostile)]), .text(Self.escaped)),
        (.list([.value(.text(Self.hostile))]), .text(Self.escaped)),
        (.choice([.verbatim(Self.hostile)]), .text(Self.escaped)),
      ]
      for value in values {
        let printed = OperatorText.string(
          try message(key, arguments, isPlural: isPlural, value.hostile))
        let expected = OperatorText.string(
          try message(key, arguments, isPlural: isPlural, value.harmless))
        #expect(Array(printed.utf8) == Array(expected.utf8), "\(key)")
      }
    }
  }

  @Test func `a text that isn't in the catalog is escaped as well`() {
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
