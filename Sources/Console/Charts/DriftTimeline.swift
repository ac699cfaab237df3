import Identity
import Localization
import OTP
import Templating

/// The chart of a user's TOTP codes by time and interval, which shows how the clock of a phone drifts.
enum DriftTimeline {
  /// The fewest codes that are worth a chart.
  private static let fewest = 3
  /// The room at both ends, in hundredths of a percent, so that no dot sticks out.
  private static let margin = 100
  private static let day: Int64 = 86_400_000_000

  /// Returns the chart of code attempts, newest first; nil for too few.
  static func chart(
    _ codeAttempts: [CodeAttempt], _ drift: DriftEvidence?, at now: Instant, _ times: Times
  ) -> ChartFrame? {
    let shown = codeAttempts.filter(isShown)
    guard shown.count >= fewest, let first = shown.last?.at else { return nil }
    let start = min(first.microseconds, now.microseconds - day)
    let span = now.microseconds - start
    let dots = shown.reversed().map { codeAttempt in
      let part = (codeAttempt.at.microseconds - start) * Int64(10_000 - 2 * margin) / span
      return DotTimeline.Dot(
        position: margin + Int(part), distance: codeAttempt.distance,
        isAccepted: codeAttempt.result.isSuccess, count: codeAttempt.times)
    }
    let title = title(shown, drift, times)
    let base = Message(
      one: """
        {count} code, {period} ({zone}), in 30-second intervals. Unmatched codes at the bottom.
        """,
      other: """
        {count} codes, {period} ({zone}), in 30-second intervals. Unmatched codes at the bottom.
        """,
      [
        "count": .number(shown.count), "period": period(from: first, to: shown[0].at, times),
        "zone": .text(times.zoneName),
      ])
    let timeline = DotTimeline(
      dots: dots, window: shown.lazy.compactMap(\.window).first?.adjacentIntervals,
      ticks: ticks(from: start, to: now.microseconds, times), label: title)
    var frame = ChartFrame(title, base: base, .chart(timeline.markup, key: DotTimeline.key))
    frame.table = table(codeAttempts, times)
    return frame
  }

  /// The days of the first and the last code, or their one day.
  private static func period(
    from first: Instant, to last: Instant, _ times: Times
  ) -> Message.Value {
    let (from, to) = (times.calendarDay(of: first), times.calendarDay(of: last))
    return from == to
      ? Times.value(to)
      : .message(Message("{from} – {to}", ["from": Times.value(from), "to": Times.value(to)]))
  }

  static func table(_ codeAttempts: [CodeAttempt], _ times: Times) -> ChartTable {
    ChartTable(
      caption: Message("TOTP codes by time, newest first"),
      columns: [
        Message("Time"), Message("Offset (intervals)"), Message("Result"),
      ],
      rows: codeAttempts.filter(isShown).map { codeAttempt in
        [
          .moment(codeAttempt.at, times),
          codeAttempt.distance.map(ChartTable.Cell.signed)
            ?? .text(Message("None nearby")),
          .text(CodeAttemptText.sentence(codeAttempt)),
        ]
      })
  }

  /// Whether a code was checked against the intervals; sent and backup codes have none.
  private static func isShown(_ codeAttempt: CodeAttempt) -> Bool {
    guard !codeAttempt.way.isSent, codeAttempt.window != nil else { return false }
    return codeAttempt.distance != nil || codeAttempt.result == .wrong
  }

  private static func title(
    _ shown: [CodeAttempt], _ drift: DriftEvidence?, _ times: Times
  ) -> Message {
    guard let drift else {
      return Message(
        one: "{accepted} of {count} TOTP code accepted",
        other: "{accepted} of {count} TOTP codes accepted",
        [
          "accepted": .number(shown.count(where: \.result.isSuccess)),
          "count": .number(shown.count),
        ])
    }
    let isSlow = drift.drift.isSlow
    guard let last = drift.lastOnTime else {
      return isSlow ? Message("Clock is behind") : Message("Clock is ahead")
    }
    let day = Times.short(times.calendarDay(of: last))
    return isSlow
      ? Message("Clock fell behind after {day}", ["day": day])
      : Message("Clock ran ahead after {day}", ["day": day])
  }

  private static func ticks(from start: Int64, to end: Int64, _ times: Times) -> [ChartTick] {
    let parts: Int64 = (end - start) / day >= 4 ? 3 : 1
    return (0...parts).map { part in
      let at = Instant(microseconds: start + (end - start) / parts * part)
      return ChartTick(
        position: Int(part * 10_000 / parts),
        label: .value(Times.short(times.calendarDay(of: at))))
    }
  }
}
