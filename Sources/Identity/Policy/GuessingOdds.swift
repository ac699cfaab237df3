public import OTP

/// The odds of guessing a code, given a window, the throttle for wrong codes, and the number of
/// wrong codes that locks an account's second factors.
///
/// With n independent guesses at one account, the chance of success is 1 − (1 − codes / 10^6)^n,
/// where codes is 2w + 1 for a window of w adjacent intervals and codes have six digits.
public struct GuessingOdds: Sendable, Equatable {
  public let window: Window
  /// The number of wrong codes in a row that locks an account's second factors until they're
  /// unlocked.
  public let cap: Int

  public init(_ window: Window, cap: Int = SupportRules().codeCap) {
    self.window = window
    self.cap = cap
  }

  /// The number of wrong codes in a row that causes the first wait.
  public static let guessesUntilBlock = Throttle.codes.free + 1
  /// The length of the first wait, in seconds; each following wait is twice as long.
  public static let firstWait = Int(Throttle.codes.first)
  /// The longest wait, in seconds.
  public static let longestWait = Int(Throttle.codes.longest)

  /// The chance, 0 to 1, of a correct guess before the first wait.
  public var untilBlock: Double { window.chance(ofGuesses: Self.guessesUntilBlock) }

  /// The chance, 0 to 1, of a correct guess before the second factors are locked.
  public var untilClosed: Double { window.chance(ofGuesses: cap) }

  /// The chance, 0 to 1, of a correct guess within 365 days at one account whose second factors are
  /// unlocked whenever they're locked, so that only the waits slow the guesses down.
  public var withinYear: Double { window.chance(ofGuesses: Self.guessesPerYear) }

  /// The number of guesses at one account that the waits allow within 365 days.
  public static let guessesPerYear = guesses(within: 365 * 86_400, atMost: .max)

  /// Returns how many of some accounts are expected to be guessed correctly if each is tried until
  /// its second factors are locked.
  public func expectedHits(in accounts: Int) -> Double { Double(accounts) * untilClosed }

  /// Returns how many guesses fit into a number of seconds, if guesses take no time and each
  /// follows the wait immediately.
  public func guesses(within seconds: Int) -> Int {
    Self.guesses(within: seconds, atMost: cap)
  }

  private static func guesses(within seconds: Int, atMost cap: Int) -> Int {
    guard seconds > 0 else { return 0 }
    var (guesses, waited) = (0, Int64(0))
    while guesses < cap, waited < Int64(seconds) {
      guesses += 1
      waited += Throttle.codes.seconds(afterFailures: guesses)
    }
    return guesses
  }
}
