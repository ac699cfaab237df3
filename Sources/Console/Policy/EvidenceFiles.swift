import HTTP
import Identity
import Localization
import OTP

/// `S/policy/evidence.csv` and `S/policy/offsets.csv`: the numbers of the policy page as CSV.
struct EvidenceFiles: Sendable {
  let pages: PolicyPages

  private var catalog: Catalog { pages.actions.frames.catalog }

  /// What each window would have done, and the odds of guessing a code.
  func effects(_ context: ScopeContext) async throws(Refusal) -> Response {
    let policy = try await pages.current(context)
    let evidence = try await pages.evidence(EvidenceQuery(context.signedIn.query), context.scope)
    var file = CSV(
      [
        Message("common.adjacent-intervals"), Message("policy.valid-codes-column"),
        Message("policy.days-column"), Message("policy.correct-codes-column"),
        Message("policy.rejected-column"), Message("policy.lost-column"),
        Message("policy.recovered-column"), Message("policy.affected-column"),
        Message("policy.until-locked-column"), Message("policy.within-year-column"),
        Message("policy.hits-column"),
      ].map { catalog.text($0) })
    for effect in evidence.evidence.effects {
      let odds = GuessingOdds(effect.window, cap: evidence.cap)
      let counts = [
        effect.window.adjacentIntervals, effect.window.codes, evidence.days,
        evidence.evidence.codes, effect.rejected, effect.lost, effect.recovered, effect.users,
      ]
      file.add(
        counts.map { String($0) } + [
          OddsText.chance(odds.untilClosed), OddsText.chance(odds.withinYear),
          catalog.text(OddsText.hits(odds.expectedHits(in: policy.totpUsers))),
        ])
    }
    return file.response(named: "policy-evidence")
  }

  /// The matched offsets.
  func offsets(_ context: ScopeContext) async throws(Refusal) -> Response {
    let query = EvidenceQuery(context.signedIn.query)
    let evidence = try await pages.evidence(query, context.scope)
    let chart = OffsetChart(
      evidence: evidence, query: query, context: context, current: nil, drawn: nil)
    return chart.table.csv(catalog).response(named: "matched-offsets")
  }
}
