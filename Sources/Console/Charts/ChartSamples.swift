import HTTP
import Identity
import Localization
import OTP
import Templating

/// Every mark in every state, for the styleguide and its tests.
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

  /// A state of a mark that the amount of data doesn't lead to.
  enum State: String, CaseIterable, Sendable {
    case areaEvents = "area-events"
    case offsetsOff = "offsets-off"
    case offsetsOutside = "offsets-outside"
    case offsetsUnconfirmed = "offsets-unconfirmed"
    case timelineOff = "timeline-off"
  }

  /// A mark within a line of text, or a part of one.
  enum Small: String, CaseIterable, Sendable {
    case sparkline, meter, strip
    case stripMarks = "strip-marks"
    case cells
    case cellsInput = "cells-input"
    case chips
  }

  /// Every mark in every state.
  static let frames =
    Mark.allCases.flatMap { mark in Amount.allCases.map { frame(mark, $0) } }
    + State.allCases.map(frame)

  static let small = Small.allCases.map { Fact(title($0), markup($0)) }

  static func markup(_ small: Small) -> Markup {
    switch small {
    case .sparkline: Markup(joining: [[], [40], [40, 44, 43, 52, 61, 77]].map(spark))
    case .meter:
      Markup(joining: [(0, 0), (0, 3), (1, 300), (1, 3), (3, 3)].map { Meter.share($0, of: $1) })
    case .strip:
      Markup(
        joining: [
          nil, TOTPConfiguration(state: .enabled, adjacentIntervals: nil),
          TOTPConfiguration(state: .enabled, adjacentIntervals: 0),
          TOTPConfiguration(state: .enabled, adjacentIntervals: 10),
        ].map { WindowStrip.small(MFAConfiguration(totp: $0)) })
    case .stripMarks:
      Markup(
        joining: Window.range.compactMap { side in
          WindowStrip.marked(
            Window(adjacentIntervals: side), at: side - 5, isAccepted: side > 2)
        })
    case .cells:
      Markup(joining: [nil, Window.standard].map(WindowCells.drawing))
    case .cellsInput:
      Markup(
        joining: [
          Markup(trusted: "<div class=\"cells\">"), WindowCells.input("5", .standard),
          Markup(trusted: "</div>"),
        ])
    case .chips:
      Markup(
        joining: [
          Chip.on(Message("common.on")), Chip.off(Message("common.off")),
          Chip.look(Message("charts.attention")), Chip.bad(Message("charts.error")),
        ])
    }
  }

  private static func title(_ small: Small) -> Message {
    switch small {
    case .sparkline: Message("charts.sparkline")
    case .meter: Message("charts.meter")
    case .strip: Message("charts.strip")
    case .stripMarks: Message("charts.strip-marks")
    case .cells: Message("charts.cells")
    case .cellsInput: Message("charts.cells-input")
    case .chips: Message("charts.chips")
    }
  }

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
    if mark == .area, amount == .many { addLinks(to: &frame) }
    return frame
  }

  static func frame(_ state: State) -> ChartFrame {
    ChartFrame(
      title(state), base: Message("charts.sample-base", ["count": .number(30)]),
      .chart(markup(state), key: state.key))
  }

  /// The drawing of a mark in a state.
  static func markup(_ state: State) -> Markup {
    let days = days(.many)
    let label = Message("charts.sample-label", ["count": .number(days.count)])
    switch state {
    case .areaEvents:
      return AreaChart(
        points: days.indices.map { AreaChart.Point(whole: 400, part: 100 + $0 * 9) },
        ticks: ChartTick.points(days),
        events: [500, 4_800, 5_100, 9_700].map {
          AreaChart.Event(position: $0, text: Message("charts.sample-event"))
        }, label: label
      ).markup
    case .offsetsOff, .offsetsOutside:
      return OffsetColumns(
        columns: (-10...10).map {
          OffsetColumns.Column(accepted: abs($0) < 4 ? 400 - 90 * abs($0) : 0)
        }, window: state == .offsetsOff ? nil : 1, label: label,
        name: state == .offsetsOff ? "off-none" : "off-outside"
      ).markup
    case .offsetsUnconfirmed:
      return OffsetChart.unconfirmed(
        (-10...10).map { abs($0) == 7 ? 9 : $0 == 4 ? 2 : 0 })
    case .timelineOff:
      return DotTimeline(
        dots: dots(.many), window: nil, ticks: ChartTick.points(days), label: label
      ).markup
    }
  }

  private static func title(_ state: State) -> Message {
    switch state {
    case .areaEvents: Message("charts.area-events")
    case .offsetsOff: Message("charts.offsets-off")
    case .offsetsOutside: Message("charts.offsets-outside")
    case .offsetsUnconfirmed: Message("charts.offsets-unconfirmed")
    case .timelineOff: Message("charts.timeline-off")
    }
  }

  /// Adds the periods, the file, and the link that a frame can have.
  private static func addLinks(to frame: inout ChartFrame) {
    let page = ConsolePaths.styleguide()
    frame.periods = [7, 30].map {
      ChartPeriod(
        text: Message("charts.days", ["count": .number($0)]), href: page, isCurrent: $0 == 30)
    }
    frame.csv = page
    frame.more = Link(text: Message("charts.styleguide"), href: page)
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

  fileprivate static func key(_ mark: Mark) -> [ChartKey] {
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

extension ChartSamples.State {
  fileprivate var key: [ChartKey] {
    switch self {
    case .areaEvents: ChartSamples.key(.area)
    case .offsetsOff: ChartSamples.key(.offsets)
    case .offsetsOutside, .offsetsUnconfirmed: OffsetChart.key
    case .timelineOff: ChartSamples.key(.timeline)
    }
  }
}
