import Host
import Identity

/// A file of signed heads of the audit log, one per line.
struct AuditHeadFile: Sendable {
  let path: String

  /// Reads all lines; nil for one that isn't a head.
  func lines() throws(ConfigurationError) -> [AuditHead?] {
    do {
      return try ReadableFile.contents(path)
        .split(separator: UInt8(ascii: "\n")).map { AuditHead(line: $0) }
    } catch {
      throw ConfigurationError(reading: path, error)
    }
  }
}
