import Identity
import Testing

@Suite struct WilsonIntervalTests {
  /// Method 3 of table I in Newcombe, “Two-sided confidence intervals for the single proportion”,
  /// Statistics in Medicine 17 (1998).
  @Test(arguments: [
    (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611),
    (1, 29, 0.0061, 0.1718),
  ])
  func `the interval has the published ends`(
    part: Int, whole: Int, lower: Double, upper: Double
  ) throws {
    let interval = try #require(WilsonInterval(part, of: whole))
    #expect(abs(interval.lower - lower) <= 0.00005 && abs(interval.upper - upper) <= 0.00005)
    let rest = try #require(WilsonInterval(whole - part, of: whole))
    #expect(abs(rest.lower + interval.upper - 1) < 1e-12)
    #expect(abs(rest.upper + interval.lower - 1) < 1e-12)
  }

  @Test func `none and all are exact ends, and impossible counts have no interval`() throws {
    for whole in [1, 30, 992, 1_000_003] {
      #expect(WilsonInterval(0, of: whole)?.lower == 0)
      #expect(WilsonInterval(whole, of: whole)?.upper == 1)
    }
    for (part, whole) in [(0, 0), (-1, 10), (11, 10)] {
      #expect(WilsonInterval(part, of: whole) == nil)
    }
  }
}
