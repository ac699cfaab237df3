/// The accepted time steps: n on each side of the current one.
///
/// n is called adjacent intervals; with n = 5, codes of 11 steps are valid. RFC 6238 section 5.2
/// recommends at most one step of network delay.
public struct Window: Sendable, Hashable {
  /// The number of steps on each side of now, 0 to 10.
  public let adjacentIntervals: Int

  /// Creates a window; nil when `adjacentIntervals` isn't 0 to 10.
  public init?(adjacentIntervals: Int) {
    guard Self.range.contains(adjacentIntervals) else { return nil }
    self.adjacentIntervals = adjacentIntervals
  }

  private init(known adjacentIntervals: Int) { self.adjacentIntervals = adjacentIntervals }

  /// The allowed values of adjacent intervals.
  public static let range = 0...10

  /// The default window: 5 adjacent intervals.
  public static let standard = Window(known: 5)

  /// A window of one step on each side, for administrators of the console.
  public static let narrow = Window(known: 1)

  /// The number of valid codes at any moment: 2n + 1.
  public var codes: Int { 2 * adjacentIntervals + 1 }

  /// How long a code is valid, in seconds, with 30 s steps: 30 (2n + 1).
  public var lifetime: Int { codes * 30 }

  /// How long after the end of its step a code is still accepted, in seconds: 30 n.
  public var lateness: Int { adjacentIntervals * 30 }

  /// Returns the probability, 0 to 1, that one of `guesses` independent guesses is a valid 6-digit
  /// code: 1 − (1 − codes / 10^6)^guesses.
  public func chance(ofGuesses guesses: Int) -> Double {
    var miss = 1.0
    let one = 1.0 - Double(codes) / 1_000_000
    for _ in 0..<max(0, guesses) { miss *= one }
    return 1.0 - miss
  }
}
