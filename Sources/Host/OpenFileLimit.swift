import Glibc

/// The limits on open files of this process (`getrlimit(2)`).
public struct OpenFileLimit: Sendable, Equatable {
  /// The limit in force.
  public let soft: Int
  /// The limit up to which a process can raise the soft one.
  public let hard: Int

  /// Returns the current limits; nil if the system doesn't tell.
  public static func current() -> OpenFileLimit? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return nil
    }
    return OpenFileLimit(
      soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
  }
}
