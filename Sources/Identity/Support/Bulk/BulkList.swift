import Text

/// A list of users, as pasted: an email address or uid on each line, or comma-separated values (RFC
/// 4180) with a column of them.
public struct BulkList: Sendable, Equatable {
  public struct Line: Sendable, Equatable {
    /// The line number in the pasted text, starting at 1.
    public let number: Int
    public let text: String
  }

  public let lines: [Line]

  /// The maximum number of lines that name a user.
  public static let longest = 10_000
  /// The maximum stored length of a line, in Unicode scalars; no address or uid is that long.
  static let longestText = 300

  /// Parses pasted text.
  ///
  /// A first line with a column named `email`, `uid`, or similar is treated as a header. A line
  /// without a uid is about the user in its column of addresses. Without a header, a line's user is
  /// in its first cell that contains `@`, otherwise in its first cell that isn't empty.
  public init(_ text: String) throws(BulkListError) {
    var records = PastedRecords(text)
    var lines: [Line] = []
    var header: (columns: [Int], count: Int)?
    var isFirst = true
    while let record = records.next() {
      let cells = record.fields.map { String(decoding: $0, as: UTF8.self).trimmed }
      guard !cells.contains(where: { $0.unicodeScalars.contains(where: Self.isNUL) }) else {
        throw .containsNUL(line: record.line)
      }
      let columns = isFirst ? Self.columns(of: cells) : []
      if !columns.isEmpty {
        header = (columns, cells.count)
        isFirst = false
        continue
      }
      guard cells.contains(where: { !$0.isEmpty }) else { continue }
      isFirst = false
      let cell =
        if let columns = header?.columns {
          columns.lazy.filter { $0 < cells.count }.map { cells[$0] }.first { !$0.isEmpty } ?? ""
        } else {
          cells.first { $0.utf8.contains(UInt8(ascii: "@")) } ?? cells.first { !$0.isEmpty } ?? ""
        }
      let name = Self.plain(cell)
      guard !name.isEmpty else { throw .missingUser(line: record.line) }
      // Which of them is meant, or whether all are, only the one who made the list knows.
      let others = header.map { Array(cells.dropFirst($0.count)) + [name] } ?? cells
      guard Self.addresses(in: others) < 2 else {
        throw .severalAddresses(line: record.line)
      }
      guard lines.count < Self.longest else { throw .tooLong }
      lines.append(
        Line(
          number: record.line,
          text: String(String.UnicodeScalarView(name.unicodeScalars.prefix(Self.longestText)))))
    }
    guard !lines.isEmpty else { throw .empty }
    self.lines = lines
  }

  /// Returns whether a character is NUL, which no identifier has and which a database may not store,
  /// or the symbol that a form shows in its place.
  private static func isNUL(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\0" || scalar == "\u{2400}"
  }

  /// Returns the columns that identify the user; a uid is preferred over an address, which may
  /// change.
  private static func columns(of cells: [String]) -> [Int] {
    let names = cells.map { $0.lowercased() }
    let found = [["uid", "localid", "user id", "userid"], emails].compactMap { known in
      names.firstIndex(where: known.contains)
    }
    return found.isEmpty ? names.firstIndex(of: "user").map { [$0] } ?? [] : found
  }

  /// The number of different addresses in cells: a cell may be a list, and the name of a person may be
  /// their address.
  private static func addresses(in cells: [String]) -> Int {
    let separators = Set(";, <>\"".utf8)
    var found: Set<UntrustedText> = []
    for cell in cells {
      for word in cell.utf8.split(whereSeparator: separators.contains)
      where word.contains(UInt8(ascii: "@")) {
        found.insert(UntrustedText(AccountRules.folded(email: String(Substring(word)))))
      }
    }
    return found.count
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

public enum BulkListError: Error, Equatable, Sendable {
  case empty
  case tooLong
  /// A line has several email addresses, and no header tells which of them is the user's.
  case severalAddresses(line: Int)
  /// A line has neither a uid nor an email address in the columns that the header names.
  case missingUser(line: Int)
  /// A line has a NUL character, or the symbol U+2400 in its place.
  case containsNUL(line: Int)
}

/// Reads the records of pasted text, in which an unclosed quotation mark is text.
private struct PastedRecords {
  private let bytes: [UInt8]
  private var parser = CSVParser(.pasted)
  private var index = 0
  /// The number of unclosed quotation marks; each one costs a scan of the remaining text.
  private var unclosed = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func next() -> CSVRecord? {
    if unclosed < 10 {
      var (attempt, end) = (parser, index)
      do throws(CSVFault) {
        let record = try attempt.next(in: bytes, from: &end, isLast: true)
        (parser, index) = (attempt, end)
        return record
      } catch { unclosed += 1 }
    }
    parser.readsQuotes = false
    defer { parser.readsQuotes = true }
    return try? parser.next(in: bytes, from: &index, isLast: true)
  }
}
