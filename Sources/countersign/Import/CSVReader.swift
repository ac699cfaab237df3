import Localization
import Text

/// Reads the records of a CSV file, all of which have the same number of fields.
///
/// This number is the most frequent one of the records that are read first: a record with a different
/// number was torn at a line feed, and would lose the fields that follow.
struct CSVReader {
  struct Record {
    let fields: Result<[UntrustedText], Fault>
    /// The line on which the record begins, counted from 1.
    let line: Int
  }

  enum Fault: Error, Equatable {
    /// A field isn't UTF-8, or has too many combining marks in a row.
    case text
    /// A field is too large, or a quotation mark is misplaced.
    case syntax(CSVFault.Kind)
    case fieldCount(Int, expected: Int)
  }

  private var parser = CSVParser(.file, largestField: 1 << 20)
  /// The number of fields of the file's records; nil until enough of them have been read.
  private var fieldCount: Int?
  /// The records that were read before ``fieldCount`` is known.
  private var first: [Parsed] = []

  private typealias Parsed = (fields: Result<CSVRecord, Fault>, line: Int)

  private static let sample = 100

  /// Parses the next bytes, and adds the records that end in them; throws `UserFileError` when
  /// semicolons separate the fields, or when the records have different numbers of fields.
  mutating func take(_ chunk: [UInt8], isLast: Bool, into records: inout [Record]) throws {
    var index = 0
    var read = first
    first = []
    while true {
      do throws(CSVFault) {
        guard let record = try parser.next(in: chunk, from: &index, isLast: isLast) else { break }
        // An empty line isn't a record.
        if !record.isEmpty { read.append((.success(record), record.line)) }
      } catch {
        read.append((.failure(.syntax(error.kind)), error.line))
      }
    }
    if fieldCount == nil {
      guard isLast || read.count >= Self.sample else {
        first = read
        return
      }
      fieldCount = try Self.fieldCount(of: read.compactMap { try? $0.fields.get() })
    }
    records += read.map { record in
      Record(
        fields: record.fields.flatMap { Self.fields($0, expected: fieldCount) }, line: record.line)
    }
  }

  /// Returns the number of fields that most of the records have.
  ///
  /// If less than half of them have it, parts of torn records may be more frequent than the records
  /// that they were torn from.
  private static func fieldCount(of records: [CSVRecord]) throws(UserFileError) -> Int? {
    guard let first = records.first else { return nil }
    guard !first.isSeparatedBySemicolons else {
      throw UserFileError(
        Message("Semicolons separate the fields. Save the file with commas instead."))
    }
    let counts = Dictionary(grouping: records, by: \.fieldCount).mapValues(\.count)
    let torn = counts.keys.filter { isTorn(records, from: $0) }
    let hasMajority = counts.values.contains { 2 * $0 > records.count }
    let known = torn.isEmpty || hasMajority ? counts : counts.filter { torn.contains($0.key) }
    let most = known.filter { $0.value == known.values.max() }.keys
    guard let number = most.max(), most.count == 1 || torn.contains(number) else {
      throw UserFileError(
        Message(
          """
          The lines have different numbers of fields. A line feed in a field needs quotation marks \
          around the field.
          """))
    }
    return number
  }

  /// Whether two records in succession are the parts of one with a number of fields.
  private static func isTorn(_ records: [CSVRecord], from number: Int) -> Bool {
    zip(records, records.dropFirst()).contains { part, next in
      part.fieldCount < number && next.fieldCount < number
        && part.fieldCount + next.fieldCount == number + 1
    }
  }

  private static func fields(
    _ record: CSVRecord, expected: Int?
  ) -> Result<[UntrustedText], Fault> {
    if let expected, record.fieldCount != expected {
      return .failure(.fieldCount(record.fieldCount, expected: expected))
    }
    let texts = record.fields.map { UntrustedText(validating: Array($0)) }
    let fields = texts.compactMap { $0 }
    return fields.count == texts.count ? .success(fields) : .failure(.text)
  }
}

extension CSVRecord {
  /// Whether the first field is several, separated by semicolons as spreadsheets do it in languages
  /// with a decimal comma; each row would be one long uid.
  fileprivate var isSeparatedBySemicolons: Bool {
    let fields = fields
    guard let first = fields.first, first.contains(UInt8(ascii: ";")) else { return false }
    return fields.count == 1 || first.contains(UInt8(ascii: "@"))
  }
}

extension CSVReader.Fault {
  var message: Message {
    switch self {
    case .text:
      Message(
        "A field isn't UTF-8, or has more than {most} combining marks in a row.",
        ["most": .text("\(UntrustedText.longestRun)")])
    case .fieldCount(let found, let expected):
      Message(
        """
        The line has {found} fields, and the other lines have {expected}. A line feed in a field \
        needs quotation marks around the field.
        """,
        ["found": .text("\(found)"), "expected": .text("\(expected)")])
    case .syntax(.fieldTooLarge): Message("A field is too large.")
    case .syntax(.textAfterQuote): Message("There's text after a closing quotation mark.")
    case .syntax(.unclosedQuote): Message("A quotation mark isn't closed.")
    }
  }
}
