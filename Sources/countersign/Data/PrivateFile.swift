import Foundation
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
    let isCreated = FileManager.default.createFile(
      atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600])
    guard isCreated, let handle = FileHandle(forWritingAtPath: partial) else {
      throw ConfigurationError(Message("cli.file-cant-be-written", ["path": .text(path)]))
    }
    self.handle = handle
  }

  deinit {
    try? handle.close()
    // Fails after `finish`, which renames the file.
    try? FileManager.default.removeItem(atPath: partial)
  }

  func write(_ bytes: [UInt8]) throws {
    do { try handle.write(contentsOf: Data(bytes)) } catch { throw failure(error) }
  }

  func finish() throws {
    do {
      try handle.synchronize()
      try FileManager.default.moveItem(atPath: partial, toPath: path)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: any Error) -> ConfigurationError {
    ConfigurationError(
      Message(
        "cli.file-cant-be-written-because",
        ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]))
  }
}
