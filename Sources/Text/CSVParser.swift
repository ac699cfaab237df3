/// A record of comma-separated values.
public struct CSVRecord: Sendable, Equatable {
  private let bytes: [UInt8]
  private let ends: [Int]
  /// The line on which the record begins, counted from 1.
  public let line: Int

  fileprivate init(_ bytes: [UInt8], ends: [Int], line: Int) {
    (self.bytes, self.ends, self.line) = (bytes, ends, line)
  }

  /// The bytes of the fields, at least one.
  public var fields: [ArraySlice<UInt8>] {
    ends.indices.map { index in bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }
  }

  /// Whether the line was empty.
  public var isEmpty: Bool { ends.count == 1 && bytes.isEmpty }
}

/// Why comma-separated values can't be parsed, with the number of the line.
public enum CSVFault: Error, Equatable {
  /// A field is larger than the parser allows.
  case fieldTooLarge(line: Int)
  /// A quoted field has text after its closing quotation mark.
  case textAfterQuote(line: Int)
  /// The record that begins on the line has a quotation mark that isn't closed.
  case unclosedQuote(line: Int)
}

/// Parses comma-separated values (RFC 4180) in chunks: fields may be quoted, and quotation marks
/// inside a quoted field are doubled.
///
/// It returns bytes, whose encoding isn't checked.
public struct CSVParser: Sendable {
  /// What is parsed.
  public enum Dialect: Sendable {
    /// A file, whose misplaced quotation marks are errors. Carriage returns outside quoted fields
    /// are ignored.
    case file
    /// Pasted text: a semicolon or a tab separates fields, a carriage return ends a line, and text
    /// around a quoted part belongs to its field, except for spaces before it.
    case pasted
  }

  private enum Place { case begin, plain, quoted, quote }

  /// Whether quotation marks quote; otherwise they're text.
  public var readsQuotes = true

  private let dialect: Dialect
  private let largestField: Int
  private var place = Place.begin
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var line = 1
  private var beginning = 1
  /// Whether a byte of the current record was read.
  private var isInRecord = false
  /// Whether a line feed belongs to the carriage return before it.
  private var isAfterReturn = false
  /// The number of bytes of a byte order mark, which some editors and spreadsheets add; nil after
  /// it.
  private var markBytes: Int? = 0

  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Creates a parser.
  ///
  /// - Parameters:
  ///   - dialect: What is parsed.
  ///   - largestField: The size that a field must not reach, in bytes.
  public init(_ dialect: Dialect, largestField: Int = .max) {
    (self.dialect, self.largestField) = (dialect, largestField)
  }

  /// Parses up to the end of a record.
  ///
  /// - Parameters:
  ///   - chunk: The next bytes.
  ///   - index: The position in the chunk, which moves behind the record.
  ///   - isLast: Whether the text ends with the chunk.
  /// - Returns: The record; nil if the chunk ends before a record does.
  /// - Throws: ``CSVFault``; for pasted text only that a field is too large or a quotation mark
  ///   isn't closed.
  public mutating func next(
    in chunk: [UInt8], from index: inout Int, isLast: Bool
  ) throws(CSVFault) -> CSVRecord? {
    while index < chunk.count {
      let byte = chunk[index]
      index += 1
      if try take(byte) { return endRecord() }
    }
    guard isLast else { return nil }
    guard place != .quoted else { throw .unclosedQuote(line: beginning) }
    return isInRecord ? endRecord() : nil
  }

  private var fieldStart: Int { ends.last ?? 0 }

  /// Parses a byte, and returns whether it ends the record.
  private mutating func take(_ byte: UInt8) throws(CSVFault) -> Bool {
    guard bytes.count - fieldStart < largestField else { throw .fieldTooLarge(line: line) }
    if endsMark(byte) {
      startField()
      isInRecord = false
      return false
    }
    let isSecondOfPair = isAfterReturn && byte == 0x0A
    isAfterReturn = false
    if isSecondOfPair { return false }
    isInRecord = true
    if byte == 0x0A { line += 1 }
    switch (place, byte) {
    case (.quoted, 0x22): place = .quote
    case (.quoted, _): bytes.append(byte)
    case (.quote, 0x22):
      bytes.append(byte)
      place = .quoted
    case (.begin, 0x22) where readsQuotes:
      startField()
      place = .quoted
    case (_, 0x2C): endField()
    case (_, 0x3B) where dialect == .pasted: endField()
    case (_, 0x09) where dialect == .pasted: endField()
    case (_, 0x0A): return true
    case (_, 0x0D) where dialect == .file: break
    case (_, 0x0D):
      line += 1
      isAfterReturn = true
      return true
    case (.quote, _) where dialect == .file: throw .textAfterQuote(line: line)
    default: takeText(byte)
    }
    return false
  }

  /// Adds a byte of an unquoted part; before a quoted part, pasted text may have spaces.
  private mutating func takeText(_ byte: UInt8) {
    if place == .quote {
      place = bytes[fieldStart...].allSatisfy { $0 == 0x20 } ? .begin : .plain
    }
    bytes.append(byte)
    if byte != 0x20 || dialect == .file { place = .plain }
  }

  /// Whether a byte is the last one of a byte order mark at the beginning of the text.
  private mutating func endsMark(_ byte: UInt8) -> Bool {
    guard let count = markBytes else { return false }
    guard byte == Self.mark[count] else {
      markBytes = nil
      return false
    }
    markBytes = count + 1 < Self.mark.count ? count + 1 : nil
    return markBytes == nil
  }

  private mutating func startField() {
    bytes.removeLast(bytes.count - fieldStart)
    place = .begin
  }

  private mutating func endField() {
    ends.append(bytes.count)
    place = .begin
  }

  private mutating func endRecord() -> CSVRecord {
    endField()
    let record = CSVRecord(bytes, ends: ends, line: beginning)
    (bytes, ends, beginning, isInRecord) = ([], [], line, false)
    return record
  }
}
