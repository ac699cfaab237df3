import Foundation
import Identity
import IdentityToolkitAPI
import JSON
import Text

/// Why a file with users cannot be read to its end.
struct UserFileError: Error {
  let message: String
}

/// A row of a file, and where it stands.
struct FileRow: Sendable {
  let row: ImportRow
  let line: Int
}

/// Reads a file of users part by part, so that its size does not matter.
struct UserFileReader {
  enum Format: String {
    case json
    case csv

    /// The format of a name, or the one that was said.
    init(path: String, said: String?) throws(UsageError) {
      if let said {
        guard let format = Format(rawValue: said.lowercased()) else {
          throw UsageError(message: "\(said) is no format; use json or csv")
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
        throw UsageError(
          message: "the name of the file does not end in .json or .csv: say which with --format")
      }
    }
  }

  private let handle: FileHandle
  private let file: UserFile
  private let format: Format
  private var elements = JSON.ElementReader(member: "users")
  private var lines = CSVReader()
  private var ready: [FileRow] = []
  private var isAtEnd = false
  /// What ends the file before its end; told when the rows before it have been given.
  private var trouble: UserFileError?

  init(path: String, format: Format, file: UserFile) throws(ConfigurationError) {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ConfigurationError("\(path) cannot be read.")
    }
    self.handle = handle
    self.format = format
    self.file = file
  }

  /// The next rows, at most so many; none at the end.
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
    let chunk = try handle.read(upToCount: 1 << 18).map { Array($0) } ?? []
    isAtEnd = chunk.isEmpty
    switch format {
    case .json: try readElements(chunk)
    case .csv:
      var records: [CSVReader.Record] = []
      defer {
        for record in records {
          let row =
            record.fields.map { file.row(csv: $0) }
            ?? .failure(
              .unreadable(
                "A field has more than \(UntrustedText.longestRun) combining marks in a row."))
          ready.append(FileRow(row: row, line: record.line))
        }
      }
      try lines.take(chunk, isLast: isAtEnd, into: &records)
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
      throw UserFileError(message: "\(error)")
    }
    guard elements.hasFound else {
      throw UserFileError(message: "The JSON document has no list \"users\".")
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
