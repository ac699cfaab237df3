import HTTP
import Identity
import Localization
import OTP

struct PolicyEvidence: Sendable {
  let days: Int
  let evidence: WindowEvidence?
  /// The share of sign-ins to keep: the one asked for, or else the pool's.
  let goal: SignInGoal
  let poolGoal: SignInGoal
  /// The recommended window, or why there's none; nil if the codes can't be read.
  let outcome: WindowRecommendation.Outcome?
  let cap: Int

  init(_ histogram: OffsetHistogram?, _ query: EvidenceQuery, _ rules: SupportRules) {
    let poolGoal = SignInGoal(basisPoints: rules.signInGoal) ?? .standard
    let goal = query.goal ?? poolGoal
    (self.poolGoal, self.goal) = (poolGoal, goal)
    days = histogram?.days ?? query.days
    evidence = histogram.map(WindowEvidence.init)
    outcome = histogram.map { WindowRecommendation.find(in: $0, goal: goal) }
    cap = rules.codeCap
  }

  var recommended: WindowRecommendation? {
    if case .window(let recommendation)? = outcome { recommendation } else { nil }
  }
}

struct EvidenceQuery: Sendable, Equatable {
  let days: Int
  /// nil for the pool's.
  let goal: SignInGoal?

  static let periods = [7, 30, 90]
  static let standardPeriod = 30

  init(days: Int = standardPeriod, goal: SignInGoal? = nil) {
    (self.days, self.goal) = (days, goal)
  }

  /// Reads `?days=` and `?keep=`, a percentage; other values mean the defaults.
  init(_ form: Form) {
    let days = form.text("days").flatMap { Int($0) }
    self.days = days.flatMap { Self.periods.contains($0) ? $0 : nil } ?? Self.standardPeriod
    goal = form.text("keep").flatMap { Percentage.basisPoints($0) }.flatMap {
      SignInGoal(basisPoints: $0)
    }
  }

  func address(of path: String) -> String {
    var form = Form()
    if days != Self.standardPeriod { form.add("days", String(days)) }
    if let goal { form.add("keep", Percentage.text(goal.basisPoints)) }
    return form.query(of: path)
  }

  /// The address of the policy page with this query: a link's, or that of a button that sends the
  /// form, so that the page keeps its values.
  func choice(in context: PoolContext) -> String {
    let path = context.may(.changePolicy) ? ConsolePaths.policyEdit : ConsolePaths.policy
    return address(of: path(context.pool))
  }
}

/// `S/policy/evidence.csv` and `S/policy/offsets.csv`: the numbers of the policy page as CSV.
extension PolicyPages {
  private var catalog: Catalog { actions.frames.catalog }

  func effects(_ context: PoolContext) async throws -> Response {
    let policy = try await policies.read(context.pool)
    let histogram = try await histogram(
      EvidenceQuery(context.signedIn.query), context.pool)
    let evidence = WindowEvidence(histogram)
    let cap = try await identity.support.settings(context.pool).codeCap
    var file = CSV(
      [
        Message("Adjacent intervals"), Message("Valid codes"),
        Message("Days"), Message("Correct codes"),
        Message("Correct codes rejected"), Message("Accepted codes outside"),
        Message("Near misses inside"), Message("Users affected"),
        Message("Odds per account"), Message("Within a year"),
        Message("Expected hits, all accounts"), Message("Share"),
        Message("Share, lower end of its 95% interval"),
        Message("Share, upper end of its 95% interval"),
      ].map { catalog.text($0) })
    let codes = evidence.codes
    for effect in evidence.effects {
      let odds = GuessingOdds(effect.window, cap: cap)
      let counts = [
        effect.window.adjacentIntervals, effect.window.codes, histogram.days, codes,
        effect.rejected, effect.lost, effect.recovered, effect.users,
      ]
      file.add(
        counts.map { String($0) } + [
          OddsText.inFile(odds.untilClosed * 100) + "%",
          OddsText.inFile(odds.withinYear * 100) + "%",
          OddsText.inFile(odds.expectedHits(in: policy.totpUsers)),
        ] + (evidence.isEnough ? Self.shares(effect.rejected, of: codes) : ["", "", ""]))
    }
    return file.response(named: "policy-evidence")
  }

  /// A share with the ends of its 95% confidence interval.
  private static func shares(_ part: Int, of whole: Int) -> [String] {
    guard let bounds = ShareText.bounds(part, of: whole) else { return ["", "", ""] }
    return [part * 10_000 / whole, bounds.lowerBound, bounds.upperBound].map {
      Percentage.text($0) + "%"
    }
  }

  func offsets(_ context: PoolContext) async throws -> Response {
    let histogram = try await histogram(
      EvidenceQuery(context.signedIn.query), context.pool)
    return OffsetChart.table(histogram).csv(catalog).response(named: "matched-offsets")
  }
}
