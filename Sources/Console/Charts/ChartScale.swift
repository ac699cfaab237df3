/// A vertical scale of counts from zero, with ticks at round numbers.
struct ChartScale: Equatable, Sendable {
  let step: Int
  /// The number at the top, a multiple of `step`.
  let top: Int

  init(upTo largest: Int) {
    let largest = max(largest, 1)
    var unit = 1
    while unit * 40 <= largest { unit *= 10 }
    step = ([1, 2, 3, 4, 5].map { $0 * unit }.first { $0 * 4 >= largest }) ?? unit * 10
    top = (largest + step - 1) / step * step
  }

  var ticks: [Int] { Array(stride(from: 0, through: top, by: step)) }

  /// The part of the axis that a number takes up, in hundredths of `length`.
  func hundredths(of value: Int, length: Int) -> Int { value * length * 100 / top }
}
