public import Database
import Glibc

/// Moves files so that they are on the disk in the order in which they were moved.
public enum DurableFiles {
  /// Gives a file or folder another name in the same file system.
  ///
  /// - Throws: ``DatabaseError``.
  public static func move(_ from: String, to: String) throws(DatabaseError) {
    guard unsafe rename(from, to) == 0 else { throw DatabaseFile.failure(errno, to) }
  }

  /// Creates a folder for its owner alone.
  ///
  /// - Returns: False when there is something of that name already.
  /// - Throws: ``DatabaseError``.
  @discardableResult
  public static func createFolder(_ path: String) throws(DatabaseError) -> Bool {
    if unsafe mkdir(path, 0o700) == 0 { return true }
    guard errno == EEXIST else { throw DatabaseFile.failure(errno, path) }
    return false
  }

  /// Waits until a file, or which names a folder holds, is on the disk.
  ///
  /// - Throws: ``DatabaseError``.
  public static func sync(_ path: String) throws(DatabaseError) {
    let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw DatabaseFile.failure(errno, path) }
    defer { Glibc.close(file) }
    guard fsync(file) == 0 else { throw DatabaseFile.failure(errno, path) }
  }
}
