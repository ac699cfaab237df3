import Foundation
import HTTP
import Identity
import Localization
import Templating
import Testing

@testable import Console

@Suite struct ChartTests {
  private static let samples = ChartSamples.Mark.allCases.flatMap { mark in
    ChartSamples.Amount.allCases.map { (mark, $0) }
  }

  private func text(_ markup: Templating.Markup) throws -> String {
    String(decoding: markup.bytes, as: UTF8.self)
  }

  @Test(arguments: samples)
  func `each mark is drawn the same for no data, one value, and many`(
    mark: ChartSamples.Mark, amount: ChartSamples.Amount
  ) throws {
    let drawing = try text(ChartSamples.markup(mark, amount))
    try Snapshot.check(
      part: drawing.replacing("><", with: ">\n<"),
      named: "charts/\(mark.rawValue)-\(amount.rawValue).html")
  }

  @Test(arguments: ChartSamples.State.allCases)
  func `each mark is drawn the same in its other states`(state: ChartSamples.State) throws {
    try Snapshot.check(
      part: try text(ChartSamples.markup(state)).replacing("><", with: ">\n<"),
      named: "charts/\(state.rawValue).html")
  }

  @Test(arguments: ChartSamples.Small.allCases)
  func `each mark within a line is drawn the same`(small: ChartSamples.Small) throws {
    try Snapshot.check(
      part: try text(ChartSamples.markup(small)).replacing("><", with: ">\n<"),
      named: "charts/\(small.rawValue).html")
  }

  @Test func `the key of offsets is drawn the same, with the pattern of lost codes`() throws {
    let swatches = try OffsetChart.key.map { try text($0.swatch) }
    #expect(Set(swatches).count == swatches.count)
    try Snapshot.check(
      part: swatches.joined(separator: "\n").replacing("><", with: ">\n<"),
      named: "charts/offsets-key.html")
  }

  @Test(arguments: [[], [40], [40, 44, 43, 52, 61, 77]])
  func `a sparkline needs two values`(percents: [Int]) throws {
    let drawing = try text(ChartSamples.spark(percents))
    #expect(drawing.contains("<path") == (percents.count > 1))
    if percents.count > 1 {
      #expect(drawing.contains("aria-label=\"MFA enrollment in the last 12 months: 40% to 77%\""))
    }
  }

  @Test(arguments: samples)
  func `drawings have a text alternative, no inline styles, and text that doesn't scale`(
    mark: ChartSamples.Mark, amount: ChartSamples.Amount
  ) throws {
    let drawing = try text(ChartSamples.markup(mark, amount))
    #expect(drawing.contains("role=\"img\" aria-label=\""))
    #expect(!drawing.contains("style="))
    for scaled in drawing.matches(of: #/<svg[^>]*viewBox[^>]*>([\s\S]*?)<\/svg>/#) {
      #expect(!scaled.1.contains("<text"))
    }
  }

  @Test(arguments: [
    (0, 1, 1), (1, 1, 1), (3, 1, 3), (4, 1, 4), (5, 2, 6), (40, 10, 40), (41, 20, 60),
    (1_180, 300, 1_200), (130, 40, 160), (999_999, 300_000, 1_200_000),
  ])
  func `a scale starts at zero and has round ticks`(largest: Int, step: Int, top: Int) {
    let scale = ChartScale(upTo: largest)
    #expect(scale.step == step && scale.top == top)
    #expect(scale.ticks.first == 0 && scale.ticks.last == top && scale.ticks.count <= 5)
  }

  @Test func `the darkest cell of a heat map has the most, and only empty cells are blank`() {
    #expect((0...8).map { HeatMap.level($0, largest: 8) } == [0, 1, 1, 2, 2, 3, 3, 4, 4])
    #expect(HeatMap.level(0, largest: 0) == 0)
  }

  @Test(arguments: 1...40)
  func `labels of an axis include the first and the last column`(count: Int) {
    let labels = (0..<count).map { Message.verbatim(String($0)) }
    for ticks in [ChartTick.columns(labels), ChartTick.points(labels)] {
      #expect(ticks.first?.label == labels.first && ticks.last?.label == labels.last)
      #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0.position < $1.position })
    }
  }

  @Test(arguments: [
    ([500, 4_800, 5_100, 9_700], [500, 4_800, 5_500, 9_700]),
    ([9_800, 9_900, 10_000], [8_600, 9_300, 10_000]), ([0, 0], [0, 700]),
    ([Int](), [Int]()),
  ])
  func `flags of events near each other are apart, and within the plot`(
    events: [Int], flags: [Int]
  ) {
    #expect(AreaChart.flags(events) == flags)
  }

  @Test func `hundredths are written without trailing zeros`() {
    let numbers = [(0, "0"), (5, "0.05"), (50, "0.5"), (1_234, "12.34"), (-150, "-1.5")]
    for (number, text) in numbers {
      let markup: Templating.Markup = "\(hundredths: number)"
      #expect(String(decoding: markup.bytes, as: UTF8.self) == text)
    }
  }

  @Test func `the numbers of a chart are a table and a file`() throws {
    let catalog = Catalog.english
    let table = ChartTable(
      caption: Message.verbatim("Results"),
      columns: [Message("Day"), Message("Accepted"), Message("Rejected")],
      rows: [
        [.text(.verbatim("Nov 4")), .number(1_200), .share(1, of: 3)],
        [.text(.verbatim("Nov 5")), .signed(-1_200), .signed(0)],
      ])
    let html = try text(table.markup)
    #expect(html.contains("<th scope=\"row\">Nov 4</th><td class=\"num\">1,200</td>"))
    #expect(html.contains("<td class=\"num\">33%</td>"))
    #expect(html.contains("<td class=\"num\">−1,200</td><td class=\"num\">0</td>"))
    let bytes = table.csv(catalog).response(named: "sample").body.bytes
    #expect(
      String(decoding: bytes.dropFirst(3), as: UTF8.self)
        == "\"Day\",\"Accepted\",\"Rejected\"\r\n\"Nov 4\",\"1200\",\"33%\"\r\n\"Nov 5\",\"-1200\",\"0\"\r\n"
    )
  }
}

/// Colors of the style sheet, computed as WCAG 2.2 does.
@Suite struct ContrastTests {
  /// The contrast of two tokens in a theme, 0 for light and 1 for dark.
  private func contrast(_ one: String, _ other: String, theme: Int) throws -> Double {
    let (a, b) = (try luminance(one, theme), try luminance(other, theme))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
  }

  private func luminance(_ token: String, _ theme: Int) throws -> Double {
    let folder = Checkout.folder("Public")
    let css = try String(contentsOf: URL(filePath: "\(folder)/countersign.css"), encoding: .utf8)
    let match = try #require(
      css.firstMatch(
        of: try Regex(
          "--\(token): light-dark\\(#([0-9a-f]{3,6}), #([0-9a-f]{3,6})\\)",
          as: (Substring, Substring, Substring).self)))
    let digits = theme == 0 ? match.output.1 : match.output.2
    let long = digits.count == 3 ? digits.map { "\($0)\($0)" }.joined() : String(digits)
    let number = try #require(Int(long, radix: 16))
    let channels = [number >> 16 & 255, number >> 8 & 255, number & 255].map { value in
      let share = Double(value) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
  }

  @Test(arguments: [0, 1])
  func `lit cells and the marks of charts stand out by 3 to 1`(theme: Int) throws {
    #expect(try contrast("lit", "cell", theme: theme) >= 3)
    for mark in ["lit", "warn-fill", "danger-fill", "accent"] {
      #expect(try contrast(mark, "paper", theme: theme) >= 3)
    }
    #expect(try contrast("ink", "cell", theme: theme) >= 3)
    #expect(try contrast("accent", "area", theme: theme) >= 3)
  }

  @Test(arguments: [0, 1])
  func `shades of a heat map run from light to dark, or the other way`(theme: Int) throws {
    let shades = try (0...4).map { try luminance("q\($0)", theme) }
    #expect(shades == shades.sorted(by: theme == 0 ? (>) : (<)))
  }
}
