import Glibc

/// A file to which several processes append without overwriting each other's data (`open(2)`,
/// `O_APPEND`).
public enum AppendedFile {
  /// Opens an existing file for reading and appending.
  ///
  /// - Returns: The descriptor, which the caller closes; nil if the file can't be opened.
  public static func open(_ path: String) -> Int32? {
    let file = unsafe Glibc.open(path, O_RDWR | O_APPEND | O_CLOEXEC)
    return file >= 0 ? file : nil
  }
}
