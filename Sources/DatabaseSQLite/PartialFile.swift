public import Database
import Glibc

/// A file that a process is writing, such as a backup or an export, before it gets its name.
///
/// The process holds a lock on it. Without one, an interrupted process left it.
public enum PartialFile {
  /// What's appended to the name that the file gets.
  public static let suffix = ".partial"

  /// Returns whether a process is writing the file; otherwise, an interrupted one left it.
  ///
  /// - Parameter path: The file.
  /// - Returns: False as well on a file system without locks.
  public static func isBeingWritten(_ path: String) -> Bool {
    let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// How often another process may remove the new file before it's locked.
  private static let attempts = 5

  /// Creates the file with mode 600, and locks it; what an interrupted process left is removed.
  ///
  /// - Parameter path: The file.
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: `DatabaseError`: `.busy` when another process is writing it.
  public static func create(_ path: String) throws(DatabaseError) -> Int32 {
    for _ in 0..<attempts {
      let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if file < 0, errno == EEXIST {
        guard !isBeingWritten(path) else {
          throw DatabaseError(.busy, "another process is writing \(path)")
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
          throw DatabaseFile.failure(errno, path)
        }
        continue
      }
      guard file >= 0 else { throw DatabaseFile.failure(errno, path) }
      // Not every file system has locks. Without one, no other process removes the file either,
      // except for the next backup to the same place.
      _ = flock(file, LOCK_EX)
      var status = stat()
      if unsafe fstat(file, &status) == 0, status.st_nlink > 0 { return file }
      // Another process took it for the file of an interrupted backup before it was locked.
      close(file)
    }
    throw DatabaseError(.busy, "other processes are writing \(path)")
  }
}
