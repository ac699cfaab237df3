import CLinux

/// The memory of this process, which has keys and passwords.
public enum ProcessMemory {
  /// Keeps the memory out of core dumps, and from other processes of the same user
  /// (`PR_SET_DUMPABLE` in `prctl(2)`).
  ///
  /// A filter of system calls may refuse it; the process then runs without it.
  public static func protect() {
    _ = linux_set_dumpable(0)
  }
}
