import Identity
import Localization
import OTP
import Templating

struct EnrollmentHistory: Sendable {
  /// The beginnings of days in the administrator's time zone, oldest first, and the present.
  let samples: [EnrollmentPoint]
  private let times: Times

  private static let day: Int64 = 86_400

  /// Creates a history from known states, each of which lasts until the next one; the period is
  /// shorter if nothing is known about its beginning.
  init(_ points: [EnrollmentPoint], _ window: ChartWindow, now: Instant, _ times: Times) {
    guard let first = points.first else {
      self.init([], at: [], times)
      return
    }
    let days = times.days(window.days + 1, until: now)
    let known = days.drop { $0 < times.calendarDay(of: first.at) }
    let step = known.count > ChartWindow.quarter.days + 1 ? 7 : 1
    let before = known.dropLast().reversed().enumerated()
      .filter { ($0.offset + 1) % step == 0 }.map(\.element)
    // What is known can begin within a day.
    let instants = before.reversed().map { max(times.start(of: $0), first.at) }
    self.init(points, at: instants + [now], times)
  }

  /// Creates a history of the states at some times, oldest first; the last time is the present.
  ///
  /// Times about which nothing is known are left out.
  init(_ points: [EnrollmentPoint], at instants: [Instant], _ times: Times) {
    self.times = times
    guard let first = points.first else {
      samples = []
      return
    }
    var (next, state, samples) = (0, first, [EnrollmentPoint]())
    for (index, at) in instants.enumerated() {
      let isLast = index == instants.count - 1
      while next < points.count, isLast || points[next].at <= at {
        state = points[next]
        next += 1
      }
      if next > 0 {
        samples.append(EnrollmentPoint(at: at, users: state.users, enrolled: state.enrolled))
      }
    }
    self.samples = samples
  }

  func frame(_ changes: [AuditRow], _ catalog: Catalog) -> ChartFrame {
    guard let first = samples.first, let last = samples.last, samples.count > 1 else {
      return ChartFrame(
        Message("MFA enrollment"), base: Message("Users with a second factor"),
        .empty(Message("Recording started less than a day ago. The chart appears tomorrow.")))
    }
    let events = self.events(changes, catalog)
    let flags = events.enumerated().map { index, event in
      ChartKey(AreaChart.swatch(index + 1), event.text)
    }
    let chart = AreaChart(
      points: samples.map { AreaChart.Point(whole: $0.users, part: $0.enrolled) },
      ticks: ticks, events: events.map(\.position),
      label: Message(
        "From {from} to {until}: {enrolled} of {users} users enrolled",
        [
          "from": day(first.at), "until": day(last.at), "enrolled": .number(last.enrolled),
          "users": .number(last.users),
        ]))
    var frame = ChartFrame(
      title,
      base: Message(
        "Users with a second factor, n = {users}, {from} to {until}, {zone}",
        [
          "users": .number(last.users), "from": day(first.at), "until": day(last.at),
          "zone": .text(times.zoneName),
        ]),
      .chart(
        chart.markup,
        key: [
          ChartKey(.enrolled, Message("Enrolled")),
          ChartKey(.all, Message("All users")),
        ] + flags))
    frame.table = table
    return frame
  }

  private var title: Message {
    let shares = samples.filter { $0.users > 0 }.map {
      Meter.rounded($0.enrolled, of: $0.users)
    }
    guard let first = shares.first, let last = shares.last else {
      return Message("No users in this period")
    }
    func share(_ percent: Int) -> Message.Value { .percent(Double(percent) / 100) }
    if first == last { return Message("Enrollment stayed at {share}", ["share": share(last)]) }
    return first < last
      ? Message(
        "Enrollment rose from {first} to {last}", ["first": share(first), "last": share(last)])
      : Message(
        "Enrollment fell from {first} to {last}", ["first": share(first), "last": share(last)])
  }

  var table: ChartTable {
    ChartTable(
      caption: Message("MFA enrollment"),
      columns: [
        Message("Day"), Message("Enrolled"), Message("All users"),
        Message("Share"),
      ],
      rows: samples.map { sample in
        [
          .day(times.calendarDay(of: sample.at)), .number(sample.enrolled), .number(sample.users),
          .share(sample.enrolled, of: sample.users),
        ]
      })
  }

  private var ticks: [ChartTick] {
    let isLong = samples.count > 1 && samples[1].at.seconds - samples[0].at.seconds > 2 * Self.day
    return ChartTick.points(
      samples.map { sample in
        let day = times.calendarDay(of: sample.at)
        return .value(isLong ? Times.month(day) : Times.short(day))
      }, most: 3)
  }

  private func day(_ instant: Instant) -> Message.Value {
    Times.value(times.calendarDay(of: instant))
  }

  /// The maximum number of changes on the axis; more of them would cover it.
  private static let mostEvents = 4

  /// The number of changes of the policy in the period that aren't on the axis.
  func unmarked(_ changes: [AuditRow]) -> Int {
    guard samples.count > 1 else { return 0 }
    return max(inPeriod(changes).count - Self.mostEvents, 0)
  }

  private func inPeriod(_ changes: [AuditRow]) -> [AuditRow] {
    guard let first = samples.first, let last = samples.last else { return [] }
    return changes.filter { $0.at > first.at && $0.at <= last.at }
  }

  /// The changes on the axis: the position in hundredths of a percent, and what changed.
  private func events(
    _ changes: [AuditRow], _ catalog: Catalog
  ) -> [(position: Int, text: Message)] {
    guard let first = samples.first, let last = samples.last, first.at < last.at else { return [] }
    let span = last.at.seconds - first.at.seconds
    return inPeriod(changes).prefix(Self.mostEvents)
      .reversed().map { row in
        (
          position: Int((row.at.seconds - first.at.seconds) * 10_000 / span),
          text: Message(
            "{day}: {change}",
            [
              "day": Times.short(times.calendarDay(of: row.at)),
              "change": .message(Self.words(row, AuditFormatter(times, catalog))),
            ])
        )
      }
  }

  /// The most important field of a changed policy.
  private static func words(_ row: AuditRow, _ formatter: AuditFormatter) -> Message {
    func new(_ field: AuditFieldName) -> AuditValue? {
      row.changes.first { $0.field == field }?.new
    }
    if case .code(let code)? = new(.pattern), let pattern = EnrollmentPattern(rawValue: code) {
      return pattern.name
    }
    if case .number(let side)? = new(.adjacentIntervals) {
      return Message(
        one: "±{count} interval", other: "±{count} intervals", ["count": .number(side)])
    }
    if let intervals = new(.adjacentIntervals), intervals != .code("unsaid") {
      // Translators: A label in a chart: the policy has the default number of adjacent intervals
      // from here on.
      return Message(
        one: "±{count} interval (default)", other: "±{count} intervals (default)",
        ["count": .number(Window.standard.adjacentIntervals)])
    }
    return row.changes.first.map { .verbatim(formatter.line($0)) } ?? AuditText.action(row)
  }
}
