public import OTP

/// What each window would have done with the correct codes of a period.
///
/// Correct codes are the accepted ones, and the near misses that the same user confirmed by signing
/// in soon after. Unconfirmed near misses may be guesses, so they aren't evidence.
public struct WindowEvidence: Sendable, Equatable {
  public let histogram: OffsetHistogram
  /// The effect of each window, from 0 to 10 adjacent intervals.
  public let effects: [Effect]
  /// The number of correct codes.
  public let codes: Int
  /// The number of users with a correct code.
  public let users: Int

  /// What one window would have done.
  public struct Effect: Sendable, Equatable {
    public let window: Window
    /// The accepted codes that it would have rejected.
    public let lost: Int
    /// The confirmed near misses that it would have accepted.
    public let recovered: Int
    /// The correct codes outside the window.
    public let rejected: Int
    /// The users with a correct code outside the window.
    public let users: Int
  }

  /// The number of accepted codes below which their distribution means little.
  public static let fewestCodes = 30

  public init(_ histogram: OffsetHistogram) {
    self.histogram = histogram
    let correct = zip(histogram.accepted, histogram.confirmed).map(+)
    codes = correct.reduce(0, +)
    users = histogram.users[0]
    effects = Window.range.compactMap(Window.init(adjacentIntervals:)).map { window in
      let side = window.adjacentIntervals
      let inside = Self.reach - side...Self.reach + side
      let total = correct.reduce(0, +)
      return Effect(
        window: window,
        lost: histogram.accepted.reduce(0, +) - histogram.accepted[inside].reduce(0, +),
        recovered: histogram.confirmed[inside].reduce(0, +),
        rejected: total - correct[inside].reduce(0, +),
        users: side < Self.reach ? histogram.users[side + 1] : 0)
    }
  }

  private static let reach = Window.range.upperBound

  public var accepted: Int { histogram.accepted.reduce(0, +) }

  /// The number of near misses that aren't evidence.
  public var unconfirmed: Int { histogram.unconfirmed.reduce(0, +) }

  public var isEnough: Bool { accepted >= Self.fewestCodes }

  public func effect(of window: Window) -> Effect { effects[window.adjacentIntervals] }

  public func change(from old: Window, to new: Window) -> Change {
    let (before, after) = (effect(of: old), effect(of: new))
    return Change(
      codes: before.rejected - after.rejected, users: before.users - after.users,
      stillRejected: after.rejected, stillAffected: after.users)
  }

  /// The effect of replacing one window with another.
  public struct Change: Sendable, Equatable {
    /// The additional correct codes that would have been accepted; negative if they would have been
    /// rejected.
    public let codes: Int
    /// The users for whom every correct code would have been accepted; negative if one of theirs
    /// would have been rejected.
    public let users: Int
    /// The correct codes that the new window rejects.
    public let stillRejected: Int
    /// The users with a correct code that the new window rejects.
    public let stillAffected: Int
  }
}
