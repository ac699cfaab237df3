import Foundation
import Glibc
import Host
import Localization

/// A lock on a file of the data folder, which other processes respect until it's released.
final class FolderLock: Sendable {
  private let handle: FileHandle

  /// Acquires the lock, without waiting; returns nil while another process has one that excludes
  /// it.
  init?(path: String, isShared: Bool) throws(ConfigurationError) {
    let file: Int32
    do { file = try WritableFile.open(path, permissions: 0o600, isFolders: true) } catch {
      throw ConfigurationError(
        Message(
          "The lock file {lock} can't be opened for writing: {reason}",
          ["lock": .text(path), "reason": .text("\(error)")]),
        isTemporary: error.isTemporary)
    }
    handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    guard flock(handle.fileDescriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
      let error = SystemError.last
      guard error.number != EWOULDBLOCK else { return nil }
      throw ConfigurationError(
        Message(
          """
          The lock file {lock} can't be locked: {reason}. The data folder requires a file system \
          with locks.
          """, ["lock": .text(path), "reason": .text("\(error)")]),
        isTemporary: error.isTemporary)
    }
  }

  deinit { release() }

  /// Releases the lock; has no effect if it was released.
  ///
  /// Closing the file isn't enough: a process that is being spawned has a copy of the descriptor
  /// until it executes its program, and the lock lives as long as the last copy.
  func release() {
    if handle.fileDescriptor >= 0 { _ = flock(handle.fileDescriptor, LOCK_UN) }
    try? handle.close()
  }
}
