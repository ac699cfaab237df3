import Identity
import Localization

/// A period that charts show, up to the present, in days of the administrator's time zone.
enum ChartWindow: Int, CaseIterable, Sendable {
  case month = 30
  case quarter = 90
  case year = 365

  /// The period in a query, `30`, `90`, or `365`; a year without one.
  init(_ text: String?) {
    self = text.flatMap { Int($0) }.flatMap(Self.init(rawValue:)) ?? .year
  }

  var days: Int { rawValue }

  var name: Message {
    switch self {
    case .month, .quarter:
      Message(one: "{count} day", other: "{count} days", ["count": .number(rawValue)])
    case .year: Message("12 months")
    }
  }

  static func links(_ path: String, current: ChartWindow) -> [ChartPeriod] {
    allCases.map { window in
      ChartPeriod(
        text: window.name, href: "\(path)?period=\(window.rawValue)", isCurrent: window == current)
    }
  }
}
