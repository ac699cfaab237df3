import Localization
import Text

/// Parses CSV (RFC 4180): fields may be quoted, and quotes inside a quoted field are doubled.
struct CSVReader {
  struct Record {
    /// The fields; nil when one of them has too many combining marks in a row.
    let fields: [UntrustedText]?
    /// The line on which the record begins, counted from 1.
    let line: Int
  }

  private enum Place { case begin, plain, quoted, quote }

  private static let largest = 1 << 20

  private var place = Place.begin
  private var field: [UInt8] = []
  private var fields: [UntrustedText] = []
  private var isReadable = true
  private var line = 1
  private var beginning = 1
  private var isFirst = true

  /// Parses the next bytes.
  ///
  /// - Parameters:
  ///   - chunk: The bytes.
  ///   - isLast: Whether the file ends with them.
  ///   - records: Receives the records that end in the bytes, including those before an error.
  /// - Throws: `UserFileError` when a field is too large or a quotation mark is misplaced.
  mutating func take(_ chunk: [UInt8], isLast: Bool, into records: inout [Record]) throws {
    var bytes = chunk[...]
    // Some spreadsheets write a byte order mark before the first field.
    if isFirst, chunk.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    if !chunk.isEmpty { isFirst = false }
    for byte in bytes {
      guard field.count < Self.largest else {
        throw UserFileError(Message("cli.a-field-on-line-is-too", ["line": .text("\(line)")]))
      }
      switch (place, byte) {
      case (.quoted, 0x22): place = .quote
      case (.quoted, _): field.append(byte)
      case (.quote, 0x22):
        field.append(byte)
        place = .quoted
      case (.begin, 0x22): place = .quoted
      case (_, 0x2C): endField()
      case (_, 0x0A): endRecord(&records)
      case (_, 0x0D): break
      case (.quote, _):
        throw UserFileError(
          Message("cli.line-has-text-after-a-closing", ["line": .text("\(line)")]))
      default:
        field.append(byte)
        place = .plain
      }
      if byte == 0x0A { line += 1 }
      if byte == 0x0A, place != .quoted { beginning = line }
    }
    guard isLast else { return }
    guard place != .quoted else {
      throw UserFileError(
        Message("cli.a-quotation-mark-on-line-isnt", ["beginning": .text("\(beginning)")]))
    }
    if !fields.isEmpty || !field.isEmpty { endRecord(&records) }
  }

  private mutating func endField() {
    let text = UntrustedText(checking: String(decoding: field, as: UTF8.self))
    if text == nil { isReadable = false }
    fields.append(text ?? "")
    field.removeAll(keepingCapacity: true)
    place = .begin
  }

  private mutating func endRecord(_ records: inout [Record]) {
    endField()
    // An empty line isn't a record.
    if fields.count > 1 || fields[0] != "" || !isReadable {
      records.append(Record(fields: isReadable ? fields : nil, line: beginning))
    }
    fields.removeAll(keepingCapacity: true)
    isReadable = true
  }
}
