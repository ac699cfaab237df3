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

  /// The first error of a text.
  private func fault(_ text: String, _ dialect: CSVParser.Dialect) -> CSVFault? {
    do {
      _ = try read(text, dialect)
      return nil
    } catch { return error as? CSVFault }
  }

  @Test func `a misplaced quotation mark is an error of a record`() {
    #expect(fault("a\n\"b\"c", .file) == CSVFault(kind: .textAfterQuote, line: 2))
    #expect(fault("a\n\"b\nc", .file) == CSVFault(kind: .unclosedQuote, line: 2))
    #expect(fault("a\n\"b\nc", .pasted) == CSVFault(kind: .unclosedQuote, line: 2))
  }

  @Test(arguments: [1, 2, 3, 5, 1_000])
  func `parsing goes on at the line after an error`(size: Int) {
    let text = """
      a
      "b"c,"d
      "e,f
      g
      h,""i
      "j
      k","l"
      n,"1234
      5678",o
      12345678
      p
      "q
      "r"
      """
    var parser = CSVParser(.file, largestField: 8)
    let bytes = Array(text.utf8)
    var found: [String] = []
    for start in stride(from: 0, through: bytes.count, by: size) {
      let chunk = Array(bytes[start..<min(start + size, bytes.count)])
      var index = 0
      while true {
        do {
          guard
            let record = try parser.next(
              in: chunk, from: &index, isLast: start + size > bytes.count)
          else { break }
          let fields = record.fields.map { String(decoding: $0, as: UTF8.self) }
          found.append("\(record.line) \(fields.joined(separator: "|"))")
        } catch { found.append("\(error.line) \(error.kind)") }
      }
    }
    #expect(
      found == [
        "1 a", "2 textAfterQuote", "3 fieldTooLarge", "4 g", "5 textAfterQuote", "6 j\nk|l",
        "8 fieldTooLarge", "9 5678\"|o", "10 fieldTooLarge", "11 p", "12 textAfterQuote", "13 r",
      ])
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
    let large = CSVFault.Kind.fieldTooLarge
    #expect(fault("a\n12345678,", .file) == CSVFault(kind: large, line: 2))
    #expect(fault("\"12345678\"", .file) == CSVFault(kind: large, line: 1))
  }

  @Test func `only a mark at the beginning is one`() throws {
    #expect(try read("\u{FEFF}", .file) == [])
    #expect(try read("a,\u{FEFF}b", .file) == ["1 a|\u{FEFF}b"])
    #expect(try read("\u{FEFF}\u{FEFF}b", .file) == ["1 \u{FEFF}b"])
  }
}
