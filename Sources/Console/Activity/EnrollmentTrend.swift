import Identity
import Localization
import Templating

/// The share of enrolled users over the last 12 months, for the rows of lists.
struct EnrollmentTrend: Hashable, Sendable {
  /// Whole percentages at evenly spaced times, oldest first.
  let percents: [Int]

  init(_ shares: [Double?] = []) {
    percents = shares.compactMap { $0.map { Int($0 * 100 + 1e-9) } }
  }

  /// Whether the share rose; nil if there is nothing to compare.
  var isRising: Bool? {
    guard let first = percents.first, let last = percents.last, percents.count > 1 else {
      return nil
    }
    return last > first
  }

  var sparkline: Markup {
    Sparkline.markup(percents) {
      Message("MFA enrollment in the last 12 months: {first} to {last}", ["first": $0, "last": $1])
    }
  }
}

extension Activity {
  private static let trendPoints = 12

  private static func trendStart(_ now: Instant) -> Instant {
    now.advanced(bySeconds: -Int64(ChartWindow.year.days) * 86_400)
  }

  func trends(
    of pools: [PolicySummary], at now: Instant
  ) async throws -> [Int64: EnrollmentTrend] {
    try await trends(
      of: pools, points: Self.trendPoints, from: Self.trendStart(now), to: now
    ).mapValues(EnrollmentTrend.init)
  }

  /// The trends of projects with all their tenants by the keys of their own pools.
  func trends(
    of projects: [ProjectSummary], at now: Instant
  ) async throws -> [Int64: EnrollmentTrend] {
    try await trends(
      ofProjects: projects, points: Self.trendPoints, from: Self.trendStart(now), to: now
    ).mapValues(EnrollmentTrend.init)
  }
}
