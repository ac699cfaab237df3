import Testing
import Text

struct CSVParserTests {
  /// The records of a text that's parsed in chunks: the line and the fields.
  private func read(
    _ text: String, _ dialect: CSVParser.Dialect, by size: Int = 1_000
  ) throws -> [String] {
    var parser = CSVParser(dialect, largestField: 8)
    let bytes = Array(text.utf8)
    var records: [CSVRecord] = []
    for start in stride(from: 0, through: bytes.count, by: size) {
      let chunk = Array(bytes[start..<min(start + size, bytes.count)])
      let isLast = start + size > bytes.count
      var index = 0
      while let record = try parser.next(in: chunk, from: &index, isLast: isLast) {
        records.append(record)
      }
    }
    return records.map { record in
      let fields = record.fields.map { String(decoding: $0, as: UTF8.self) }
      return "\(record.line) \(fields.joined(separator: "|"))"
    }
  }

  @Test(arguments: [1, 2, 3, 5, 1_000])
  func `fields may be quoted, however the text is divided`(size: Int) throws {
    let text = "\u{FEFF}\"a\",b,\r\n\"x,\"\"\n\",,é\n\nlast;\t"
    #expect(try read(text, .file, by: size) == ["1 a|b|", "2 x,\"\n||é", "4 ", "5 last;\t"])
    #expect(try read(text, .pasted, by: size) == ["1 a|b|", "2 x,\"\n||é", "4 ", "5 last||"])
  }

  @Test func `a carriage return ends a line of pasted text, and is ignored in a file`() throws {
    #expect(try read("a\rb\r\n\rc", .pasted) == ["1 a", "2 b", "3 ", "4 c"])
    #expect(try read("a\rb\r\n\rc", .file) == ["1 ab", "2 c"])
  }

  @Test func `a misplaced quotation mark is an error of a file`() {
    #expect(throws: CSVFault.textAfterQuote(line: 2)) { try read("a\n\"b\"c", .file) }
    #expect(throws: CSVFault.unclosedQuote(line: 2)) { try read("a\n\"b\nc", .file) }
    #expect(throws: CSVFault.unclosedQuote(line: 2)) { try read("a\n\"b\nc", .pasted) }
  }

  @Test func `a quoted part of pasted text can have spaces before it and text after it`() throws {
    #expect(try read("  \"a,b\" c, \" \" \"d\"", .pasted) == ["1 a,b c|d"])
    #expect(try read(" a,b\"c", .file) == ["1  a|b\"c"])
  }

  @Test func `quotation marks that aren't read are text`() throws {
    var parser = CSVParser(.pasted)
    parser.readsQuotes = false
    var index = 0
    let record = try parser.next(in: Array("\"a,b".utf8), from: &index, isLast: true)
    #expect(record?.fields.map { String(decoding: $0, as: UTF8.self) } == ["\"a", "b"])
  }

  @Test func `a field has a limit in bytes`() throws {
    #expect(try read("1234567,1234567", .file) == ["1 1234567|1234567"])
    #expect(throws: CSVFault.fieldTooLarge(line: 2)) { try read("a\n12345678,", .file) }
    #expect(throws: CSVFault.fieldTooLarge(line: 1)) { try read("\"12345678\"", .file) }
  }

  @Test func `only a mark at the beginning is one`() throws {
    #expect(try read("\u{FEFF}", .file) == [])
    #expect(try read("a,\u{FEFF}b", .file) == ["1 a|\u{FEFF}b"])
    #expect(try read("\u{FEFF}\u{FEFF}b", .file) == ["1 \u{FEFF}b"])
  }
}
