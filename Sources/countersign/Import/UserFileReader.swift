import Foundation
import Host
import Identity
import IdentityToolkitAPI
import JSON
import Localization
import Text

/// The reason the rest of a user file can't be read.
struct UserFileError: Error {
  let message: Message

  init(_ message: Message) { self.message = message }
}

struct FileRow: Sendable {
  let row: ImportRow
  let line: Int
}

/// Reads a user file in chunks, so that its size doesn't matter.
struct UserFileReader {
  enum Format: String {
    case json
    case csv

    /// `option` is the value of `--format`, without which the extension decides.
    ///
    /// - Throws: `UsageError` for an unknown format, or an unknown extension without `--format`.
    init(path: String, option: String?) throws(UsageError) {
      if let option {
        guard let format = Format(rawValue: option.lowercased()) else {
          throw UsageError(
            Message("unknown format {option}; use json or csv", ["option": .text(option)]))
        }
        self = format
        return
      }
      let name = path.lowercased()
      if name.hasSuffix(".json") {
        self = .json
      } else if name.hasSuffix(".csv") {
        self = .csv
      } else {
        throw UsageError(Message("the file name doesn't end in .json or .csv; add --format"))
      }
    }
  }

  private let handle: FileHandle
  private let file: UserFile
  private let format: Format
  private var elements = JSON.ElementReader(member: "users")
  private var lines = CSVReader()
  private var ready: [FileRow] = []
  private var isAtStart = true
  /// Whether a byte of the document was read that isn't white space.
  private var hasBegun = false
  private var isAtEnd = false
  /// The error at which reading stopped; thrown once the rows before it have been returned.
  private var trouble: UserFileError?

  init(path: String, format: Format, file: UserFile) throws(ConfigurationError) {
    guard !DataFolder.isFolder(path) else {
      throw ConfigurationError(reading: path, SystemError(EISDIR))
    }
    do { handle = try FileHandle(forReadingFrom: URL(filePath: path)) } catch {
      throw ConfigurationError(reading: path, error)
    }
    self.format = format
    self.file = file
  }

  /// Returns the next rows, at most `count`; empty at the end.
  ///
  /// - Throws: `UserFileError` when the rest of the file can't be read.
  mutating func next(_ count: Int) throws -> [FileRow] {
    while ready.count < count, !isAtEnd {
      do { try readMore() } catch let error as UserFileError {
        trouble = error
        isAtEnd = true
      }
    }
    if ready.isEmpty, let trouble { throw trouble }
    let rows = Array(ready.prefix(count))
    ready.removeFirst(rows.count)
    return rows
  }

  private mutating func readMore() throws {
    var chunk: [UInt8]
    do { chunk = try handle.read(upToCount: 1 << 18).map { Array($0) } ?? [] } catch {
      throw UserFileError(.verbatim(OperatorText.reason(of: error)))
    }
    isAtEnd = chunk.isEmpty
    // Some editors begin a file with it; the CSV parser skips it as well.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if isAtStart, format == .json, chunk.starts(with: mark) { chunk.removeFirst(mark.count) }
    isAtStart = false
    switch format {
    case .json:
      try checkBeginning(chunk)
      try readElements(chunk)
    case .csv:
      var records: [CSVReader.Record] = []
      try lines.take(chunk, isLast: isAtEnd, into: &records)
      for record in records { ready.append(FileRow(row: row(record), line: record.line)) }
    }
  }

  private func row(_ record: CSVReader.Record) -> ImportRow {
    switch record.fields {
    case .success(let fields): file.row(csv: fields)
    case .failure(let fault): .failure(.unreadable(OperatorText.string(fault.message)))
    }
  }

  /// Throws an error for a document that is a list of users without the object around it.
  private mutating func checkBeginning(_ chunk: [UInt8]) throws(UserFileError) {
    let blank: Set = [UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0A, 0x0D]
    guard !hasBegun, let first = chunk.first(where: { !blank.contains($0) }) else { return }
    hasBegun = true
    guard first != UInt8(ascii: "[") else {
      throw UserFileError(Message("The JSON document has no \"users\" array."))
    }
  }

  private mutating func readElements(_ chunk: [UInt8]) throws {
    do throws(JSONError) {
      var found: [JSON.ElementReader.Element] = []
      defer {
        for element in found { ready.append(FileRow(row: row(element), line: element.line)) }
      }
      try elements.take(chunk, into: &found)
      guard isAtEnd else { return }
      try elements.finish()
    } catch {
      throw UserFileError(.verbatim("\(error)"))
    }
    guard elements.hasFound else {
      throw UserFileError(Message("The JSON document has no \"users\" array."))
    }
  }

  private func row(_ element: JSON.ElementReader.Element) -> ImportRow {
    do throws(JSONError) {
      return file.row(json: try JSON.parse(element.bytes, maximumDepth: 16))
    } catch {
      return .failure(.unreadable("\(error)"))
    }
  }
}
