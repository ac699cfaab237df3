import Identity
import Localization
import OTP
import Templating

@testable import Console

/// Every mark in every state.
enum ChartSamples {
  typealias Markup = Templating.Markup

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
    case sparkline, meter, strip, share
    case stripMarks = "strip-marks"
    case cells
    case cellsInput = "cells-input"
    case chips
  }

  static func markup(_ small: Small) -> Markup {
    switch small {
    case .sparkline: Markup(joining: [[], [40], [40, 44, 43, 52, 61, 77]].map(spark))
    case .meter:
      Markup(joining: [(0, 0), (0, 3), (1, 300), (1, 3), (3, 3)].map { Meter.share($0, of: $1) })
    case .share:
      ShareBar.markup(
        ChartFill.results.map { ($0, 3) }, of: 12)
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
        joining: [WindowPicks.markup("5"), WindowCells.labels(.standard)])
    case .chips:
      Markup(
        joining: [
          Chip.on(Message("on")), Chip.off(Message("off")),
          Chip.look(Message.verbatim("needs attention")), Chip.bad(Message.verbatim("error")),
        ])
    }
  }

  static func spark(_ percents: [Int]) -> Markup {
    Sparkline.markup(percents) {
      Message("MFA enrollment in the last 12 months: {first} to {last}", ["first": $0, "last": $1])
    }
  }

  /// The drawing of a mark in a state.
  static func markup(_ state: State) -> Markup {
    let days = days(.many)
    let label = label(days.count)
    switch state {
    case .areaEvents:
      return AreaChart(
        points: days.indices.map { AreaChart.Point(whole: 400, part: 100 + $0 * 9) },
        ticks: ChartTick.points(days),
        events: [500, 4_800, 5_100, 9_700], label: label
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

  /// The drawing of a mark, also without data, which pages show as a sentence.
  static func markup(_ mark: Mark, _ amount: Amount) -> Markup {
    let label = label(count(mark, amount))
    let days = days(amount)
    switch mark {
    case .area:
      return AreaChart(
        points: days.indices.map { AreaChart.Point(whole: 400 + $0 * 31, part: 40 + $0 * $0) },
        ticks: ChartTick.points(days),
        events: amount == .many ? [8_000] : [], label: label
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

  private static func label(_ count: Int) -> Message { .verbatim("Sample data: \(count) values") }

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
}
