/// Times that were stored by a clock that was ahead don't hold once it's set back.
extension Instant {
  /// How far in the future a stored time may be, in seconds: the clocks of servers differ, and each
  /// is adjusted.
  private static let tolerance: Int64 = 120

  /// Returns whether a stored time is further in the future than clocks differ.
  package func isInFuture(at now: Instant) -> Bool {
    self > Self.latest(at: now)
  }

  /// Returns the latest stored time that isn't in the future.
  static func latest(at now: Instant) -> Instant { now.advanced(bySeconds: tolerance) }

  /// Returns whether something happened less than this many seconds ago, and not in the future.
  func isRecent(within seconds: Int64, at now: Instant) -> Bool {
    !isInFuture(at: now) && now < advanced(bySeconds: seconds)
  }

  /// Returns whether what began at this time isn't over, and didn't begin in the future.
  func lasts(_ seconds: Int64, at now: Instant) -> Bool {
    !isInFuture(at: now) && now <= advanced(bySeconds: seconds)
  }

  /// Returns the end of a wait that isn't over yet; nil if it's over, or further away than the longest
  /// wait.
  func pending(for longest: Int64, at now: Instant) -> Instant? {
    self > now && self <= Self.latestEnd(of: longest, at: now) ? self : nil
  }

  /// Returns the latest time at which a wait of at most this many seconds can end.
  static func latestEnd(of longest: Int64, at now: Instant) -> Instant {
    now.advanced(bySeconds: longest + tolerance)
  }
}
