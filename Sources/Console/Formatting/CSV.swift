import HTTP

/// Writes a table as comma-separated values (RFC 4180) that are safe to open in a spreadsheet.
///
/// A cell that a spreadsheet would interpret as a formula is prefixed with an apostrophe
/// (ASVS 1.2.10), so a user's name can't run anything on the reader's computer.
struct CSV {
  private var bytes: [UInt8] = []
  private let width: Int

  /// Creates a table with a header row; the byte order mark tells spreadsheets that it's UTF-8.
  init(_ columns: [String]) {
    bytes = [0xEF, 0xBB, 0xBF]
    width = columns.count
    add(columns)
  }

  mutating func add(_ cells: [String]) {
    for (index, cell) in cells.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      if Self.isFormula(cell) { bytes.append(UInt8(ascii: "'")) }
      for byte in cell.utf8 {
        if byte == UInt8(ascii: "\"") { bytes.append(byte) }
        if byte != 0 { bytes.append(byte) }
      }
      bytes.append(UInt8(ascii: "\""))
    }
    bytes += [13, 10]
  }

  /// Adds a row with a note, which says that the table is incomplete.
  mutating func end(with note: String) {
    add([note] + Array(repeating: "", count: width - 1))
  }

  /// The table as a download; `name` has only letters, digits, and hyphens.
  func response(named name: String) -> Response {
    var response = Response(body: .bytes(bytes))
    response.fields[.contentType] = "text/csv; charset=utf-8; header=present"
    response.fields.add(.contentDisposition, "attachment; filename=\"\(name).csv\"")
    return response
  }

  /// Whether a spreadsheet might evaluate the cell: it starts with one of these characters, with or
  /// without leading whitespace.
  private static func isFormula(_ cell: String) -> Bool {
    // A negative number evaluates to itself.
    if cell.utf8.first == UInt8(ascii: "-"), Int(cell) != nil { return false }
    let signs: Set<UInt8> = [
      UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0, 9, 10, 13,
    ]
    if let first = cell.utf8.first, signs.contains(first) { return true }
    // Some programs treat the full-width characters the same.
    let wide: Set<Unicode.Scalar> = ["＝", "＋", "－", "＠"]
    let start = cell.unicodeScalars.first { !$0.properties.isWhitespace }
    guard let start else { return false }
    return wide.contains(start) || start.isASCII && signs.contains(UInt8(start.value))
  }
}
