import Foundation
import Host
import Localization

/// A file of lines that's only appended to.
struct LineFile: Sendable {
  let path: String

  /// Creates the file if it doesn't exist.
  func create() throws(ConfigurationError) {
    let files = FileManager.default
    guard
      files.isWritableFile(atPath: path) && !DataFolder.isFolder(path)
        || !files.fileExists(atPath: path)
          && files.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o640])
    else { throw ConfigurationError(Message("cli.file-cant-be-written", ["path": .text(path)])) }
  }

  /// Appends lines, and waits until they're on disk.
  ///
  /// The file is opened each time, because log rotation may have moved it.
  func append(_ lines: [[UInt8]]) throws {
    try create()
    // Another server may append in the meantime, whose lines mustn't be overwritten.
    guard let file = AppendedFile.open(path) else {
      throw ConfigurationError(Message("cli.file-cant-be-written", ["path": .text(path)]))
    }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    defer { try? handle.close() }
    let end = try handle.seekToEnd()
    var bytes: [UInt8] = []
    if end > 0 {
      // A line that a crash cut off ends here.
      try handle.seek(toOffset: end - 1)
      if try handle.read(upToCount: 1) != Data("\n".utf8) { bytes.append(UInt8(ascii: "\n")) }
    }
    for line in lines { bytes += line + [UInt8(ascii: "\n")] }
    try handle.write(contentsOf: Data(bytes))
    try handle.synchronize()
  }
}
