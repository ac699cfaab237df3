import Localization
import Text

/// Reads the records of a CSV file.
struct CSVReader {
  struct Record {
    /// The fields; nil when one of them isn't UTF-8, or has too many combining marks in a row.
    let fields: [UntrustedText]?
    /// The line on which the record begins, counted from 1.
    let line: Int
  }

  private var parser = CSVParser(.file, largestField: 1 << 20)
  private var isAtStart = true

  /// Parses the next bytes.
  ///
  /// - Parameters:
  ///   - chunk: The bytes.
  ///   - isLast: Whether the file ends with them.
  ///   - records: Receives the records that end in the bytes, including those before an error.
  /// - Throws: `UserFileError` when a field is too large, a quotation mark is misplaced, or
  ///   semicolons separate the fields.
  mutating func take(_ chunk: [UInt8], isLast: Bool, into records: inout [Record]) throws {
    var index = 0
    while let record = try next(in: chunk, from: &index, isLast: isLast) {
      // An empty line isn't a record.
      if record.isEmpty { continue }
      guard !isAtStart || !record.isSeparatedBySemicolons else {
        throw UserFileError(Message("cli.the-fields-are-separated-by-semicolons"))
      }
      isAtStart = false
      records.append(Record(record))
    }
  }

  private mutating func next(
    in chunk: [UInt8], from index: inout Int, isLast: Bool
  ) throws(UserFileError) -> CSVRecord? {
    do throws(CSVFault) {
      return try parser.next(in: chunk, from: &index, isLast: isLast)
    } catch { throw UserFileError(error.message) }
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

extension CSVReader.Record {
  fileprivate init(_ record: CSVRecord) {
    let texts = record.fields.map { UntrustedText(validating: Array($0)) }
    let fields = texts.compactMap { $0 }
    self.init(fields: fields.count == texts.count ? fields : nil, line: record.line)
  }
}

extension CSVFault {
  fileprivate var message: Message {
    switch self {
    case .fieldTooLarge(let line):
      Message("cli.a-field-on-line-is-too", ["line": .text("\(line)")])
    case .textAfterQuote(let line):
      Message("cli.line-has-text-after-a-closing", ["line": .text("\(line)")])
    case .unclosedQuote(let line):
      Message("cli.a-quotation-mark-on-line-isnt", ["beginning": .text("\(line)")])
    }
  }
}
