public import Glibc

/// Opens files for reading and writing.
public enum WritableFile {
  /// Opens a file, which is created with these permissions, whatever the umask is, if it's missing.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - permissions: The permissions of a new file.
  ///   - appends: Whether several processes append to the file without overwriting each other's data
  ///     (`open(2)`, `O_APPEND`).
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: ``SystemError``.
  public static func open(
    _ path: String, permissions: mode_t, appends: Bool = false
  ) throws(SystemError) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : 0)
    let new = unsafe Glibc.open(path, flags | O_EXCL, permissions)
    if new >= 0 {
      _ = fchmod(new, permissions)
      return new
    }
    guard errno == EEXIST else { throw .last }
    let file = unsafe Glibc.open(path, flags, permissions)
    guard file >= 0 else { throw .last }
    return file
  }
}
