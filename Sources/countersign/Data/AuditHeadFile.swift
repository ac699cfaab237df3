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

  /// Creates the file if it doesn't exist.
  func create() throws(ConfigurationError) {
    let files = FileManager.default
    guard
      files.isWritableFile(atPath: path)
        || !files.fileExists(atPath: path)
          && files.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o640])
    else { throw ConfigurationError(Message("cli.file-cant-be-written", ["path": .text(path)])) }
  }

  /// Returns the position of the last head; 0 if there is none.
  func lastPosition() throws -> Int64 {
    try create()
    return try heads().reversed().lazy.compactMap { $0?.sequence }.first ?? 0
  }

  /// Appends heads, and waits until they're on disk.
  ///
  /// The file is opened each time, because log rotation may have moved it.
  func append(_ heads: [AuditHead]) throws {
    try create()
    guard let handle = FileHandle(forUpdatingAtPath: path) else {
      throw ConfigurationError(Message("cli.file-cant-be-written", ["path": .text(path)]))
    }
    defer { try? handle.close() }
    let end = try handle.seekToEnd()
    var bytes: [UInt8] = []
    if end > 0 {
      // A line that a crash cut off ends here.
      try handle.seek(toOffset: end - 1)
      if try handle.read(upToCount: 1) != Data("\n".utf8) { bytes.append(UInt8(ascii: "\n")) }
    }
    for head in heads { bytes += head.line + [UInt8(ascii: "\n")] }
    try handle.write(contentsOf: Data(bytes))
    try handle.synchronize()
  }
}
