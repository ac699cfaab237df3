import HTTP
import Identity
import Localization
import OTP

/// `S/policy/evidence.csv` and `S/policy/offsets.csv`: the numbers of the policy page as CSV.
struct EvidenceFiles: Sendable {
  let pages: PolicyPages

  private var catalog: Catalog { pages.actions.frames.catalog }

  func effects(_ context: PoolContext) async throws -> Response {
    let policy = try await pages.current(context)
    let histogram = try await pages.histogram(
      EvidenceQuery(context.signedIn.query), context.pool)
    let evidence = WindowEvidence(histogram)
    let cap = try await pages.rules(context.pool).codeCap
    var file = CSV(
      [
        Message("Adjacent intervals"), Message("Valid codes"),
        Message("Days"), Message("Correct codes"),
        Message("Correct codes outside"), Message("Accepted codes outside"),
        Message("Near misses inside"), Message("Users affected"),
        Message("Guess succeeds"), Message("Within a year"),
        Message("All accounts"), Message("Share"),
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
    let histogram = try await pages.histogram(
      EvidenceQuery(context.signedIn.query), context.pool)
    return OffsetChart.table(histogram).csv(catalog).response(named: "matched-offsets")
  }
}
