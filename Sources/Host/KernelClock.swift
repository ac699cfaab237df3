import CLinux
import Glibc

/// What the kernel knows about the accuracy of the system clock (`adjtimex(2)`).
public struct KernelClock: Sendable, Equatable {
  /// Whether a time service, such as chrony or systemd-timesyncd, keeps the clock synchronized.
  public let isSynchronized: Bool
  /// The correction still to be made, in microseconds.
  public let offset: Int
  /// The maximum error, in microseconds.
  public let maximumError: Int

  /// How far the clock may be off, in microseconds: the correction and the maximum error of it.
  public var error: Int { max(abs(offset), maximumError) }

  /// Returns the current state; nil where the kernel doesn't tell, such as in some containers.
  ///
  /// Reading it needs no privilege, but a filter of system calls may refuse it with EPERM.
  public static func current() -> KernelClock? {
    var state = timex()
    let result = unsafe adjtimex(&state)
    guard result >= 0 else { return nil }
    let isNano = state.status & STA_NANO != 0
    return KernelClock(
      isSynchronized: result != TIME_ERROR && state.status & STA_UNSYNC == 0,
      offset: isNano ? state.offset / 1000 : state.offset, maximumError: state.maxerror)
  }
}

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
