import HTTP
import Testing

@testable import Console

/// CSV downloads, which are safe to open in a spreadsheet.
@Suite struct CSVTests {
  private func line(_ cells: String...) -> String {
    var csv = CSV(["a"])
    csv.add(cells)
    let text = String(decoding: csv.response(named: "list").body.bytes, as: UTF8.self)
    return String(text.split(separator: "\r\n", maxSplits: 1)[1].dropLast(1))
  }

  @Test func `C10: cells are quoted, and quotes in them are doubled`() {
    #expect(
      line("plain", "with, comma", "5\" disk", "two\nlines")
        == "\"plain\",\"with, comma\",\"5\"\" disk\",\"two\nlines\"")
    #expect(line("-8", "0") == "\"-8\",\"0\"", "a number is no formula")
  }

  @Test(arguments: [
    "=1+1", "+1", "-1+1", "- 1", "-1e5", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "\u{2003}=1",
    "\0=1",
  ])
  func `C10: a cell that a spreadsheet would evaluate starts with an apostrophe`(cell: String) {
    #expect(line(cell).hasPrefix("\"'"))
  }

  @Test func `the response has a CSV content type, a file name, and a byte order mark`() {
    let response = CSV(["Email"]).response(named: "users")
    #expect(response.fields[.contentType] == "text/csv; charset=utf-8; header=present")
    #expect(response.fields.all("Content-Disposition") == ["attachment; filename=\"users.csv\""])
    #expect(response.body.bytes.starts(with: [0xEF, 0xBB, 0xBF]))
  }
}
