import Identity
import Localization
import Templating

struct CheckHistory: Sendable {
  struct Sums: Sendable, Equatable {
    var accepted = 0
    var outside = 0
    var incorrect = 0
    var locked = 0

    var rejected: Int { outside + incorrect + locked }
    var all: Int { accepted + rejected }
    /// In the order of `ChartFill.results`.
    var parts: [Int] { [accepted, outside, incorrect, locked] }

    mutating func add(_ checks: HourlyChecks) {
      accepted += checks.accepted
      outside += checks.outside
      incorrect += checks.incorrect
      // Codes of suspended factors aren't checked either.
      locked += checks.locked + checks.other
    }
  }

  /// The dates, oldest first; the last one is today.
  let days: [Day]
  let byDay: [Sums]
  /// Rejected codes by weekday, from Monday, and hour.
  let rejections: [[Int]]
  let total: Sums
  private let times: Times

  init(_ checks: [HourlyChecks], days count: Int, until now: Instant, _ times: Times) {
    self.times = times
    days = times.days(count, until: now)
    let places = Dictionary(uniqueKeysWithValues: days.enumerated().map { ($1, $0) })
    var byDay = [Sums](repeating: Sums(), count: count)
    var rejections = [[Int]](repeating: [Int](repeating: 0, count: 24), count: 7)
    var total = Sums()
    for hour in checks {
      guard let place = places[times.calendarDay(of: hour.hour)] else { continue }
      byDay[place].add(hour)
      total.add(hour)
      let (day, clock) = times.hourOfWeek(of: hour.hour)
      rejections[day][clock] += hour.outside + hour.incorrect + hour.locked + hour.other
    }
    (self.byDay, self.rejections, self.total) = (byDay, rejections, total)
  }

  /// Whether attempts were recorded from the beginning; a pool can be newer than the period.
  var isWhole: Bool { byDay.prefix(7).contains { $0.all > 0 } }

  /// Returns the base of a chart, with the time at which days begin where the zone's hours aren't
  /// those in which attempts are counted.
  private func counted(_ base: Message) -> Message {
    times.startOfCountedDays(at: times.start(of: days[days.count - 1])).map { start in
      Message(
        "{base}. Counted by UTC hour, so days start at {start}.",
        ["base": .message(base), "start": .text(start)])
    } ?? base
  }

  private var base: Message {
    let base = Message(
      one: "{count} attempt, {from} to {until}, {zone}",
      other: "{count} attempts, {from} to {until}, {zone}",
      [
        "count": .number(total.all), "from": Times.value(days[0]),
        "until": Times.value(days[days.count - 1]), "zone": .text(times.zoneName),
      ])
    return counted(base)
  }

  func frame(_ name: String) -> ChartFrame {
    guard total.all > 0 else {
      return ChartFrame(
        Message("Code attempts by day"), base: base,
        .empty(
          Message(
            one: "No code attempts in the last {count} day.",
            other: "No code attempts in the last {count} days.", ["count": .number(days.count)])))
    }
    let chart = StackedColumns(
      fills: ChartFill.results, columns: byDay.map(\.parts),
      ticks: ChartTick.columns(days.map { .value(Times.short($0)) }),
      label: Message(
        one: "{count} attempt by day: {accepted} accepted, {rejected} rejected",
        other: "{count} attempts by day: {accepted} accepted, {rejected} rejected",
        [
          "count": .number(total.all), "accepted": .number(total.accepted),
          "rejected": .number(total.rejected),
        ]), name: name)
    var frame = ChartFrame(rejectedShare, base: base, .chart(chart.markup, key: ChartKey.results))
    frame.table = table
    return frame
  }

  private var rejectedShare: Message {
    guard total.rejected > 0 else { return Message("No codes were rejected") }
    return total.rejected * 2 <= total.all
      ? Message(
        "1 in {number} codes was rejected",
        ["number": .number((total.all + total.rejected / 2) / total.rejected)])
      : Message(
        "{share} of codes were rejected",
        ["share": .message(Meter.percent(total.rejected, of: total.all))]
      )
  }

  var table: ChartTable {
    ChartTable(
      caption: Message("Code attempts by day"),
      columns: [Message("Day")] + ChartKey.results.map(\.text),
      rows: zip(days, byDay).map { day, sums in
        [.day(day)] + sums.parts.map(ChartTable.Cell.number)
      })
  }
}

extension CheckHistory {
  /// The number of rejected codes below which a distribution over the week says nothing.
  private static let fewest = 20

  var rejectionsFrame: ChartFrame {
    let base = Message(
      one: "{count} rejected code, last {days} days, {zone}",
      other: "{count} rejected codes, last {days} days, {zone}",
      [
        "count": .number(total.rejected), "days": .number(days.count),
        "zone": .text(times.zoneName),
      ])
    guard total.rejected >= Self.fewest else {
      return ChartFrame(
        Message("Rejected codes by weekday and hour"), base: counted(base),
        .empty(
          Message(
            one: "{count} rejected code: too few for a pattern.",
            other: "{count} rejected codes: too few for a pattern.",
            ["count": .number(total.rejected)])))
    }
    let map = HeatMap(
      counts: rejections,
      label: Message(
        one: "{count} rejected code by weekday and hour. {peak}",
        other: "{count} rejected codes by weekday and hour. {peak}",
        ["count": .number(total.rejected), "peak": .message(peak)]))
    var frame = ChartFrame(peak, base: counted(base), .chart(map.markup, key: HeatMap.key))
    frame.table = rejectionsTable
    return frame
  }

  private var peak: Message {
    let hours = (0..<24).map { hour in rejections.reduce(0) { $0 + $1[hour] } }
    let pairs = (0..<24).map { hours[$0] + hours[($0 + 1) % 24] }
    // Of equal pairs, the one that begins with more: the other begins before the rejections did.
    let start = (0..<24).max { (pairs[$0], hours[$0]) < (pairs[$1], hours[$1]) }
    guard let start, case let most = pairs[start],
      // Spread evenly, two hours have a twelfth of all.
      most * 8 >= total.rejected
    else { return Message("Rejections are spread over the day") }
    let days = rejections.prefix(5).map { $0[start] + $0[(start + 1) % 24] }
    let weekdays = days.reduce(0, +)
    let arguments: (Message.Value, Message.Value) = (.hour(start), .hour((start + 2) % 24))
    let worst = rejections.map { $0.max() ?? 0 }
    let isOnWeekdays =
      weekdays * 5 >= most * 4 && (worst[5...].max() ?? 0) <= (worst[..<5].max() ?? 0)
    // One day is no pattern.
    return isOnWeekdays && days.count(where: { $0 > 0 }) > 1
      ? Message(
        "Rejections peak on weekdays, {from} to {until}",
        ["from": arguments.0, "until": arguments.1])
      : Message(
        "Rejections peak from {from} to {until}", ["from": arguments.0, "until": arguments.1])
  }

  var rejectionsTable: ChartTable {
    ChartTable(
      caption: Message("Rejected codes by weekday and hour"),
      columns: [Message("Hour")]
        + (1...7).map { .value(.weekday($0)) },
      rows: (0..<24).map { hour in
        [.text(.value(.hour(hour)))] + rejections.map { .number($0[hour]) }
      })
  }
}
