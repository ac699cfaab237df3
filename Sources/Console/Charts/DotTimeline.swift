import Localization
import Templating

/// Draws code attempts over time by their interval, within the accepted window.
///
/// Attempts that matched no near interval are below the axis of intervals.
struct DotTimeline: Sendable {
  struct Dot: Sendable {
    /// The position in hundredths of a percent of the width.
    let position: Int
    /// The distance in intervals, negative if late; nil if the code matched no near interval.
    let distance: Int?
    let isAccepted: Bool
    /// The number of attempts that the dot stands for.
    var count = 1
  }

  let dots: [Dot]
  /// The adjacent intervals of the accepted window; nil if no codes are accepted.
  let window: Int?
  let ticks: [ChartTick]
  let label: Message

  private static let height = 196
  private static let base = height - 24

  /// The distance between dots that couldn't be told apart, in hundredths of a percent.
  private static let closest = 150

  /// The dots in order of time, one for those at the same place.
  private var places: [Dot] {
    var places: [Dot] = []
    for dot in dots {
      let same = places.lastIndex { $0.distance == dot.distance && $0.isAccepted == dot.isAccepted }
      if let same, dot.position - places[same].position < Self.closest {
        places[same].count += dot.count
      } else {
        places.append(dot)
      }
    }
    return places
  }

  /// The intervals with a label: the farthest ones, and those between them.
  private static func lines(from low: Int, to high: Int) -> [Int] {
    let step = high - low > 10 ? 4 : 2
    let between = stride(from: low / step * step, through: high, by: step).filter {
      $0 > low + 1 && $0 < high - 1
    }
    return [low] + between + [high]
  }

  var markup: Markup {
    let distances = dots.compactMap(\.distance)
    let side = window ?? 0
    let low = min(distances.min() ?? 0, -side, -2) - 1
    let high = max(distances.max() ?? 0, side, 2) + 1
    // The row below the lowest interval is for codes that matched none.
    let rows = high - low + 2
    func y(_ distance: Int, half: Int = 0) -> Int {
      800 + ((high - distance) * 2 - half) * (Self.base - 8) * 100 / (rows * 2)
    }
    var html = HTML()
    html.add(#"<div class="plot"><svg class="y" height="\#(Self.height)" aria-hidden="true">"#)
    let lines = Self.lines(from: low + 1, to: high - 1)
    for distance in lines { html.mark(WindowCells.name(distance), y: y(distance) + 450) }
    html.add("</svg>")
    html.openChart(height: Self.height, label)
    if let window {
      html.rectangle(
        #" class="band""#, x: 0, y: y(window, half: 1), width: 10_000,
        height: y(-window, half: -1) - y(window, half: 1))
    }
    for distance in lines { html.line("g", y: y(distance)) }
    html.line("g g0", y: Self.base * 100)
    for dot in places {
      let (x, row) = (dot.position, y(dot.distance ?? low - 1))
      html.add(#"<svg x="\#(hundredths: x)%" y="\#(hundredths: row)" overflow="visible">"#)
      html.add(dot.isAccepted ? Self.accepted : Self.rejected)
      if dot.count > 1 {
        let place: Markup = x < 1_000 ? #"x="9""# : #"class="e" x="-9""#
        html.add(#"<text \#(place) y="4">\#(dot.count)</text>"#)
      }
      html.add("</svg>")
    }
    html.labels(ticks, y: Self.height - 5)
    html.add("</svg></div>")
    return html.markup
  }

  private static let accepted: Markup = #"<circle class="hit" r="5"/>"#
  private static let rejected: Markup =
    #"<rect class="miss" x="-5" y="-5" width="10" height="10"/>"#

  static let key = [
    ChartKey(mark(#"<circle class="hit" cx="6" cy="6" r="5.5"/>"#), Message("Accepted")),
    ChartKey(
      mark(#"<rect class="miss" x=".5" y=".5" width="11" height="11"/>"#), Message("Rejected")),
  ]

  private static func mark(_ shape: Markup) -> Markup {
    #"<svg viewBox="0 0 12 12" aria-hidden="true">\#(shape)</svg>"#
  }
}
