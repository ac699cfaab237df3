import Dispatch
import Glibc
import Synchronization

/// The CPU time in nanoseconds that a piece of work takes for three texts.
public struct Work: Sendable, CustomStringConvertible {
  /// For ASCII.
  public private(set) var plain = UInt64.max
  /// For hostile text of the same length.
  public private(set) var hostile = UInt64.max
  /// For hostile text of twice the length.
  public private(set) var doubled = UInt64.max

  /// The maximum number of measurements, which are repeated while the result isn't linear.
  ///
  /// Other activity on the machine adds to the time, so the minimum of each is the cost.
  private static let rounds = 12

  /// The tolerance for the clock and the first run of code, in nanoseconds.
  ///
  /// Normalizing 64 KiB of hostile text once takes sixty times as long.
  private static let slack: UInt64 = 16_000_000

  private mutating func take(plain: UInt64, hostile: UInt64, doubled: UInt64) {
    self.plain = min(self.plain, plain)
    self.hostile = min(self.hostile, hostile)
    self.doubled = min(self.doubled, doubled)
  }

  /// Whether hostile text takes at most three times as long as ASCII, and twice the length at most
  /// two and a half times as long.
  public var isLinear: Bool {
    hostile < .max && hostile <= 3 * plain + Self.slack && isLinearInLength
  }

  /// Whether twice the length takes at most two and a half times as long.
  public var isLinearInLength: Bool {
    hostile < .max && 2 * doubled <= 5 * hostile + 2 * Self.slack
  }

  /// The times in microseconds.
  public var description: String {
    "plain \(plain / 1_000) µs, hostile \(hostile / 1_000) µs, doubled \(doubled / 1_000) µs"
  }

  /// Measures work that runs on the current thread.
  ///
  /// - Parameters:
  ///   - size: The size of the text in bytes.
  ///   - hostile: Creates the hostile text.
  ///   - body: Receives each text several times; the fastest run counts.
  /// - Returns: The measured times.
  public static func of(
    _ size: Int = 64 << 10, _ hostile: (Int) -> String = HostileText.marks,
    _ body: (String) throws -> Void
  ) rethrows -> Work {
    var work = Work()
    for _ in 0..<rounds where !work.isLinear {
      work.take(
        plain: try least(HostileText.plain(size), body), hostile: try least(hostile(size), body),
        doubled: try least(hostile(2 * size), body))
    }
    return work
  }

  private static func least(
    _ text: String, _ body: (String) throws -> Void
  ) rethrows -> UInt64 {
    var least = UInt64.max
    for _ in 0..<5 {
      let start = threadTime()
      try body(text)
      least = min(least, threadTime() - start)
    }
    return least
  }

  /// Measures work that suspends, without the time on the threads of the database and of password
  /// hashing.
  public static func of(
    _ size: Int = 64 << 10, _ hostile: (Int) -> String = HostileText.marks,
    _ body: @escaping @Sendable (String) async throws -> Void
  ) async throws -> Work {
    var work = Work()
    for _ in 0..<rounds where !work.isLinear {
      work.take(
        plain: try await least(HostileText.plain(size), body),
        hostile: try await least(hostile(size), body),
        doubled: try await least(hostile(2 * size), body))
    }
    return work
  }

  private static func least(
    _ text: String, _ body: @escaping @Sendable (String) async throws -> Void
  ) async throws -> UInt64 {
    var least = UInt64.max
    for _ in 0..<3 {
      let meter = Meter()
      try await withTaskExecutorPreference(meter) { try await body(text) }
      least = min(least, meter.time)
    }
    return least
  }

  fileprivate static func threadTime() -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Runs task jobs and adds up their CPU time.
private final class Meter: TaskExecutor {
  private let queue = DispatchQueue(label: "meter")
  private let total = Mutex<UInt64>(0)

  /// The time of all jobs, including the last one, which resumes the waiting task before it ends.
  var time: UInt64 { queue.sync { total.withLock { $0 } } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in
      let start = Work.threadTime()
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      let spent = Work.threadTime() - start
      total.withLock { $0 += spent }
    }
  }
}
