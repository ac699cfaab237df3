import Demo
import Identity
import OTP

/// A code attempt of a user in a large demo.
struct LargeDemoCode: Sendable {
  /// The user's number in the pool.
  let number: Int
  /// The time, in microseconds.
  let at: Int64
  let finding: CodeFinding
  let origin: RequestOrigin
}

/// All code attempts of a pool's users in chronological order: a number per user, and many more of
/// the first user.
struct LargeDemoCodes {
  let total: Int
  private(set) var given = 0

  private let count: Int
  private let apps: [Bool]
  private let programs: [String]
  private let start: Int64
  private let step: Int64
  private var lots: LargeDemoLots

  /// The number of code attempts of the first user.
  static let many = 3_000

  init(_ crowd: LargeDemoCrowd) {
    self.init(
      count: crowd.count, perUser: crowd.codes, apps: crowd.apps, seed: crowd.seed, now: crowd.now,
      programs: crowd.data.programs)
  }

  init(
    count: Int, perUser: Int, apps: [Bool], seed: UInt64, now: Instant, programs: [String]
  ) {
    self.count = count
    self.apps = apps
    self.programs = programs
    total = perUser * count + Self.many
    let span = LargeDemoCrowd.days * 86_400 * 1_000_000
    start = now.microseconds - span
    step = span / Int64(total) - 1
    lots = LargeDemoLots(state: seed ^ 0xC0DE_C0DE)
  }

  /// Returns the next code attempt; nil if there are no more.
  mutating func next() -> LargeDemoCode? {
    guard given < total else { return nil }
    var number = lots.below(total) < Self.many ? 0 : lots.below(count)
    while !apps[number] { number = (number + 1) % count }
    let at = start + Int64(given) * step + Int64(lots.below(Int(step)))
    given += 1
    return LargeDemoCode(number: number, at: at, finding: finding(at: at), origin: origin())
  }

  private mutating func finding(at microseconds: Int64) -> CodeFinding {
    let (result, distance): (CodeAttempt.Result, Int?) =
      switch lots.below(1_000) {
      case ..<780: (.accepted, 0)
      case ..<870: (.accepted, -1)
      case ..<900: (.accepted, -2 - lots.below(2))
      case ..<920: (.late, -4 - lots.below(5))
      case ..<930: (.early, 4 + lots.below(5))
      case ..<960: (.used, -lots.below(2))
      default: (.wrong, nil)
      }
    let step = distance.map { microseconds / 1_000_000 / TOTPFactor.period + Int64($0) }
    return CodeFinding(result, distance: distance, step: step)
  }

  private mutating func origin() -> RequestOrigin {
    RequestOrigin(
      address: "203.0.113.\(lots.below(254) + 1)", userAgent: lots.one(of: programs))
  }
}
