import Dispatch

/// Where the time comes from.
///
/// Rules never read a clock of their own; tests pass one that stands still.
public struct WallClock: Sendable {
  /// Returns the present moment.
  public let now: @Sendable () -> Instant

  /// Makes a clock of a function.
  public init(_ now: @escaping @Sendable () -> Instant) { self.now = now }

  /// How long a clock that nobody sets has run, sleep of the machine included.
  public static let sinceBoot: @Sendable () -> Duration = {
    ContinuousClock().systemEpoch.duration(to: .now)
  }

  /// The clock of the machine.
  public static let system = WallClock {
    let wall = DispatchWallTime.now().rawValue
    // Wall times are kept as the negative of nanoseconds since 1970.
    let nanoseconds = Int64(bitPattern: wall)
    return Instant(microseconds: (nanoseconds < 0 ? -nanoseconds : nanoseconds) / 1_000)
  }
}
