import Identity
import Testing

@Suite struct BulkListTests {
  private func read(_ text: String) throws -> [String] {
    try BulkList(text).lines.map { "\($0.number) \($0.text)" }
  }

  @Test func `each line names a user, and empty lines are skipped`() throws {
    #expect(
      try read("  ann@example.com \r\n\r\n\tuid-2\n\n bo@example.com")
        == ["1 ann@example.com", "3 uid-2", "5 bo@example.com"])
    #expect(try read("\u{FEFF}ann@example.com") == ["1 ann@example.com"])
  }

  @Test func `a header row selects the column, a UID rather than an email address`() throws {
    #expect(
      try read("Name,Email\nAnn,ann@example.com\n\"Bo, the boss\",bo@example.com\n")
        == ["2 ann@example.com", "3 bo@example.com"])
    #expect(try read("User,Name,uid\nann@example.com,Ann,u-1\n") == ["2 u-1"])
    #expect(try read("name;EMAIL;age\nAnn;ann@example.com;7") == ["2 ann@example.com"])
    #expect(try read("email\nann@example.com") == ["2 ann@example.com"])
  }

  @Test func `a line without a UID is about the user with its email address`() throws {
    #expect(
      try read("uid,email\nu-1,ann@example.com\n,bo@example.com\n,\n")
        == ["2 u-1", "3 bo@example.com"])
    #expect(
      try read("email,uid\nann@example.com\nbo@example.com,u-2")
        == ["2 ann@example.com", "3 u-2"])
  }

  @Test(arguments: [
    "uid,name\nu-1,Ann\n,Bo", "name,uid\nAnn,u-1\nBo", "name,email\nAnn,ann@example.com\nBo,",
    "name,uid,email\nAnn,u-1,\nBo,,", "user,name\nu-1,Ann\n,Bo",
  ])
  func `a line that names no user in the header's columns is refused, not skipped`(text: String) {
    #expect(throws: BulkListError.missingUser(line: 3)) { try BulkList(text) }
  }

  @Test func `without a header row, the first cell with an at sign is used, or the first cell`()
    throws
  {
    #expect(try read("Ann\tann@example.com\t7\nuid-2\tBo") == ["1 ann@example.com", "2 uid-2"])
  }

  @Test(arguments: [
    "ann@example.com, bo@example.com", "ann@example.com; bo@example.com",
    "ann@example.com bo@example.com", "Ann <ann@example.com>, Bo <bo@example.com>",
    "Ann <ann@example.com>; Bo <bo@example.com>",
    "email\nann@example.com; bo@example.com",
  ])
  func `a line with several addresses is refused instead of using one of them`(text: String) {
    #expect(throws: BulkListError.severalAddresses(line: text.hasPrefix("email") ? 2 : 1)) {
      try BulkList(text)
    }
  }

  @Test func `a header tells which of several addresses is the user's`() throws {
    #expect(
      try read("manager,email\nann@example.com,bo@example.com") == ["2 bo@example.com"])
  }

  @Test func `quoted cells can contain commas, line breaks, and quotes`() throws {
    #expect(
      try read("uid,name\n\"u-1\",\"Ann\n\"\"the great\"\"\"\nu-2,Bo") == ["2 u-1", "4 u-2"])
    // An unclosed quotation mark is an ordinary character.
    #expect(
      try read("\"ann@example.com\nbo@example.com") == ["1 \"ann@example.com", "2 bo@example.com"])
    #expect(throws: Never.self) { try BulkList(String(repeating: "\"a\n", count: 9_999)) }
  }

  @Test func `formatting added by mail and spreadsheet programs is removed`() throws {
    #expect(
      try read("Ann <ann@example.com>\n'-uid\n'=uid\n'plain")
        == ["1 ann@example.com", "2 -uid", "3 =uid", "4 'plain"])
    #expect(try read("ann@example.com <Ann@example.com>") == ["1 Ann@example.com"])
  }

  @Test(arguments: ["u1\nu\u{0}2", "u1\nu\u{2400}2", "uid,name\nu1,a\u{2400}"])
  func `a NUL character is refused, also as its symbol`(text: String) {
    #expect(throws: BulkListError.containsNUL(line: 2)) { try BulkList(text) }
  }

  @Test func `an empty list and one over 10,000 lines are refused`() throws {
    for text in ["", " \n\t\r\n", ",,\n;;", "email\n"] {
      #expect(throws: BulkListError.empty) { try BulkList(text) }
    }
    let most = String(repeating: "u\n", count: BulkList.longest)
    #expect(try BulkList(most).lines.count == 10_000)
    #expect(throws: BulkListError.tooLong) { try BulkList(most + "one more") }
  }

  @Test func `malicious lines are truncated and treated as text`() throws {
    let lines = try BulkList(
      "<script>alert(1)</script>\n\u{202E}moc.elpmaxe@nna\n\(String(repeating: "x", count: 4_000))\n👩‍👩‍👧\n')--"
    ).lines
    #expect(lines.count == 5)
    #expect(lines[0].text == "<script>alert(1)</script>")
    #expect(lines[2].text.count == 300)
  }
}
