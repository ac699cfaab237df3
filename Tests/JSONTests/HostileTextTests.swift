import HostileText
import JSON
import Testing

struct HostileTextTests {
  @Test func `combining marks in a member name take no extra CPU time`() {
    let work = Work.of { _ = try? parse("{\"\($0)\":1,\"b\":2}") }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `combining marks in many long names take no extra CPU time`() {
    let work = Work.of { text in
      // Has the size of the text, in names of 200 bytes that differ at the end.
      let ascii = text.utf8.allSatisfy { $0 < 0x80 }
      let name = ascii ? HostileText.plain(190) : HostileText.acceptedMarks(190)
      let members = (0..<text.utf8.count / 200).map { "\"\(name)\(100_000 + $0)\":1" }
      let object = try? parse("{\(members.joined(separator: ","))}").objectValue
      #expect(object?["b"] == nil && object?.count == members.count)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test(arguments: ["{\"a\":\"#\"}", "[\"#\",\"#\"]", "\"\\n#\"", "[[[\"#\"]]]"])
  func `combining marks in a string take no extra CPU time`(document: String) {
    let work = Work.of { text in
      let value = try? parse(document.split(separator: "#").joined(separator: text))
      #expect(value != "b" && value?["a"] != "b")
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `a string with the most accepted combining marks is read in linear time`() {
    let work = Work.of(64 << 10, HostileText.acceptedMarks) { text in
      let value = try? parse("{\"a\":\"\(text)\"}")
      #expect(value?["a"] == .string(text) && value?["a"] != "b")
    }
    #expect(work.isLinearInLength, "\(work)")
  }

  @Test func `combining marks in a name in a large document take no extra CPU time`() {
    let work = Work.of { text in
      var reader = JSON.ElementReader(member: "users")
      var elements: [JSON.ElementReader.Element] = []
      try? reader.take(Array("{\"\(text)\":1,\"users\":[]}".utf8), into: &elements)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `more than thirty combining marks in a row are refused`() {
    let marks = String(repeating: "\u{301}", count: 31)
    let escaped = String(repeating: "\\u0301", count: 31)
    for text in [marks, escaped] {
      #expect(throws: JSONError.tooManyMarks(offset: 1)) { try parse("[\"e\(text)\"]") }
    }
    #expect(throws: JSONError.tooManyMarks(offset: 1)) { try parse("{\"e\(marks)\":1}") }
  }

  @Test func `a name has at most 256 bytes`() throws {
    let longest = String(repeating: "é", count: 128)
    #expect(try parse("{\"\(longest)\":1}")[longest] == 1)
    #expect(throws: JSONError.nameTooLong(offset: 1)) { try parse("{\"\(longest)x\":1}") }
    #expect(
      "\(JSONError.nameTooLong(offset: 1))"
        == "A name in the JSON document is longer than 256 bytes, at byte 1.")
    for text in ["\(longest)x", String(repeating: "\\u0061", count: 257), HostileText.plain(9_999)]
    {
      var reader = JSON.ElementReader(member: "users")
      var elements: [JSON.ElementReader.Element] = []
      #expect {
        try reader.take(Array("{\"\(text)\":1}".utf8), into: &elements)
      } throws: {
        if case .nameTooLong = $0 as? JSONError { true } else { false }
      }
    }
  }

  @Test func `canonically equivalent names are different`() throws {
    let object = try #require(try parse("{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue)
    #expect(object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
  }

  @Test func `a string with excess combining marks is repaired in linear time`() {
    let work = Work.of(64 << 10, HostileText.marks) { text in
      let value = try? JSON.parse(Array("{\"a\":\"\(text)\"}".utf8), repairing: true)
      #expect(value?["a"]?.textValue != nil && value?["a"] != "b")
    }
    #expect(work.isLinearInLength, "\(work)")
  }
}
