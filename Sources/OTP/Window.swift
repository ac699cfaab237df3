/// The time steps that are accepted: n neighbors on each side of the current one.
///
/// n is called adjacent intervals; with n = 5 the codes of 11 steps count. RFC 6238 section 5.2
/// recommends at most one step for the delay of the network.
public struct Window: Sendable, Hashable {
  /// The steps on each side of now, 0 to 10.
  public let adjacentIntervals: Int

  /// Makes a window; nil when `adjacentIntervals` is not 0 to 10.
  public init?(adjacentIntervals: Int) {
    guard Self.range.contains(adjacentIntervals) else { return nil }
    self.adjacentIntervals = adjacentIntervals
  }

  private init(known adjacentIntervals: Int) { self.adjacentIntervals = adjacentIntervals }

  /// The values that adjacent intervals can have.
  public static let range = 0...10

  /// The window in force when nothing was configured: 5.
  public static let standard = Window(known: 5)

  /// A window of one step on each side, for the console's own administrators.
  public static let narrow = Window(known: 1)

  /// How many codes count at any moment: 2n + 1.
  public var codes: Int { 2 * adjacentIntervals + 1 }

  /// How long a code counts, in seconds, with steps of 30 s: 30 (2n + 1).
  public var lifetime: Int { codes * 30 }

  /// How late a code may come after its own step has ended, in seconds: 30 n.
  public var lateness: Int { adjacentIntervals * 30 }

  /// The chance, 0 to 1, that `guesses` independent guesses hit one of the codes of six digits:
  /// 1 − (1 − codes / 10^6)^guesses.
  public func chance(ofGuesses guesses: Int) -> Double {
    var miss = 1.0
    let one = 1.0 - Double(codes) / 1_000_000
    for _ in 0..<max(0, guesses) { miss *= one }
    return 1.0 - miss
  }
}
