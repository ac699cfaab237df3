import HTTP

/// A table as a file of comma-separated values (RFC 4180), safe to open in a spreadsheet.
///
/// A cell that a spreadsheet would take for a formula gets an apostrophe in front (ASVS 1.2.10), so
/// a user's name cannot run anything on the desk of who reads the list.
struct CSV {
  private var bytes: [UInt8] = []

  /// Begins a table with its heading; spreadsheets know UTF-8 by the mark in front.
  init(_ columns: [String]) {
    bytes = [0xEF, 0xBB, 0xBF]
    add(columns)
  }

  /// Adds a line.
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

  /// The table as a download.
  ///
  /// - Parameter name: The file's name without its ending, of letters, digits and hyphens.
  /// - Returns: The answer, which browsers save.
  func response(named name: String) -> Response {
    var response = Response(body: .bytes(bytes))
    response.fields[.contentType] = "text/csv; charset=utf-8; header=present"
    response.fields.add("Content-Disposition", "attachment; filename=\"\(name).csv\"")
    return response
  }

  /// Whether a spreadsheet might calculate with it: what begins with one of these signs, with or
  /// without blanks in front.
  private static func isFormula(_ cell: String) -> Bool {
    let signs: Set<UInt8> = [
      UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0, 9, 10, 13,
    ]
    if let first = cell.utf8.first, signs.contains(first) { return true }
    // Full-width signs are taken for the same by some programs.
    let wide: Set<Unicode.Scalar> = ["＝", "＋", "－", "＠"]
    let start = cell.unicodeScalars.first { !$0.properties.isWhitespace }
    guard let start else { return false }
    return wide.contains(start) || start.isASCII && signs.contains(UInt8(start.value))
  }
}
