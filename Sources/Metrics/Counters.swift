import Synchronization

/// The number of events by a number below 32, such as an index into a fixed list.
public final class Counters: Sendable {
  private let counts: InlineArray<32, Atomic<Int>> = InlineArray { _ in Atomic(0) }

  /// Creates counters at 0.
  public init() {}

  /// Counts an event; traps unless the index is less than 32.
  public func add(_ index: Int) { counts[index].add(1, ordering: .relaxed) }

  /// Returns the number of events; traps unless the index is less than 32.
  public func value(_ index: Int) -> Int { counts[index].load(ordering: .relaxed) }
}

/// Counts durations by their length, without a lock.
public final class DurationHistogram: Sendable {
  /// The upper bounds of the buckets, in seconds; longer durations are in a bucket of their own.
  public static let bounds: [Double] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  private static let nanoseconds = bounds.map { UInt64($0 * 1e9) }

  private let buckets = Counters()
  private let sum = Atomic<UInt64>(0)

  /// Creates an empty histogram.
  public init() {}

  /// Counts a duration.
  public func observe(nanoseconds: UInt64) {
    let bounds = Self.nanoseconds
    var index = 0
    while index < bounds.count, nanoseconds > bounds[index] { index += 1 }
    buckets.add(index)
    sum.add(nanoseconds, ordering: .relaxed)
  }

  /// Counts the time since a moment.
  public func observe(since start: ContinuousClock.Instant) {
    observe(nanoseconds: UInt64(max((ContinuousClock.now - start) / .nanoseconds(1), 0)))
  }

  /// The buckets and the sum.
  public var distribution: Distribution {
    Distribution(
      bounds: Self.bounds, counts: (0...Self.bounds.count).map(buckets.value),
      sum: Double(sum.load(ordering: .relaxed)) / 1e9)
  }
}
