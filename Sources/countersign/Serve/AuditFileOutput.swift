import Dispatch
import Glibc
import Host
import Localization
import Synchronization

/// The file of `--audit-file`, or standard output.
final class AuditFileOutput: Sendable {
  private enum Target: Sendable {
    /// A file; nil if it couldn't be opened.
    case file(Int32?)
    /// The descriptor of what was standard output, and whether the last line was cut off.
    case output(Int32, isCut: Bool)
  }

  /// The path, or `-`.
  let path: String
  let position: String
  /// Keeps other servers with the data folder from writing to their standard output, which would use
  /// the same position.
  private let lock: FolderLock?
  private let target: Mutex<Target>
  // Disks and pipes may be slow.
  private let queue = DispatchQueue(label: "audit-file")

  /// Opens the file, which is created if it's missing; or takes standard output, so that whatever else
  /// goes there is written to standard error.
  init(_ path: String, in folder: DataFolder) throws(ConfigurationError) {
    self.path = path
    guard path == "-" else {
      position = path + ".position"
      lock = nil
      target = Mutex(.file(try Self.open(path)))
      return
    }
    position = folder.auditFilePosition
    guard let lock = try folder.lockStandardOutput() else {
      throw .temporary(
        Message(
          """
          Another server with the data folder {path} writes the audit log to its standard output. \
          Give each server a separate data folder, or a file.
          """, ["path": .text(folder.path)]))
    }
    self.lock = lock
    do { target = Mutex(.output(try StandardStream.reserveOutput(), isCut: false)) } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  var isStandardOutput: Bool { path == "-" }

  private static func open(_ path: String) throws(ConfigurationError) -> Int32 {
    // Another server may append in the meantime, whose lines mustn't be overwritten.
    do {
      return try WritableFile.open(path, permissions: 0o640, appends: true, isFolders: true)
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  /// Opens the file by its path again, after it was moved.
  func reopen() async throws(ConfigurationError) {
    try await use { [path] (target) throws(ConfigurationError) in
      guard case .file(let file) = target else { return }
      if let file { close(file) }
      target = .file(nil)
      target = .file(try Self.open(path))
    }
  }

  /// Appends lines, all or none, and waits until they're on disk; standard output has a part of them
  /// if it fails.
  func append(_ lines: [[UInt8]]) async throws(ConfigurationError) {
    try await use { [path] (target) throws(ConfigurationError) in
      switch target {
      case .file(let file):
        var descriptor = file
        if let open = file, WritableFile.isDeleted(open) {
          close(open)
          descriptor = nil
        }
        target = .file(nil)
        let open = if let descriptor { descriptor } else { try Self.open(path) }
        target = .file(open)
        do { try WritableFile.append(lines, to: open) } catch {
          throw ConfigurationError(writing: path, error)
        }
      case .output(let descriptor, let isCut):
        let lineFeed = UInt8(ascii: "\n")
        target = .output(descriptor, isCut: true)
        do throws(StandardStream.WriteError) {
          try StandardStream.write(
            (isCut ? [lineFeed] : []) + lines.flatMap { $0 + [lineFeed] }, to: descriptor)
        } catch {
          throw ConfigurationError(
            Message(
              "The command finished, but its output can't be written: {reason}.",
              ["reason": .text(error.reason)]))
        }
        target = .output(descriptor, isCut: false)
      }
    }
  }

  private func use(
    _ body: @escaping @Sendable (inout Target) throws(ConfigurationError) -> Void
  ) async throws(ConfigurationError) {
    let result = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: self.target.withLock { target -> Result<Void, ConfigurationError> in
            do throws(ConfigurationError) {
              try body(&target)
              return .success(())
            } catch { return .failure(error) }
          })
      }
    }
    try result.get()
  }
}
