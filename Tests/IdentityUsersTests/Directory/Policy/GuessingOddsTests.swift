import Crypto
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

struct GuessingOddsTests {
  @Test(arguments: [(0, 0.000005), (1, 0.000015), (5, 0.000055), (10, 0.000105)])
  func `the odds before the first block are those of five guesses`(
    intervals: Int, expected: Double
  ) throws {
    let odds = GuessingOdds(try #require(Window(adjacentIntervals: intervals)))
    #expect(GuessingOdds.guessesUntilBlock == 5)
    #expect(abs(odds.untilBlock - expected) < 0.000_000_01)
  }

  @Test func `the guesses per day are those that the throttle and the limit allow`()
    async throws
  {
    // 5 immediately, then one after each of 30, 60, … 1920 s, then one per hour.
    func guesses(within seconds: Int, atMost cap: Int = 100) -> Int {
      GuessingOdds.guesses(within: seconds, atMost: cap)
    }
    #expect(guesses(within: 0) == 0)
    #expect(guesses(within: 1) == 5)
    #expect(guesses(within: 31) == 6)
    #expect(guesses(within: 86_400) == 34)
    #expect(guesses(within: 86_400, atMost: GuessingOdds(.standard).cap) == 10)
    #expect(abs(GuessingOdds(.standard).untilClosed - 0.00011) < 0.000_000_1)
    #expect(GuessingOdds.firstWait == 30 && GuessingOdds.longestWait == 3_600)
    try await withInstance { instance in
      try await instance.setCodeCap(100)
      let device = try await instance.enrolled(.alice)
      let wrong = try device.wrongCode(at: instance.now)
      var tried = 0
      let start = instance.now.seconds
      while instance.now.seconds < start + 7_200 {
        let pending = try await instance.pending(.alice)
        let result = await outcome { try await instance.finalize(device, pending, code: wrong) }
        tried += 1
        if result == "quotaExceeded" {
          let until = try await instance.reload(device.account).codesBlockedUntil
          instance.clock.advance((until?.seconds ?? 0) - instance.now.seconds)
        }
      }
      #expect(tried == guesses(within: 7_200))
    }
  }

  @Test func `within a year, only the waits slow the guesses down`() throws {
    // 12 guesses within 3,810 s, then one per hour.
    #expect(GuessingOdds.guessesPerYear == 12 + (365 * 86_400 - 3_810 - 1) / 3_600)
    let odds = GuessingOdds(try #require(Window(adjacentIntervals: 1)))
    var miss = 1.0
    for _ in 0..<GuessingOdds.guessesPerYear { miss *= 1 - 3 / 1_000_000 }
    #expect(abs(odds.withinYear - (1 - miss)) < 1e-12)
    #expect(odds.withinYear > 0.02 && odds.withinYear < 0.03)
  }

  @Test(arguments: [(0, 1.0), (1, 3.0), (2, 5.0), (5, 11.0), (10, 21.0)])
  func `the expected hits grow with the number of accounts`(intervals: Int, hits: Double) throws {
    let odds = GuessingOdds(try #require(Window(adjacentIntervals: intervals)), cap: 100)
    #expect(abs(odds.expectedHits(in: 10_000) - hits) < 0.05)
    #expect(odds.expectedHits(in: 0) == 0)
  }
}
