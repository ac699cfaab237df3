import Localization
import Testing

@testable import Console

struct DotTimelineTests {
  private func markup(_ dots: [DotTimeline.Dot], window: Int = 1) -> String {
    let timeline = DotTimeline(
      dots: dots, window: window, ticks: [], label: .verbatim("codes"))
    return String(decoding: timeline.markup.bytes, as: UTF8.self)
  }

  @Test(arguments: [(-6, "−6"), (-7, "−7"), (-10, "−10"), (5, "+5"), (9, "+9")])
  func `the farthest code has a label`(distance: Int, label: String) {
    let dots = [distance, 0].map {
      DotTimeline.Dot(position: 5_000, distance: $0, isAccepted: false)
    }
    let html = markup(dots)
    #expect(html.contains(">\(label)</text>") && html.contains(">now</text>"))
  }

  @Test func `codes at one place are one dot with their number`() {
    let rejected = (0..<9).map {
      DotTimeline.Dot(position: 5_000 + $0 * 10, distance: nil, isAccepted: false)
    }
    let accepted = DotTimeline.Dot(position: 5_000, distance: 0, isAccepted: true)
    let html = markup(rejected + [accepted])
    #expect(html.contains(">9</text>"))
    #expect(html.split(separator: "class=\"miss\"").count == 2)
    // Each of those that can be told apart is a dot.
    let apart = (0..<3).map {
      DotTimeline.Dot(position: 2_000 * $0, distance: nil, isAccepted: false)
    }
    #expect(markup(apart).split(separator: "class=\"miss\"").count == 4)
  }
}
