public import Database
import Glibc
import Host

/// Moves files durably, in order.
public enum DurableFiles {
  /// Renames a file or folder in the same file system.
  ///
  /// - Throws: ``DatabaseError``.
  public static func move(_ from: String, to: String) throws(DatabaseError) {
    guard unsafe rename(from, to) == 0 else { throw DatabaseFile.failure(errno, to) }
  }

  /// Creates a folder with mode 700 and the owner of the folder that it's in (`FolderOwner`).
  ///
  /// - Returns: False when the name already exists.
  /// - Throws: ``DatabaseError``.
  @discardableResult
  public static func createFolder(_ path: String) throws(DatabaseError) -> Bool {
    if unsafe mkdir(path, 0o700) == 0 {
      do throws(SystemError) { try FolderOwner.adopt(path: path) } catch {
        unsafe rmdir(path)
        throw DatabaseFile.failure(error.number, path)
      }
      return true
    }
    guard errno == EEXIST else { throw DatabaseFile.failure(errno, path) }
    return false
  }

  /// Syncs a file, or the entries of a folder, to disk.
  ///
  /// - Throws: ``DatabaseError``.
  public static func sync(_ path: String) throws(DatabaseError) {
    let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw DatabaseFile.failure(errno, path) }
    defer { Glibc.close(file) }
    guard fsync(file) == 0 else { throw DatabaseFile.failure(errno, path) }
  }
}
