import Foundation
import Identity
import Localization

/// A file of signed heads of the audit log, one per line, that's only appended to.
struct AuditHeadFile: Sendable {
  let path: String

  /// Reads all lines; a line that isn't a head is nil.
  func heads() throws -> [AuditHead?] {
    do {
      return try Data(contentsOf: URL(filePath: path))
        .split(separator: UInt8(ascii: "\n")).map { AuditHead(line: $0) }
    } catch {
      throw ConfigurationError(Message("cli.path-cant-be-read", ["path": .text(path)]))
    }
  }

  private var file: LineFile { LineFile(path: path) }

  /// Creates the file if it doesn't exist.
  func create() throws(ConfigurationError) { try file.create() }

  /// Appends heads, and waits until they're on disk.
  func append(_ heads: [AuditHead]) throws { try file.append(heads.map(\.line)) }
}
