public import OTP

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
