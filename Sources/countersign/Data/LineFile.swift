import Foundation
import Host

/// A file of lines that's only appended to.
struct LineFile: Sendable {
  let path: String

  /// Creates the file if it doesn't exist.
  func create() throws(ConfigurationError) {
    let handle = try open()
    try? handle.close()
  }

  /// Appends lines, and waits until they're on disk.
  ///
  /// The file is opened each time, because log rotation may have moved it.
  func append(_ lines: [[UInt8]]) throws {
    let handle = try open()
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

  private func open() throws(ConfigurationError) -> FileHandle {
    // Another server may append in the meantime, whose lines mustn't be overwritten.
    do {
      let file = try WritableFile.open(path, permissions: 0o640, appends: true)
      return FileHandle(fileDescriptor: file, closeOnDealloc: true)
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }
}
