public import OTP

/// What somebody who guesses codes may hope for, under a window and the throttle of wrong codes.
///
/// With n independent guesses at one account the chance to hit is 1 − (1 − codes / 10^6)^n, where
/// codes is 2w + 1 for a window of w adjacent intervals and codes have six digits.
public struct GuessingOdds: Sendable, Equatable {
  /// The window.
  public let window: Window

  /// Asks about a window.
  public init(_ window: Window) { self.window = window }

  /// How many wrong codes in a row close the door for the first time.
  public static let guessesUntilBlock = Throttle.codes.free + 1
  /// For how many seconds the door closes then; twice as long each time after that.
  public static let firstWait = Int(Throttle.codes.first)
  /// The longest time that the door closes for, in seconds.
  public static let longestWait = Int(Throttle.codes.longest)

  /// The chance, 0 to 1, to hit before the door closes for the first time.
  public var untilBlock: Double { window.chance(ofGuesses: Self.guessesUntilBlock) }

  /// The chance, 0 to 1, to hit within a day of guessing whenever the door is open.
  public var inADay: Double { window.chance(ofGuesses: Self.guesses(within: 86_400)) }

  /// How many guesses fit into so many seconds, when each takes no time and waits are not missed.
  public static func guesses(within seconds: Int) -> Int {
    guard seconds > 0 else { return 0 }
    var (guesses, waited) = (0, Int64(0))
    while waited < Int64(seconds) {
      guesses += 1
      waited += Throttle.codes.seconds(afterFailures: guesses)
    }
    return guesses
  }
}
