import Text

/// Takes a CSV file apart as RFC 4180 writes it: quotes around a field, doubled inside of one.
struct CSVReader {
  struct Record {
    /// The fields, or nil when one of them has too many combining marks in a row.
    let fields: [UntrustedText]?
    /// The line on which it begins, from 1.
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

  /// Takes the next bytes, and gives the records that end in them, also those before an error.
  mutating func take(_ chunk: [UInt8], isLast: Bool, into records: inout [Record]) throws {
    var bytes = chunk[...]
    // A mark of the byte order stands before the first field in files of some spreadsheets.
    if isFirst, chunk.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    if !chunk.isEmpty { isFirst = false }
    for byte in bytes {
      guard field.count < Self.largest else {
        throw UserFileError(message: "A field on line \(line) is too large.")
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
        throw UserFileError(message: "Line \(line) has text behind a closing quotation mark.")
      default:
        field.append(byte)
        place = .plain
      }
      if byte == 0x0A { line += 1 }
      if byte == 0x0A, place != .quoted { beginning = line }
    }
    guard isLast else { return }
    guard place != .quoted else {
      throw UserFileError(message: "A quotation mark of line \(beginning) is not closed.")
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
    // An empty line is no record.
    if fields.count > 1 || fields[0] != "" || !isReadable {
      records.append(Record(fields: isReadable ? fields : nil, line: beginning))
    }
    fields.removeAll(keepingCapacity: true)
    isReadable = true
  }
}
