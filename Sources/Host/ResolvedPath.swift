import Glibc

/// Paths of files that symbolic links may lead to.
public enum ResolvedPath {
  /// Returns the path that symbolic links lead to; the path itself if nothing is there.
  public static func of(_ path: String) -> String {
    guard let target = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(target) }
    return unsafe String(cString: target)
  }
}
