/// A list of users, as pasted: an email address or uid on each line, or comma-separated values (RFC
/// 4180) with a column of them.
public struct BulkList: Sendable, Equatable {
  /// One user in the list.
  public struct Line: Sendable, Equatable {
    /// The line number in the pasted text, starting at 1.
    public let number: Int
    /// The text of the line.
    public let text: String
  }

  /// The lines that name a user, in order.
  public let lines: [Line]

  /// The maximum number of lines that name a user.
  public static let longest = 10_000
  /// The maximum stored length of a line, in Unicode scalars; no address or uid is that long.
  static let longestText = 300

  /// Parses pasted text.
  ///
  /// A first line with a column named `email`, `uid`, or similar is treated as a header. Without a
  /// header, a line's user is in its first cell that contains `@`, otherwise in its first cell that
  /// isn't empty.
  ///
  /// - Throws: ``BulkListError``.
  public init(_ text: String) throws(BulkListError) {
    var reader = TableReader(text)
    var lines: [Line] = []
    var column: Int?
    var isFirst = true
    while let record = reader.next() {
      let cells = record.cells.map(\.trimmed)
      if isFirst, let named = Self.column(of: cells) {
        column = named
        isFirst = false
        continue
      }
      guard cells.contains(where: { !$0.isEmpty }) else { continue }
      isFirst = false
      let cell =
        if let column { column < cells.count ? cells[column] : "" } else {
          cells.first { $0.utf8.contains(UInt8(ascii: "@")) } ?? cells.first { !$0.isEmpty } ?? ""
        }
      let name = Self.plain(cell)
      guard !name.isEmpty else { continue }
      guard lines.count < Self.longest else { throw .tooLong }
      lines.append(
        Line(
          number: record.line,
          text: String(String.UnicodeScalarView(name.unicodeScalars.prefix(Self.longestText)))))
    }
    guard !lines.isEmpty else { throw .empty }
    self.lines = lines
  }

  /// Returns the column that identifies the user; a uid is preferred over an address, which may
  /// change.
  private static func column(of cells: [String]) -> Int? {
    let names = cells.map { $0.lowercased() }
    for known in [["uid", "localid", "user id", "userid"], emails, ["user"]] {
      if let found = names.firstIndex(where: known.contains) { return found }
    }
    return nil
  }

  private static let emails = ["email", "e-mail", "e-mail address", "email address", "mail"]

  /// Removes what mail clients and spreadsheets add around an address: `Ann <ann@example.com>`, and
  /// the apostrophe that prevents evaluation as a formula.
  private static func plain(_ cell: String) -> String {
    var cell = Substring(cell)
    if cell.last == ">", let start = cell.lastIndex(of: "<"),
      cell[start...].utf8.contains(UInt8(ascii: "@"))
    {
      cell = cell[cell.index(after: start)...].dropLast()
    }
    let signs: Set<Character> = ["=", "+", "-", "@"]
    if cell.first == "'", let next = cell.dropFirst().first, signs.contains(next) {
      cell = cell.dropFirst()
    }
    return String(cell).trimmed
  }
}

/// An error in a list.
public enum BulkListError: Error, Sendable {
  /// The list names no users.
  case empty
  /// The list has more than ``BulkList/longest`` lines.
  case tooLong
}

/// Reads records of cells separated by a comma, a semicolon, or a tab.
private struct TableReader {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 1
  /// The number of unclosed quotation marks; each one costs a scan of the remaining text.
  private var unclosed = 0

  struct Record {
    let line: Int
    let cells: [String]
  }

  init(_ text: String) {
    var bytes = Array(text.utf8)
    // The byte order mark that some editors add.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    self.bytes = bytes
  }

  mutating func next() -> Record? {
    guard place < bytes.count else { return nil }
    let start = (place, line)
    if unclosed < 10 {
      if let record = read(quotes: true) { return record }
      // An unclosed quotation mark is treated as text.
      unclosed += 1
      (place, line) = start
    }
    return read(quotes: false)
  }

  private mutating func read(quotes: Bool) -> Record? {
    let first = line
    var cells: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if isQuoted {
        if byte != UInt8(ascii: "\"") {
          if byte == 10 { line += 1 }
          cell.append(byte)
        } else if place < bytes.count, bytes[place] == byte {
          place += 1
          cell.append(byte)
        } else {
          isQuoted = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\"") where quotes && cell.allSatisfy({ $0 == 32 }):
        cell = []
        isQuoted = true
      case UInt8(ascii: ","), UInt8(ascii: ";"), 9:
        cells.append(String(decoding: cell, as: UTF8.self))
        cell = []
      case 10, 13:
        if byte == 13, place < bytes.count, bytes[place] == 10 { place += 1 }
        line += 1
        cells.append(String(decoding: cell, as: UTF8.self))
        return Record(line: first, cells: cells)
      default: cell.append(byte)
      }
    }
    guard !isQuoted else { return nil }
    cells.append(String(decoding: cell, as: UTF8.self))
    return Record(line: first, cells: cells)
  }
}
