import Glibc

/// The file with the master keys.
public enum KeyFile {
  /// Replaces a file's contents with a secret, with mode 600.
  ///
  /// The secret is written to another file, which is then renamed, so that the file always has the
  /// old or the new contents, and the new ones survive a power failure afterwards.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` with the system's reason.
  public static func replace(_ path: String, with text: Secret) throws(CryptoError) {
    let new = path + ".new"
    _ = unsafe unlink(new)
    let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure() }
    let bytes = text.revealedBytes
    let written = unsafe write(descriptor, bytes, bytes.count)
    let isSafe = written == bytes.count && fsync(descriptor) == 0
    let reason = errno
    close(descriptor)
    guard isSafe else { throw failure(reason) }
    guard unsafe rename(new, path) == 0 else { throw failure() }
    syncFolder(of: path)
  }

  /// Syncs the folder, so that the renamed file survives a power failure.
  private static func syncFolder(of path: String) {
    let end = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
    let folder = unsafe open(end.isEmpty ? "/" : String(end), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  private static func failure(_ number: Int32 = errno) -> CryptoError {
    .failed(unsafe String(cString: strerror(number)))
  }
}
