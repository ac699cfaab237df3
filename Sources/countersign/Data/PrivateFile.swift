import Foundation
import Host
import Localization

/// A file with mode 600 that appears under its name once it's complete and synced to disk.
final class PrivateFile: Sendable {
  private let path: String
  private let partial: String
  private let handle: FileHandle

  init(_ path: String) throws(ConfigurationError) {
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ConfigurationError(
        Message("cli.already-exists-choose-another-name-or", ["file": .text(path)]))
    }
    self.path = path
    partial = "\(path).partial-\(ProcessInfo.processInfo.processIdentifier)"
    let file: Int32
    do { file = try WritableFile.open(partial, permissions: 0o600) } catch {
      throw ConfigurationError(writing: path, error)
    }
    handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    // A process with the same number may have been killed.
    do { try handle.truncate(atOffset: 0) } catch { throw ConfigurationError(writing: path, error) }
  }

  deinit {
    try? handle.close()
    // Fails after `finish`, which renames the file.
    try? FileManager.default.removeItem(atPath: partial)
  }

  func write(_ bytes: [UInt8]) throws {
    do { try handle.write(contentsOf: Data(bytes)) } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  func finish() throws {
    do {
      try handle.synchronize()
      try FileManager.default.moveItem(atPath: partial, toPath: path)
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }
}
