import Identity
import Localization
import OTP
import Templating

struct OffsetChart {
  let evidence: PolicyEvidence
  let query: EvidenceQuery
  let context: PoolContext
  let current: Window?
  /// The window that the form's values mean; nil if no codes are accepted.
  let drawn: Window?

  var frame: ChartFrame {
    var frame =
      evidence.evidence.map(frame)
      ?? ChartFrame(
        Message("Code acceptance window"),
        base: Message(one: "{count} day", other: "{count} days", ["count": .number(evidence.days)]),
        .empty(Message("These figures are unavailable right now. Reload the page to try again.")))
    frame.periods = EvidenceQuery.periods.map { days in
      Link(
        text: Message(one: "{count} day", other: "{count} days", ["count": .number(days)]),
        href: EvidenceQuery(days: days, goal: query.goal).choice(in: context),
        isCurrent: days == query.days)
    }
    return frame
  }

  private func frame(_ counts: WindowEvidence) -> ChartFrame {
    let base = Message(
      one: """
        Correct codes in the last day (UTC), by 30-second interval: {codes} (users: {users}). \
        Square-root scale.
        """,
      other: """
        Correct codes in the last {count} days (UTC), by 30-second interval: {codes} (users: \
        {users}). Square-root scale.
        """,
      [
        "codes": .number(counts.codes), "users": .number(counts.users),
        "count": .number(evidence.days),
      ])
    let finding = EvidenceText.finding(counts, current)
    var frame = ChartFrame(finding, base: base, content(counts, finding))
    if counts.isEnough { frame.table = Self.table(counts.histogram) }
    frame.csv = query.address(of: ConsolePaths.policyOffsets(context.pool))
    return frame
  }

  private func content(_ counts: WindowEvidence, _ finding: Message) -> ChartFrame.Content {
    guard counts.isEnough else {
      return .empty(
        Message(
          one: """
            {count} accepted code in this period: too few to compare windows ({needed} needed).
            """,
          other: """
            {count} accepted codes in this period: too few to compare windows ({needed} needed).
            """,
          ["count": .number(counts.accepted), "needed": .number(WindowEvidence.fewestCodes)]))
    }
    let columns = zip(counts.histogram.accepted, counts.histogram.confirmed).map {
      OffsetColumns.Column(accepted: $0, confirmed: $1)
    }
    let chart = OffsetColumns(
      columns: columns, window: drawn?.adjacentIntervals, label: finding, name: "offsets")
    return .chart(chart.markup, key: Self.key)
  }

  /// The key of the chart; accepted codes that the drawn window loses are hatched.
  static let key = [
    ChartKey(.accepted, Message("Accepted within the window")),
    ChartKey(lostSwatch, Message("Accepted, outside the window")),
    ChartKey(.outside, Message("Near miss, confirmed by signing in soon after")),
  ]

  private static let lostSwatch: Markup =
    #"<svg aria-hidden="true"><rect class="f-out" width="12" height="12" rx="2"/></svg>"#

  /// The numbers of the chart, including near misses that aren't evidence.
  static func table(_ histogram: OffsetHistogram) -> ChartTable {
    ChartTable(
      caption: Message("Codes by distance from the current interval"),
      columns: [
        Message("Distance in intervals"), Message("Accepted"),
        Message("Confirmed near misses"), Message("Unconfirmed near misses (not counted)"),
      ],
      rows: (0..<histogram.accepted.count).map { index in
        let distance = index - WindowStrip.reach
        return [
          .signed(distance), .number(histogram.accepted[index]),
          .number(histogram.confirmed[index]),
          .number(histogram.unconfirmed[index]),
        ]
      })
  }

  /// The near misses that aren't evidence, drawn apart from the others; nil if there are none.
  var unconfirmed: Markup? {
    guard let counts = evidence.evidence, counts.isEnough, counts.unconfirmed > 0 else {
      return nil
    }
    return Self.unconfirmed(counts.histogram.unconfirmed)
  }

  /// `counts` are by interval, from −10 to +10.
  static func unconfirmed(_ counts: [Int]) -> Markup {
    let height = 40
    let base = height - 2
    let largest = max(counts.max() ?? 0, 1)
    var html = HTML()
    html.openChart(
      height: height,
      Message(
        one: "{count} unconfirmed near miss by distance",
        other: "{count} unconfirmed near misses by distance",
        ["count": .number(counts.reduce(0, +))]))
    html.line("g", y: base * 100)
    let width = 10_000 / counts.count
    for (index, count) in counts.enumerated() where count > 0 {
      let x = index * 10_000 / counts.count
      let bar = max(count * (base - 18) * 100 / largest, 100)
      html.rectangle(
        #" class="ghost""#, x: x + width * 14 / 100, y: base * 100 - bar,
        width: width * 72 / 100, height: bar)
      html.add(
        #"""
        <text class="m" x="\#(hundredths: x + width / 2)%"\#
         y="\#(hundredths: base * 100 - bar - 400)">\#(Message.value(.number(count)))</text>
        """#)
    }
    html.add("</svg>")
    return html.markup
  }
}
