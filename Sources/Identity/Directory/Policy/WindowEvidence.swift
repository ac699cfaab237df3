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

/// The share of sign-ins that a window must keep, in hundredths of a percent.
public struct SignInGoal: Sendable, Hashable {
  /// The share, 9,000 to 10,000 hundredths of a percent.
  public let basisPoints: Int

  /// Creates a goal; nil when `basisPoints` isn't 9,000 to 10,000.
  public init?(basisPoints: Int) {
    guard Self.range.contains(basisPoints) else { return nil }
    self.basisPoints = basisPoints
  }

  private init(known basisPoints: Int) { self.basisPoints = basisPoints }

  /// The allowed shares, in hundredths of a percent.
  public static let range = 9_000...10_000
  public static let standard = SignInGoal(known: 9_990)
  /// The goals that the console offers.
  public static let offered = [9_900, 9_950, 9_990, 9_999].map(SignInGoal.init(known:))

  func isReached(by part: Int, of total: Int) -> Bool {
    part * 10_000 >= total * basisPoints
  }
}

/// The smallest window that keeps enough legitimate sign-ins, with the reasoning.
///
/// A sign-in counts once per user and day, by the largest distance of that day's correct codes. The
/// 1% of users with the largest distances are set aside, so a few devices with wrong clocks, or a few
/// hostile accounts, decide nothing.
public struct WindowRecommendation: Sendable, Equatable {
  public let window: Window
  public let goal: SignInGoal
  /// The user-days that it keeps, of `total`.
  public let kept: Int
  /// The user-days that decided: all except those beyond the distances of the users set aside.
  public let total: Int
  /// The user-days that the next smaller window keeps, of `total`; nil for the smallest window.
  public let keptBySmaller: Int?
  public let setAside: SetAside?
  /// The number of users with a correct code outside the recommended window.
  public let notHelped: Int

  /// Users that don't decide because their distances are the largest.
  public struct SetAside: Sendable, Equatable {
    public let users: Int
    /// The window beyond which all their largest distances are.
    public let beyond: Window
    /// The window that they'd all need.
    public let needing: Window
  }

  public enum Outcome: Sendable, Equatable {
    /// There are fewer than ``fewestUserDays`` user-days, or fewer of them decide.
    case notEnoughData(userDays: Int)
    case window(WindowRecommendation)
  }

  /// The number of user-days below which no window is recommended.
  public static let fewestUserDays = 30
  /// The number of users below which none is set aside.
  public static let fewestUsers = 30
  /// The share of users who are set aside: one of this many, rounded up.
  public static let usersPerSetAside = 100

  public static func find(in histogram: OffsetHistogram, goal: SignInGoal = .standard) -> Outcome {
    let all = histogram.userDays.reduce(0, +)
    guard all >= fewestUserDays else { return .notEnoughData(userDays: all) }
    let users = histogram.users[0]
    let allowance =
      users < fewestUsers ? 0 : (users + usersPerSetAside - 1) / usersPerSetAside
    // The widest users' own days aren't known, so every day beyond the others' reach is theirs.
    let decisive = Window.range.first { beyond($0, histogram) <= allowance } ?? widest
    let total = histogram.userDays[...decisive].reduce(0, +)
    // The days of deleted users are kept, but not how far off their clocks were.
    guard total >= fewestUserDays else { return .notEnoughData(userDays: total) }
    let kept = { (side: Int) in histogram.userDays[...min(side, decisive)].reduce(0, +) }
    let side = (0...decisive).first { goal.isReached(by: kept($0), of: total) } ?? decisive
    guard let window = Window(adjacentIntervals: side),
      let limit = Window(adjacentIntervals: decisive)
    else { return .notEnoughData(userDays: all) }
    return .window(
      WindowRecommendation(
        window: window, goal: goal, kept: kept(side), total: total,
        keptBySmaller: side > 0 ? kept(side - 1) : nil,
        setAside: setAside(beyond: limit, histogram), notHelped: beyond(side, histogram)))
  }

  private static let widest = Window.range.upperBound

  /// The number of users with a correct code outside a window.
  private static func beyond(_ side: Int, _ histogram: OffsetHistogram) -> Int {
    side < widest ? histogram.users[side + 1] : 0
  }

  private static func setAside(beyond limit: Window, _ histogram: OffsetHistogram) -> SetAside? {
    let users = beyond(limit.adjacentIntervals, histogram)
    guard users > 0, let needed = histogram.users.lastIndex(where: { $0 > 0 }),
      let needing = Window(adjacentIntervals: needed)
    else { return nil }
    return SetAside(users: users, beyond: limit, needing: needing)
  }
}

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
  static func guesses(within seconds: Int, atMost cap: Int) -> Int {
    guard seconds > 0 else { return 0 }
    var (guesses, waited) = (0, Int64(0))
    while guesses < cap, waited < Int64(seconds) {
      guesses += 1
      waited += Throttle.codes.seconds(afterFailures: guesses)
    }
    return guesses
  }
}

/// The 95% Wilson score interval of a share that was observed in a sample.
///
/// Source: Wilson, “Probable Inference, the Law of Succession, and Statistical Inference”, Journal of
/// the American Statistical Association 22 (1927).
public struct WilsonInterval: Sendable, Equatable {
  /// The lower end, 0 to 1.
  public let lower: Double
  /// The upper end, 0 to 1.
  public let upper: Double

  /// Creates the interval of a share: `part` of `whole` cases; without any, there's no interval.
  public init?(_ part: Int, of whole: Int) {
    guard whole > 0, (0...whole).contains(part) else { return nil }
    let (part, whole) = (Double(part), Double(whole))
    let square = Self.quantile * Self.quantile
    let center = (part + square / 2) / (whole + square)
    let half =
      Self.quantile / (whole + square)
      * (part * (whole - part) / whole + square / 4).squareRoot()
    // Exact at the ends, where the difference is rounded.
    lower = part == 0 ? 0 : max(center - half, 0)
    upper = part == whole ? 1 : min(center + half, 1)
  }

  /// The 97.5% quantile of the standard normal distribution.
  private static let quantile = 1.959963984540054
}

/// The code attempts that show that the clock of a user's device is off.
public struct DriftEvidence: Sendable {
  public let drift: ClockDrift
  /// The number of consecutive codes that were off in the same direction.
  public let count: Int
  /// Their distances in 30-second intervals.
  public let intervals: ClosedRange<Int>
  public let newest: CodeAttempt
  /// The time of the last code that was on time; nil if there is none.
  public let lastOnTime: Instant?

  /// Finds the evidence in code attempts, newest first; nil if the clock isn't off.
  init?(_ codeAttempts: [CodeAttempt]) {
    guard let drift = ClockDrift(codeAttempts) else { return nil }
    let near = codeAttempts.filter(ClockDrift.isNear)
    let off = near.prefix { codeAttempt in
      guard let distance = codeAttempt.distance else { return false }
      return abs(distance) >= ClockDrift.least && (distance < 0) == drift.isSlow
    }
    let distances = off.compactMap(\.distance).map(abs)
    guard let newest = off.first, let least = distances.min(), let most = distances.max() else {
      return nil
    }
    self.drift = drift
    self.newest = newest
    count = off.reduce(0) { $0 + $1.times }
    intervals = least...most
    lastOnTime =
      near.dropFirst(off.count).first { $0.result == .accepted && $0.drift == nil }?.at
  }
}
