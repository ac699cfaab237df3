import Identity
import Localization
import OTP
import Templating

/// Every mark with no data, one value, and many values, for the styleguide and its tests.
enum ChartSamples {
  /// How much data a sample has.
  enum Amount: String, CaseIterable, Sendable {
    case empty, one, many
  }

  /// A mark of the kit.
  enum Mark: String, CaseIterable, Sendable {
    case area, columns, offsets
    case heatMap = "heat-map"
    case timeline
  }

  static let frames = Mark.allCases.flatMap { mark in
    Amount.allCases.map { frame(mark, $0) }
  }

  /// The marks within a line of text.
  static let small: [Fact] = [
    Fact(
      Message("charts.sparkline"),
      Markup(joining: [[], [40], [40, 44, 43, 52, 61, 77]].map(spark))),
    Fact(
      Message("charts.meter"),
      Markup(joining: [(0, 0), (1, 3), (3, 3)].map { Meter.share($0, of: $1) })),
    Fact(
      Message("charts.strip"),
      Markup(
        joining: Window.range.compactMap { side in
          WindowStrip.marked(
            Window(adjacentIntervals: side), at: side - 5, isAccepted: side > 2)
        })),
  ]

  static func spark(_ percents: [Int]) -> Markup {
    Sparkline.markup(percents) {
      Message("charts.trend", ["first": $0, "last": $1])
    }
  }

  static func frame(_ mark: Mark, _ amount: Amount) -> ChartFrame {
    let count = count(mark, amount)
    let content: ChartFrame.Content =
      count == 0
      ? .empty(Message("charts.no-data")) : .chart(markup(mark, amount), key: key(mark))
    var frame = ChartFrame(
      title(mark), base: Message("charts.sample-base", ["count": .number(count)]), content)
    if mark == .columns, amount != .empty { frame.table = table(amount) }
    return frame
  }

  /// The drawing of a mark, also without data, which pages show as a sentence.
  static func markup(_ mark: Mark, _ amount: Amount) -> Markup {
    let label = Message("charts.sample-label", ["count": .number(count(mark, amount))])
    let days = days(amount)
    switch mark {
    case .area:
      return AreaChart(
        points: days.indices.map { AreaChart.Point(whole: 400 + $0 * 31, part: 40 + $0 * $0) },
        ticks: ChartTick.points(days),
        events: amount == .many
          ? [AreaChart.Event(position: 8_000, text: Message("charts.sample-event"))] : [],
        label: label
      ).markup
    case .columns:
      return StackedColumns(
        fills: ChartFill.results, columns: counts(amount), ticks: ChartTick.columns(days),
        label: label, name: amount == .many ? "many" : amount == .one ? "one" : "empty"
      ).markup
    case .offsets:
      return OffsetColumns(
        columns: offsets(amount), window: 1, label: label,
        name: amount == .many ? "off-many" : amount == .one ? "off-one" : "off-empty"
      ).markup
    case .heatMap:
      return HeatMap(counts: hours(amount), label: label).markup
    case .timeline:
      return DotTimeline(dots: dots(amount), window: 1, ticks: ChartTick.points(days), label: label)
        .markup
    }
  }

  private static func title(_ mark: Mark) -> Message {
    switch mark {
    case .area: Message("charts.area")
    case .columns: Message("charts.columns")
    case .offsets: Message("charts.offsets")
    case .heatMap: Message("charts.heat-map")
    case .timeline: Message("charts.timeline")
    }
  }

  private static func key(_ mark: Mark) -> [ChartKey] {
    switch mark {
    case .area:
      [
        ChartKey(.enrolled, Message("charts.enrolled")),
        ChartKey(.all, Message("charts.all-users")),
      ]
    case .columns: ChartKey.results
    case .offsets:
      [
        ChartKey(.accepted, Message("charts.accepted")),
        ChartKey(.outside, Message("charts.confirmed")),
        ChartKey(.all, Message("charts.unconfirmed")),
      ]
    case .heatMap: HeatMap.key
    case .timeline: DotTimeline.key
    }
  }

  private static func count(_ mark: Mark, _ amount: Amount) -> Int {
    switch (amount, mark) {
    case (.empty, _): 0
    case (.one, _): 1
    case (.many, .area): days(amount).count
    case (.many, .columns): counts(amount).joined().reduce(0, +)
    case (.many, .offsets):
      offsets(amount).reduce(0) { $0 + $1.accepted + $1.confirmed + $1.unconfirmed }
    case (.many, .heatMap): hours(amount).joined().reduce(0, +)
    case (.many, .timeline): dots(amount).count
    }
  }

  private static func days(_ amount: Amount) -> [Message] {
    let count = amount == .empty ? 0 : amount == .one ? 1 : 30
    return (0..<count).map {
      .value(.dayOfMonth(LocalDate(year: 2026, month: 11, day: $0 + 1)))
    }
  }

  private static func counts(_ amount: Amount) -> [[Int]] {
    switch amount {
    case .empty: []
    case .one: [[1, 0, 0, 0]]
    case .many: (0..<30).map { [52 + $0 * 37 % 31, 4 + $0 * 5 % 9, 3 + $0 * 7 % 11, $0 % 3] }
    }
  }

  private static func offsets(_ amount: Amount) -> [OffsetColumns.Column] {
    (-10...10).map { distance in
      switch amount {
      case .empty: OffsetColumns.Column()
      case .one: OffsetColumns.Column(accepted: distance == 0 ? 1 : 0)
      case .many:
        OffsetColumns.Column(
          accepted: distance == 0 ? 1_841 : abs(distance) == 1 ? 303 : 0,
          confirmed: abs(distance) > 1 && distance < 6 ? 48 - 4 * abs(distance) : 0,
          unconfirmed: abs(distance) == 7 ? 9 : 0)
      }
    }
  }

  private static func hours(_ amount: Amount) -> [[Int]] {
    (0..<7).map { day in
      (0..<24).map { hour in
        switch amount {
        case .empty: 0
        case .one: day == 2 && hour == 9 ? 1 : 0
        case .many: day < 5 && (8...10).contains(hour) ? 14 - day : (day * 5 + hour * 3) % 4
        }
      }
    }
  }

  private static func dots(_ amount: Amount) -> [DotTimeline.Dot] {
    switch amount {
    case .empty: []
    case .one: [DotTimeline.Dot(position: 5_000, distance: 0, isAccepted: true)]
    case .many:
      (0..<18).map { index in
        DotTimeline.Dot(
          position: 200 + index * 560, distance: index == 17 ? nil : -index / 5,
          isAccepted: index < 10)
      }
    }
  }

  private static func table(_ amount: Amount) -> ChartTable {
    ChartTable(
      caption: Message("charts.columns"),
      columns: [Message("common.day")] + ChartKey.results.map(\.text),
      rows: zip(days(amount), counts(amount)).map { day, counts in
        [.text(day)] + counts.map(ChartTable.Cell.number)
      })
  }
}
