import DatabaseSQLite
import Foundation
import Localization
import Synchronization

/// A file with mode 600 that appears under its name once it's complete and synced to disk.
///
/// Until then, its name ends with `.partial`. What a killed process left there, which may be
/// password hashes, is replaced by the next file with the same name.
final class PrivateFile: Sendable {
  private let path: String
  private let partial: String
  private let handle: FileHandle
  private let isFinished = Atomic<Bool>(false)

  init(_ path: String) throws(ConfigurationError) {
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ConfigurationError(
        Message("{file} already exists. Choose another name or delete it.", ["file": .text(path)]))
    }
    self.path = path
    partial = path + PartialFile.suffix
    let file: Int32
    do { file = try PartialFile.create(partial) } catch {
      throw ConfigurationError(writing: path, error)
    }
    handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
  }

  deinit {
    // Before the lock ends.
    if !isFinished.load(ordering: .relaxed) { try? FileManager.default.removeItem(atPath: partial) }
    try? handle.close()
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
      isFinished.store(true, ordering: .relaxed)
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }
}
