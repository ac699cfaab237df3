import Glibc
import Host

enum SystemClock {
  /// Returns milliseconds of a monotonic clock, at most 4 ms behind.
  static func coarseMilliseconds() -> UInt64 {
    nanoseconds(CLOCK_MONOTONIC_COARSE) / 1_000_000
  }

  /// Returns nanoseconds of a monotonic clock.
  static func nanoseconds() -> UInt64 {
    nanoseconds(CLOCK_MONOTONIC)
  }

  /// Returns milliseconds since 1970, at most 4 ms behind.
  static func unixMilliseconds() -> UInt64 {
    nanoseconds(CLOCK_REALTIME_COARSE) / 1_000_000
  }

  private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// A dedicated thread for work that waits or blocks.
struct WorkerThread: Sendable {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  /// Starts a thread; throws `ServerError` when there are too many threads.
  init(_ run: @escaping @Sendable () -> Void) throws(ServerError) {
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
    guard failure == 0 else {
      unsafe body.release()
      throw .system(SystemError(failure))
    }
    self.thread = thread
  }

  /// Waits for the thread to end; must be called once.
  func join() { _ = pthread_join(thread, nil) }
}

/// Runs blocking work on a dedicated thread and waits for it without blocking a thread.
func blocking<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    do throws(ServerError) {
      _ = try WorkerThread { continuation.resume(returning: work()) }
    } catch {
      continuation.resume(returning: work())
    }
  }
}
