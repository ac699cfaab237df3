import Dispatch

/// The source of the current time.
///
/// Use cases never read the system clock directly; tests pass a fixed clock.
public struct WallClock: Sendable {
  public let now: @Sendable () -> Instant

  public init(_ now: @escaping @Sendable () -> Instant) { self.now = now }

  /// Returns the time since boot, including sleep, from a clock that can't be adjusted.
  public static let sinceBoot: @Sendable () -> Duration = {
    ContinuousClock().systemEpoch.duration(to: .now)
  }

  public static let system = WallClock {
    let wall = DispatchWallTime.now().rawValue
    // Dispatch represents wall time as negative nanoseconds since 1970.
    let nanoseconds = Int64(bitPattern: wall)
    return Instant(microseconds: (nanoseconds < 0 ? -nanoseconds : nanoseconds) / 1_000)
  }
}
