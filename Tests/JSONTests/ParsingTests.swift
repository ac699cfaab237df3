import JSON
import Testing
import Text

struct ParsingTests {
  @Test(
    arguments: [
      ("null", JSON.null), ("true", true), ("false", false), ("0", 0), ("-7", -7), (" 5 ", 5),
      (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
      (#""\u00e9\uD83D\uDE00é😀""#, "é😀é😀"), (#""\u0000""#, "\u{0}"), ("[]", []), ("[ ]", []),
      ("[1, [2], {}]", [1, [2], [:]]), ("{}", [:]), ("{ }", [:]),
      (#"{"a": 1,"b":{"c":[null]}}"#, ["a": 1, "b": ["c": [nil]]]),
      ("\t\r\n {\n}\n", [:]), (#"{"":0}"#, ["": 0]),
    ] as [(String, JSON)])
  func `a document parses to its value`(text: String, value: JSON) throws {
    #expect(try parse(text) == value)
  }

  @Test(arguments: [
    "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{1:2}", #"{"a"}"#, #"{"a":}"#,
    #"{"a":1,}"#, #"{,"a":1}"#, #"{"a" 1}"#, "{a:1}", "{'a':1}", "nul", "nulL", "tru", "True",
    "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "1_000",
    "\"", "\"a", "\"\\", #""\x""#, #""\u12""#, #""\u12G4""#, #""\u+123""#, "\"a\nb\"", "\"\t\"",
    "\"\u{0}\"", "\u{0}", "{}\u{0}", "{} {}", "{},", "1 2", "[]x", "// a\n1", "[1]//", "\u{FEFF}{}",
    #""\uD800""#, #""\uD800x""#, #""\uD800\n""#, #""\uD800\uD800""#, #""\uDC00""#,
    #""\uDE00\uD83D""#,
    "{\"a\":1 \"b\":2}", "[\"a\":1]", "{NUM_ADJ_INTERVALS}", "\u{A0}1",
  ])
  func `invalid syntax is refused`(text: String) {
    #expect {
      try parse(text)
    } throws: {
      if case .syntax = $0 as? JSONError { true } else { false }
    }
  }

  @Test(arguments: [
    ("[1,}", 3), ("  x", 2), ("{} x", 3), ("[1", 2), (#"{"a":01}"#, 6), (#"["\q"]"#, 2),
  ])
  func `a syntax error reports the byte offset`(text: String, offset: Int) {
    #expect(throws: JSONError.syntax(offset: offset)) { try parse(text) }
  }

  @Test(arguments: ["", " ", "\n\t\r "])
  func `an empty document is distinguished from a syntax error`(text: String) {
    #expect(throws: JSONError.empty) { try parse(text) }
  }

  @Test(arguments: [
    (#"{"a":1,"a":1}"#, "a"), (#"{"a":1,"b":2,"\u0061":3}"#, "a"), (#"[{"x":{"y":0,"y":0}}]"#, "y"),
  ])
  func `a duplicate name is refused`(text: String, name: String) {
    #expect(throws: JSONError.duplicateMember(UntrustedText(name))) { try parse(text) }
  }

  @Test func `a duplicate among many members is found quickly`() throws {
    let members = (0..<100_000).map { "\"m\($0)\":\($0)" }.joined(separator: ",")
    #expect(try parse("{\(members)}").objectValue?.count == 100_000)
    #expect(throws: JSONError.duplicateMember("m7")) { try parse("{\(members),\"m7\":0}") }
  }

  @Test(arguments: ["[", #"{"a":"#])
  func `a thousand levels are refused without overflowing the stack`(open: String) {
    #expect(throws: JSONError.tooDeep) { try parse(String(repeating: open, count: 1_000)) }
    #expect(throws: JSONError.tooDeep) { try parse(String(repeating: open, count: 1_000_000)) }
  }

  @Test func `at most a hundred levels are accepted`() throws {
    let nested = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    _ = try parse(nested(100))
    #expect(throws: JSONError.tooDeep) { try parse(nested(101)) }
    _ = try JSON.parse(Array("[[],[[]]]".utf8), maximumDepth: 3)
    #expect(throws: JSONError.tooDeep) { try JSON.parse(Array("[[],[[]]]".utf8), maximumDepth: 2) }
    #expect(throws: JSONError.tooDeep) { try JSON.parse(Array("[]".utf8), maximumDepth: 0) }
  }

  @Test(
    arguments: [
      ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC3, 0x22], 1), ([0x22, 0x61, 0xC0, 0x80, 0x22], 2),
      ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1), ([0xFF], 0),
      ([0x5B, 0x31, 0x5D, 0x80], 3), ([0x7B, 0x22, 0x61, 0xE2, 0x82, 0x22, 0x3A, 0x31, 0x7D], 3),
      ([0x22, 0x5C, 0x6E, 0xFE, 0x22], 3),
    ] as [([UInt8], Int)])
  func `bytes that are not UTF-8 are refused`(bytes: [UInt8], offset: Int) {
    #expect(throws: JSONError.invalidUTF8(offset: offset)) { try JSON.parse(bytes) }
  }

  @Test(arguments: [
    (#""\uD800""#, "\u{FFFD}"), (#""\uDC00x""#, "\u{FFFD}x"), (#""\uD800\u0041""#, "\u{FFFD}A"),
    (#""\uD800\n""#, "\u{FFFD}\n"), (#""\uD800\uD83D\uDE00""#, "\u{FFFD}😀"),
    (#""\uDE00\uD83D""#, "\u{FFFD}\u{FFFD}"), (#""\uD83D\uDE00""#, "😀"), (#""é""#, "é"),
  ])
  func `an unpaired surrogate is replaced if strings are repaired`(text: String, repaired: String)
    throws
  {
    #expect(try JSON.parse(Array(text.utf8), repairing: true) == .string(repaired))
  }

  @Test func `excess combining marks are left out if strings are repaired`() throws {
    let thirty = String(repeating: "\u{301}", count: 30)
    for marks in [thirty, thirty + "\u{323}", String(repeating: thirty, count: 9)] {
      let text = "[\"e\(marks)x\(marks)\", {\"a\(marks)\": 1}]"
      #expect(
        try JSON.parse(Array(text.utf8), repairing: true)
          == [.string("e\(thirty)x\(thirty)"), .object(JSON.Object([("a\(thirty)", 1)]))])
    }
  }

  @Test(arguments: [#"{"a":1,"a":1}"#, #""\uD800\u12""#, #""\uD800\"#, "[1,]", "\"a\nb\""])
  func `nothing else is repaired`(text: String) {
    #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8), repairing: true) }
  }

  @Test func `errors reveal no content except member names`() {
    for text in [#"{"password":"hunter2""#, #"{"password":"hunter2","password":"hunter2"}"#] {
      #expect {
        try parse(text)
      } throws: {
        !"\($0)".contains("hunter2")
      }
    }
  }
}

@discardableResult
func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }
