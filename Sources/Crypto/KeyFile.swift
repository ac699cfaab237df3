import Glibc

/// The file with the master keys.
public enum KeyFile {
  /// The file couldn't be written.
  public struct Failure: Error, Sendable {
    /// The number of the system's error (`errno(3)`).
    public let number: Int32
  }

  /// Replaces a file's contents with a secret, with mode 600.
  ///
  /// The secret is written to another file, which is then renamed, so that the file always has the
  /// old or the new contents, and the new ones survive a power failure afterwards.
  ///
  /// - Throws: ``Failure``, after which nothing of the secret is left in the other file.
  public static func replace(_ path: String, with text: Secret) throws(Failure) {
    let new = path + ".new"
    _ = unsafe unlink(new)
    let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(number: errno) }
    let bytes = text.revealedBytes
    let written = unsafe write(descriptor, bytes, bytes.count)
    let isSafe = written == bytes.count && fsync(descriptor) == 0
    // A full disk ends a write early, without an error.
    var number = written >= 0 && written < bytes.count ? ENOSPC : errno
    close(descriptor)
    if isSafe {
      if unsafe rename(new, path) == 0 { return syncFolder(of: path) }
      number = errno
    }
    _ = unsafe unlink(new)
    throw Failure(number: number)
  }

  /// Syncs the folder, so that the renamed file survives a power failure.
  private static func syncFolder(of path: String) {
    let end = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
    let folder = unsafe open(end.isEmpty ? "/" : String(end), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }
}
