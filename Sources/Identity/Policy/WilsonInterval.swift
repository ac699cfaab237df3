/// The 95% Wilson score interval of a share that was observed in a sample.
///
/// Source: Wilson, “Probable Inference, the Law of Succession, and Statistical Inference”, Journal of
/// the American Statistical Association 22 (1927).
public struct WilsonInterval: Sendable, Equatable {
  /// The lower end, 0 to 1.
  public let lower: Double
  /// The upper end, 0 to 1.
  public let upper: Double

  /// Creates the interval of a share: `part` of `whole` cases; without any, there's no interval.
  public init?(_ part: Int, of whole: Int) {
    guard whole > 0, (0...whole).contains(part) else { return nil }
    let (part, whole) = (Double(part), Double(whole))
    let square = Self.quantile * Self.quantile
    let center = (part + square / 2) / (whole + square)
    let half =
      Self.quantile / (whole + square)
      * (part * (whole - part) / whole + square / 4).squareRoot()
    // Exact at the ends, where the difference is rounded.
    lower = part == 0 ? 0 : max(center - half, 0)
    upper = part == whole ? 1 : min(center + half, 1)
  }

  /// The 97.5% quantile of the standard normal distribution.
  private static let quantile = 1.959963984540054
}
