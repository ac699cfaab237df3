/// A list of users as somebody pasted it: an email address or uid on each line, or a table of
/// comma-separated values (RFC 4180) with a column of them.
public struct BulkList: Sendable, Equatable {
  /// One user as the list names them.
  public struct Line: Sendable, Equatable {
    /// The number of the line in what was pasted, from 1.
    public let number: Int
    /// What stands there.
    public let text: String
  }

  /// The lines that name somebody, in order.
  public let lines: [Line]

  /// The most lines that name somebody.
  public static let longest = 10_000
  /// The longest text of a line that is kept, in Unicode scalars; no address or uid is as long.
  static let longestText = 300

  /// Reads what was pasted.
  ///
  /// A first line that names its columns is known by a column `email`, `uid` or the like. Without
  /// one, a line means the first of its cells that has an `@` in it, or else its first.
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

  /// The column of a heading that says who: a uid rather than an address, which may change.
  private static func column(of cells: [String]) -> Int? {
    let names = cells.map { $0.lowercased() }
    for known in [["uid", "localid", "user id", "userid"], emails, ["user"]] {
      if let found = names.firstIndex(where: known.contains) { return found }
    }
    return nil
  }

  private static let emails = ["email", "e-mail", "e-mail address", "email address", "mail"]

  /// A cell without what mail programs and tables put around an address: `Ann <ann@example.com>`,
  /// and the apostrophe that keeps a spreadsheet from calculating.
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

/// Why a list cannot be taken.
public enum BulkListError: Error, Sendable {
  /// It names nobody.
  case empty
  /// More than ``BulkList/longest`` lines.
  case tooLong
}

/// Reads records of cells; the sign between cells is a comma, a semicolon or a tab.
private struct TableReader {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 1
  /// How many quotation marks were never closed; each costs a look at all that follows.
  private var unclosed = 0

  struct Record {
    let line: Int
    let cells: [String]
  }

  init(_ text: String) {
    var bytes = Array(text.utf8)
    // A mark that some editors put in front.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    self.bytes = bytes
  }

  mutating func next() -> Record? {
    guard place < bytes.count else { return nil }
    let start = (place, line)
    if unclosed < 10 {
      if let record = read(quotes: true) { return record }
      // A quotation mark that is never closed is one of the text.
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
