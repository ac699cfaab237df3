import Glibc

/// When the system started, by its clocks.
public enum BootTime {
  /// Returns the time, in seconds since 1970; nil if the clocks can't be read.
  ///
  /// Unlike `btime` in `/proc/stat`, it's also known where a service sees only its own processes
  /// there.
  public static func seconds() -> Double? {
    guard let now = seconds(CLOCK_REALTIME), let sinceBoot = seconds(CLOCK_BOOTTIME) else {
      return nil
    }
    return now - sinceBoot
  }

  private static func seconds(_ clock: Int32) -> Double? {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
