import Identity
import Localization
import Templating

struct ChartFrame: ViewModel {
  /// The finding: “Enrollment rose from 36% to 88%”.
  let title: Message
  /// What the chart is based on: the number, the period, and the time zone.
  let base: Message
  let chart: Markup?
  /// What is shown instead of a drawing, and why.
  let empty: Message?
  var key: [ChartKey] = []
  var table: ChartTable?
  var csv: String?
  /// The address of the form that downloads a file about a user; nil without the permission.
  var export: String?
  var periods: [Link] = []
  var more: Link?

  init(_ title: Message, base: Message, _ content: Content) {
    self.title = title
    self.base = base
    switch content {
    case .chart(let markup, let key):
      (chart, empty) = (markup, nil)
      self.key = key
    case .empty(let reason): (chart, empty) = (nil, reason)
    }
  }

  enum Content: Sendable {
    case chart(Markup, key: [ChartKey])
    case empty(Message)
  }

  static let keys: Keys<Self> = [
    .text(\.title),
    .text(\.base),
    .markup(\.chart),
    .text(\.empty),
    .list(\.key),
    .markup("table") { $0.table?.markup },
    .flag("hasData") { $0.table != nil || $0.csv != nil || $0.export != nil },
    .text(\.csv),
    .text(\.export),
    .list(\.periods),
    .optional(\.more),
  ]
}

struct ChartKey: ViewModel {
  let swatch: Markup
  let text: Message

  init(_ swatch: Markup, _ text: Message) {
    self.swatch = swatch
    self.text = text
  }

  init(_ fill: ChartFill, _ text: Message) {
    self.init(fill.swatch, text)
  }

  /// The key of code attempts by result, in the order of `ChartFill.results`.
  static let results = [
    ChartKey(.accepted, Message("Accepted")),
    ChartKey(.outside, Message("Outside the window")),
    ChartKey(.rejected, Message("Incorrect or reused")),
    ChartKey(.locked, Message("Locked")),
  ]

  static let keys: Keys<Self> = [
    .markup(\.swatch),
    .text(\.text),
  ]
}

struct ChartTable: Sendable {
  enum Cell: Sendable {
    case text(Message)
    case number(Int)
    case share(Int, of: Int)
    case signed(Int)
    case day(Day)
    case moment(Instant, Times)

    var message: Message {
      switch self {
      case .text(let message): message
      case .number(let number): .value(.number(number))
      case .share(let part, let whole): Meter.percent(part, of: whole)
      case .signed(let number): .value(.signed(number))
      case .day(let day): .value(Times.value(day))
      case .moment(let instant, let times): .value(times.value(instant))
      }
    }

    fileprivate func text(_ catalog: Catalog) -> String {
      switch self {
      case .text, .share: catalog.text(message)
      case .number(let number), .signed(let number): String(number)
      case .day(let day): day.description
      case .moment(let instant, _): instant.rfc3339Milliseconds
      }
    }
  }

  let caption: Message
  /// The headings; the first column names the row.
  let columns: [Message]
  let rows: [[Cell]]

  var markup: Markup {
    var html = HTML()
    html.add(#"<table><caption class="visually-hidden">\#(caption)</caption><thead><tr>"#)
    for (index, column) in columns.enumerated() {
      let name: Markup = index == 0 ? "" : #" class="num""#
      html.add(#"<th scope="col"\#(name)>\#(column)</th>"#)
    }
    html.add("</tr></thead><tbody>")
    for row in rows {
      html.add("<tr>")
      for (index, cell) in row.enumerated() {
        html.add(
          index == 0
            ? #"<th scope="row">\#(cell.message)</th>"# : #"<td class="num">\#(cell.message)</td>"#)
      }
      html.add("</tr>")
    }
    html.add("</tbody></table>")
    return html.markup
  }

  /// The table as a file, with numbers without separators and times in UTC.
  func csv(_ catalog: Catalog) -> CSV {
    var csv = CSV(columns.map { catalog.text($0) })
    for row in rows { csv.add(row.map { $0.text(catalog) }) }
    return csv
  }
}

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

  static func links(_ path: String, current: ChartWindow) -> [Link] {
    allCases.map { window in
      Link(
        text: window.name, href: "\(path)?period=\(window.rawValue)", isCurrent: window == current)
    }
  }
}

extension Activity {
  static let chartDays = 30
}
