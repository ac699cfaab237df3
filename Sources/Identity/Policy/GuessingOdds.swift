public import OTP

/// What somebody who guesses codes may hope for, under a window, the throttle of wrong codes, and
/// the number of them that closes the codes of an account.
///
/// With n independent guesses at one account the chance to hit is 1 − (1 − codes / 10^6)^n, where
/// codes is 2w + 1 for a window of w adjacent intervals and codes have six digits.
public struct GuessingOdds: Sendable, Equatable {
  /// The window.
  public let window: Window
  /// With how many wrong codes in a row the codes are closed until somebody unlocks them.
  public let cap: Int

  /// Asks about a window and a cap.
  public init(_ window: Window, cap: Int = SupportRules().codeCap) {
    self.window = window
    self.cap = cap
  }

  /// How many wrong codes in a row close the door for the first time.
  public static let guessesUntilBlock = Throttle.codes.free + 1
  /// For how many seconds the door closes then; twice as long each time after that.
  public static let firstWait = Int(Throttle.codes.first)
  /// The longest time that the door closes for, in seconds.
  public static let longestWait = Int(Throttle.codes.longest)

  /// The chance, 0 to 1, to hit before the door closes for the first time.
  public var untilBlock: Double { window.chance(ofGuesses: Self.guessesUntilBlock) }

  /// The chance, 0 to 1, to hit before the codes are closed.
  public var untilClosed: Double { window.chance(ofGuesses: cap) }

  /// How many guesses fit into so many seconds, when each takes no time and waits are not missed.
  public func guesses(within seconds: Int) -> Int {
    guard seconds > 0 else { return 0 }
    var (guesses, waited) = (0, Int64(0))
    while guesses < cap, waited < Int64(seconds) {
      guesses += 1
      waited += Throttle.codes.seconds(afterFailures: guesses)
    }
    return guesses
  }
}
