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

  /// The number of times that a list shows for each pool.
  static let points = 12

  /// The first of the times.
  static func start(before now: Instant) -> Instant {
    now.advanced(bySeconds: -Int64(ChartWindow.year.days) * 86_400)
  }

  /// Whether the share rose; nil if there is nothing to compare.
  var isRising: Bool? {
    guard let first = percents.first, let last = percents.last, percents.count > 1 else {
      return nil
    }
    return last > first
  }

  var sparkline: Markup {
    Sparkline.markup(percents) { Message("charts.trend", ["first": $0, "last": $1]) }
  }
}
