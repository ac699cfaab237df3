import Testing

@testable import Identity

/// Counts of users of large pools who still have time to enroll.
@Suite struct GraceCountsTests {
  private static let start = Instant(seconds: 1_800_000_000)

  private func value(
    _ counts: GraceCounts, _ number: Int, users: Int = 1_000_000, version: Int = 1,
    after seconds: Int64 = 0
  ) -> Int {
    counts.value(
      of: 1, version: version, users: users, at: Self.start.advanced(bySeconds: seconds)
    ) { number }
  }

  @Test func `a large pool is counted once a minute`() {
    let counts = GraceCounts()
    #expect(value(counts, 5) == 5)
    #expect(value(counts, 6, after: 59) == 5)
    #expect(value(counts, 7, after: 60) == 7)
  }

  @Test func `a changed policy, or a clock that was set back, is counted again`() {
    let counts = GraceCounts()
    #expect(value(counts, 5) == 5)
    #expect(value(counts, 6, version: 2) == 6)
    #expect(value(counts, 7, version: 2, after: -1) == 7)
  }

  @Test func `a small pool is counted each time`() {
    let counts = GraceCounts()
    #expect(value(counts, 5, users: 10_000) == 5)
    #expect(value(counts, 6, users: 10_000) == 6)
  }
}
