/// A record of comma-separated values.
public struct CSVRecord: Sendable, Equatable {
  private let bytes: [UInt8]
  private let ends: [Int]
  /// The line on which the record begins, counted from 1.
  public let line: Int

  fileprivate init(_ bytes: [UInt8], ends: [Int], line: Int) {
    (self.bytes, self.ends, self.line) = (bytes, ends, line)
  }

  /// The number of fields, at least one.
  public var fieldCount: Int { ends.count }

  /// The bytes of the fields, at least one.
  public var fields: [ArraySlice<UInt8>] {
    ends.indices.map { index in bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }
  }

  /// Whether the line was empty.
  public var isEmpty: Bool { ends.count == 1 && bytes.isEmpty }
}

/// Why a record of comma-separated values can't be parsed.
public struct CSVFault: Error, Equatable {
  /// What is wrong with a record.
  public enum Kind: Sendable {
    /// A field is larger than the parser allows.
    case fieldTooLarge
    /// A quoted field has text after its closing quotation mark.
    case textAfterQuote
    /// A quotation mark isn't closed.
    case unclosedQuote
  }

  /// What is wrong.
  public let kind: Kind
  /// The line on which the record begins, counted from 1.
  public let line: Int

  /// Creates an error.
  public init(kind: Kind, line: Int) { (self.kind, self.line) = (kind, line) }
}

/// Parses comma-separated values (RFC 4180) in chunks: fields may be quoted, and quotation marks
/// inside a quoted field are doubled.
///
/// It returns bytes, whose encoding isn't checked. After an error in a file, parsing goes on at the
/// line after the one on which the record began.
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

  /// The bytes of a file after the first line of the record, and those that are parsed again.
  private var kept: [UInt8] = []
  /// The position of the next byte in ``kept``; bytes after these come from the chunk.
  private var position = 0
  /// The position in ``kept`` of the record's second line; nil on its first line.
  private var secondLine: Int?
  /// Whether the rest of a line is ignored, since its record is an error.
  private var isSkipping = false

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
    while let byte = nextByte(in: chunk, from: &index) {
      if isSkipping {
        if byte == 0x0A { endSkipping() }
        continue
      }
      do throws(CSVFault) {
        if try take(byte) { return endRecord() }
      } catch {
        restart(after: byte)
        throw error
      }
      if byte == 0x0A, place == .quoted, dialect == .file { keepSecondLine() }
    }
    guard isLast else { return nil }
    guard place != .quoted else {
      let fault = fault(.unclosedQuote)
      restart(after: nil)
      throw fault
    }
    return isInRecord ? endRecord() : nil
  }

  private mutating func nextByte(in chunk: [UInt8], from index: inout Int) -> UInt8? {
    if position < kept.count {
      position += 1
      return kept[position - 1]
    }
    guard index < chunk.count else { return nil }
    index += 1
    if secondLine != nil {
      kept.append(chunk[index - 1])
      position += 1
    }
    return chunk[index - 1]
  }

  /// Keeps what follows the record's first line, to parse it again if the record is an error.
  private mutating func keepSecondLine() {
    guard secondLine == nil else { return }
    forgetParsed()
    secondLine = position
  }

  /// Removes the kept bytes once all of them have been parsed.
  private mutating func forgetParsed() {
    secondLine = nil
    guard position == kept.count else { return }
    kept.removeAll(keepingCapacity: true)
    position = 0
  }

  /// Drops the record and goes on at the line after its first one; the byte is nil at the end.
  private mutating func restart(after byte: UInt8?) {
    (bytes, ends, isInRecord, place) = ([], [], false, .begin)
    if let secondLine {
      position = secondLine
      line = beginning + 1
      beginning = line
    } else if byte == 0x0A {
      endSkipping()
    } else {
      isSkipping = byte != nil
    }
    secondLine = nil
  }

  private mutating func endSkipping() {
    isSkipping = false
    line += 1
    beginning = line
  }

  private func fault(_ kind: CSVFault.Kind) -> CSVFault { CSVFault(kind: kind, line: beginning) }

  private var fieldStart: Int { ends.last ?? 0 }

  /// Parses a byte, and returns whether it ends the record.
  private mutating func take(_ byte: UInt8) throws(CSVFault) -> Bool {
    guard bytes.count - fieldStart < largestField else { throw fault(.fieldTooLarge) }
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
    case (.quote, _) where dialect == .file: throw fault(.textAfterQuote)
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
    forgetParsed()
    return record
  }
}
