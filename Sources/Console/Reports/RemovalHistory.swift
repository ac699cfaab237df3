import Identity
import Localization

/// Removals of second factors over time, by day or in groups of seven days.
struct RemovalHistory {
  private struct Column {
    let first: Day
    var hostile = 0
    var other = 0

    var all: Int { hostile + other }
  }

  private var columns: [Column]
  private let isDaily: Bool
  private let until: Day
  private let times: Times

  init(
    _ counts: [RemovalCount], _ window: ChartWindow, until now: Instant, _ times: Times
  ) {
    self.init(
      counts.flatMap { count in
        count.times.map { (at: $0, isHostile: count.reason?.isHostile == true) }
      }, window, until: now, times)
  }

  init(
    _ removals: [(at: Instant, isHostile: Bool)], _ window: ChartWindow, until now: Instant,
    _ times: Times
  ) {
    self.times = times
    isDaily = window == .month
    // The period begins on the day before the first whole one.
    let days = times.days(window.days + 1, until: now)
    until = days[days.count - 1]
    let size = isDaily ? 1 : 7
    let short = days.count % size
    var places: [Day: Int] = [:]
    columns = []
    for (index, day) in days.enumerated() {
      if index == 0 || (index >= short && (index - short) % size == 0) {
        columns.append(Column(first: day))
      }
      places[day] = columns.count - 1
    }
    for removal in removals {
      guard let place = places[times.calendarDay(of: removal.at)] else { continue }
      if removal.isHostile { columns[place].hostile += 1 } else { columns[place].other += 1 }
    }
  }

  /// The chart; nil without removals.
  var frame: ChartFrame? {
    let all = columns.map(\.all).reduce(0, +)
    guard all > 0 else { return nil }
    let base = Message(
      one: "{count} removal, {from} to {until}, {zone}",
      other: "{count} removals, {from} to {until}, {zone}",
      [
        "count": .number(all), "from": Times.value(columns[0].first), "until": Times.value(until),
        "zone": .text(times.zoneName),
      ])
    let chart = StackedColumns(
      fills: [.locked, .rejected], columns: parts,
      ticks: ChartTick.columns(columns.map { .value(Times.short($0.first)) }), label: title,
      name: "removals")
    var frame = ChartFrame(
      title, base: base,
      .chart(
        chart.markup,
        key: [
          ChartKey(.rejected, Self.hostile), ChartKey(.locked, Self.other),
        ]))
    frame.table = ChartTable(
      caption: title,
      columns: [isDaily ? Message("Day") : Message("Week from"), Self.hostile, Self.other],
      rows: columns.map { [.day($0.first), .number($0.hostile), .number($0.other)] })
    return frame
  }

  /// The removals of each column, from the baseline up: for other reasons, and hostile ones.
  var parts: [[Int]] { columns.map { [$0.other, $0.hostile] } }

  private static let hostile = Message("Stolen or compromised")
  private static let other = Message("Other reasons")

  var title: Message {
    guard let most = columns.max(by: { $0.all < $1.all }), most.all > 1 else {
      return isDaily
        ? Message("Never more than one removal a day")
        : Message("Never more than one removal a week")
    }
    let (count, day) = (Message.Value.number(most.all), Times.value(most.first))
    return isDaily
      ? Message(
        one: "At most {count} removal a day, on {day}",
        other: "At most {count} removals a day, on {day}", ["count": count, "day": day])
      : Message(
        one: "At most {count} removal a week, in that from {day}",
        other: "At most {count} removals a week, in that from {day}",
        ["count": count, "day": day])
  }
}
