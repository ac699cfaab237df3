import Glibc

/// The number of processors that this process may use.
func processorCount() -> Int {
  max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1)
}

/// The system's text for the last error.
func lastError() -> String {
  unsafe String(cString: strerror(errno))
}

/// Readings of the system's clocks.
enum SystemClock {
  /// Milliseconds of a clock that never jumps, four behind at most.
  static func coarseMilliseconds() -> UInt64 {
    nanoseconds(CLOCK_MONOTONIC_COARSE) / 1_000_000
  }

  /// Nanoseconds of a clock that never jumps.
  static func nanoseconds() -> UInt64 {
    nanoseconds(CLOCK_MONOTONIC)
  }

  /// Milliseconds since 1970, four behind at most.
  static func unixMilliseconds() -> UInt64 {
    nanoseconds(CLOCK_REALTIME_COARSE) / 1_000_000
  }

  private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// A thread of its own for work that waits or blocks.
struct WorkerThread: Sendable {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t?

  /// Starts a thread.
  init(_ run: @escaping @Sendable () -> Void) {
    let body = unsafe Unmanaged.passRetained(Body(run))
    var thread = pthread_t()
    let failure = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        }
        return nil
      }, body.toOpaque())
    if failure == 0 {
      self.thread = thread
    } else {
      unsafe body.release()
      self.thread = nil
    }
  }

  /// Whether the system gave a thread.
  var isRunning: Bool { thread != nil }

  /// Waits for the thread to end; to be called once.
  func join() {
    guard let thread else { return }
    _ = pthread_join(thread, nil)
  }
}

/// Runs blocking work on a thread of its own and waits for it without holding one.
func blocking<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    let thread = WorkerThread { continuation.resume(returning: work()) }
    if !thread.isRunning { continuation.resume(returning: work()) }
  }
}
