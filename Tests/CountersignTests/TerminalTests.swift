import Testing

@testable import countersign

/// Text from outside can't control the terminal that it's printed to.
struct TerminalTests {
  @Test(arguments: [
    ("\u{1B}[2K\rvalid", #"\u001B[2K\u000Dvalid"#),
    ("\u{7F}\u{85}\u{9B}1A", #"\u007F\u0085\u009B1A"#),
    ("a\u{0}b\r\n", #"a\u0000b\u000D"# + "\n"), ("Zo\u{EB}\tx\ny", "Zo\u{EB}\tx\ny"),
  ])
  func `characters that control a terminal are printed as escapes`(text: String, shown: String) {
    #expect(Array(Terminal.visible(text).utf8) == Array(shown.utf8))
  }
}
