import Identity
import Localization
import Templating

/// How far users of campaigns are, on one scale.
struct CampaignFunnel: ViewModel {
  let counts: CampaignCounts

  private func bar(
    _ label: Message, _ count: Int, _ fill: ChartFill = .accepted, from start: Int = 0
  ) -> Fact {
    let (bar, share) = (
      ShareBar.markup([(fill, count)], of: counts.sent, from: start),
      Meter.percent(count, of: counts.sent)
    )
    return Fact(
      label,
      #"""
      \#(bar)<strong>\#(Message.value(.number(count)))</strong>\#u{20}
      <span class="sub">\#(share)</span>
      """#)
  }

  static let keys: Keys<Self> = [
    .number("all") { $0.counts.sent },
    .number("enrolled") { $0.counts.enrolled },
    .list("bars") { funnel -> [Fact] in
      let counts = funnel.counts
      return [
        funnel.bar(Message("Sent"), counts.sent), funnel.bar(Message("Opened"), counts.opened),
        funnel.bar(Message("Enrolled"), counts.enrolled),
        funnel.bar(Message("Expired"), counts.expired, .outside, from: counts.enrolled),
      ]
    },
  ]
}
