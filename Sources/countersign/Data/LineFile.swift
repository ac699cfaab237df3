import Glibc
import Host

/// A file of lines that's only appended to.
struct LineFile: Sendable {
  let path: String

  /// Creates the file if it doesn't exist.
  func create() throws(ConfigurationError) { close(try open()) }

  /// Appends lines, all or none, and waits until they're on disk.
  ///
  /// The file is opened each time, because log rotation may have moved it.
  func append(_ lines: [[UInt8]]) throws(ConfigurationError) {
    let file = try open()
    defer { close(file) }
    do { try WritableFile.append(lines, to: file) } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  private func open() throws(ConfigurationError) -> Int32 {
    // Another server may append in the meantime, whose lines mustn't be overwritten.
    do {
      return try WritableFile.open(path, permissions: 0o640, appends: true, isFolders: true)
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }
}
