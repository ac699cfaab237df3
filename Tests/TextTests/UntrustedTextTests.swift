import Testing
import Text

struct UntrustedTextTests {
  @Test func `text is compared and hashed by its bytes`() {
    let composed: UntrustedText = "\u{E9}"
    let decomposed: UntrustedText = "e\u{301}"
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, "\u{E9}"]).count == 2)
    #expect(composed == "\u{E9}")
    #expect(UntrustedText("abcdefgh") != "abcdefgi")
    #expect(UntrustedText("") != "\u{0}")
  }

  @Test func `texts of different lengths have different hashes`() {
    let texts = (0...40).map { UntrustedText(String(repeating: "\u{0}", count: $0)) }
    #expect(Set(texts).count == texts.count)
    #expect(Set(texts + texts.map { UntrustedText($0.text) }).count == texts.count)
  }

  @Test func `bytes that aren't UTF-8 are refused`() {
    #expect(UntrustedText(validating: [0x61, 0xFF]) == nil)
    #expect(UntrustedText(validating: Array("é€😀".utf8)) == "é€😀")
  }

  @Test(arguments: ["\u{301}", "\u{323}", "\u{301}\u{323}", "\u{5B0}", "\u{1D165}"])
  func `at most thirty combining marks in a row are accepted`(marks: String) {
    let thirty = String(
      String.UnicodeScalarView(
        repeatElement(marks.unicodeScalars, count: 30).joined().prefix(30)))
    for text in ["a" + thirty, "a\(thirty)b\(thirty)", thirty] {
      #expect(UntrustedText(checking: text)?.text == text)
    }
    for text in ["a" + thirty + "\u{301}", "\u{301}" + thirty, "b\(thirty)b\(thirty)\u{323}"] {
      #expect(UntrustedText(checking: text) == nil)
      #expect(UntrustedText(validating: Array(text.utf8)) == nil)
    }
  }

  @Test func `a repaired text has the first thirty combining marks of a row, and can be checked`() {
    let thirty = String(repeating: "\u{301}", count: 30)
    #expect(UntrustedText(repairing: "a\(thirty)b\(thirty)").text == "a\(thirty)b\(thirty)")
    for more in ["\u{323}", thirty] {
      let repaired = UntrustedText(repairing: "a\(thirty)\(more)b\(more)\(thirty)")
      #expect(UntrustedText(checking: repaired.text) == repaired)
      #expect(repaired.text.hasSameBytes(atStart: "a\(thirty)b"))
    }
    #expect(UntrustedText(repairing: "") == "")
  }

  @Test func `long text in any script is accepted`() {
    for word in ["שָׁלוֹם ", "ครั้งที่ ", "བོད་ཡིག ", "Việt Nam ", "हिन्दी ", "한국어 ", "👩‍👩‍👧‍👦🏳️‍🌈 ", "ﷺ "] {
      let text = String(repeating: word, count: 2_000)
      #expect(UntrustedText(checking: text)?.byteCount == text.utf8.count)
    }
  }

  @Test func `a limit is in bytes`() {
    #expect(UntrustedText("éé").text(atMost: 4) == "éé")
    #expect(UntrustedText("éé").text(atMost: 3) == nil)
  }

  @Test func `tokens are compared ignoring only ASCII case`() {
    #expect("Bearer".isSameToken(as: "bEARER") && "".isSameToken(as: ""))
    #expect(!"Bearer ".isSameToken(as: "Bearer"))
    // A Kelvin sign is canonically a K, and a Greek question mark a semicolon.
    #expect(!"\u{212A}".isSameToken(as: "K") && !"\u{37E}".isSameToken(as: ";"))
    #expect(!"[".isSameToken(as: "{") && !"@".isSameToken(as: "`"))
  }

  @Test func `prefixes and suffixes are compared by bytes`() {
    #expect(UntrustedText("users.csv").hasSuffix(".csv"))
    #expect(!UntrustedText("csv").hasSuffix(".csv"))
    #expect("e\u{301}x".hasSameBytes(atStart: "e"))
    #expect(!"e\u{301}".hasSameBytes(atStart: "\u{E9}"))
    #expect("x\u{301}".hasSameBytes(atEnd: "\u{301}"))
    #expect(!"".hasSameBytes(atEnd: "x") && "".hasSameBytes(atStart: ""))
  }
}
