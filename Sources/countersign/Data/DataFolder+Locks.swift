import Foundation
import Glibc
import Host
import Localization

extension DataFolder {
  /// Locks the folder for a server, until the process ends: for only one if the database is a file,
  /// and else along with other servers.
  func lockForServer() throws(ConfigurationError) -> FolderLock {
    guard isOnServer else { return try lock() }
    guard let handle = try take(Self.serverLockName, isShared: true) else { throw inUse }
    return handle
  }

  /// How long a server waits for the folder: commands lock it while they open the database.
  private static let patience = Duration.seconds(10)

  /// Locks the folder for a server, and waits for commands that use it.
  func waitForServerLock() async throws -> FolderLock {
    let end = ContinuousClock.now + Self.patience
    while true {
      do { return try lockForServer() } catch {
        guard error.isTemporary, ContinuousClock.now < end else { throw error }
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private var inUse: ConfigurationError {
    guard !lacksOpenDatabase else { return openDatabaseMissing }
    return .temporary(
      Message(
        """
        Another Countersign server or command is using {path}. Stop it first, or choose another \
        folder with --data.
        """, ["path": .text(path)]))
  }

  /// Locks the folder for one server, until the process ends.
  func lock() throws(ConfigurationError) -> FolderLock {
    guard let handle = try lockIfFree() else { throw inUse }
    return handle
  }

  /// Locks the folder for one server; returns nil when another process has the lock.
  func lockIfFree() throws(ConfigurationError) -> FolderLock? {
    try take(Self.serverLockName)
  }

  /// Locks the audit log on standard output for one server; returns nil when another one has the lock.
  func lockStandardOutput() throws(ConfigurationError) -> FolderLock? {
    try take(Self.auditFileLockName)
  }

  /// Acquires the shared lock that keeps the master key from changing while a command uses it.
  func lockKeys() throws(ConfigurationError) -> FolderLock {
    guard let handle = try take(Self.keysLockName, isShared: true) else {
      throw ConfigurationError.temporary(
        Message(
          """
          Another countersign command is changing the keys or the database of {path}. Try again \
          in a moment.
          """, ["path": .text(path)]))
    }
    return handle
  }

  /// Acquires the exclusive lock on the master key, which only a server may be using meanwhile.
  func lockKeysForChange() throws(ConfigurationError) -> FolderLock {
    guard let handle = try take(Self.keysLockName) else {
      throw ConfigurationError.temporary(
        Message(
          """
          Another countersign command is using {path} and may encrypt with the current key. Try \
          again when it finishes.
          """, ["path": .text(path)]))
    }
    return handle
  }

  private func take(_ name: String, isShared: Bool = false) throws(ConfigurationError)
    -> FolderLock?
  {
    try FolderLock(path: "\(path)/\(name)", isShared: isShared)
  }
}

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
