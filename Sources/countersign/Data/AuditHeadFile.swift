import Host
import Identity
import Localization

/// A file of signed heads of the audit log, one per line, that's only appended to.
struct AuditHeadFile: Sendable {
  let path: String

  /// Reads all lines.
  func lines() throws(ConfigurationError) -> [ExportedHead] {
    do {
      return try ReadableFile.contents(path)
        .split(separator: UInt8(ascii: "\n")).map { ExportedHead(line: Array($0)) }
    } catch {
      throw ConfigurationError(reading: path, error)
    }
  }

  private var file: LineFile { LineFile(path: path) }

  /// Creates the file if it doesn't exist.
  func create() throws(ConfigurationError) { try file.create() }

  /// Appends heads, all or none, and waits until they're on disk.
  func append(_ heads: [AuditHead]) throws(ConfigurationError) {
    try file.append(heads.map(\.line))
  }
}
