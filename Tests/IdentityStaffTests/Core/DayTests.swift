import Identity
import Testing

struct DayTests {
  @Test(arguments: ["2026-12-01", "1970-01-01", "2028-02-29", "9999-12-31", "2000-02-29"])
  func `a calendar day survives parsing and formatting`(text: String) {
    #expect(Day(text)?.description == text)
  }

  @Test(arguments: [
    "", "2026-12-1", "2026-13-01", "2026-00-10", "2026-02-29", "2026-04-31", "1900-01-01",
    "2026/12/01", "２０２６-12-01", "2026-12-01 ", "+026-12-01", "20261201", "2026-12-00",
    "2026-12-32", "١٢٣٤-01-01",
  ])
  func `an invalid day is rejected`(text: String) {
    #expect(Day(text) == nil)
  }

  @Test func `days are ordered by time`() throws {
    let days = try ["2026-12-01", "2025-12-31", "2026-02-28"].map { try #require(Day($0)) }
    #expect(days.sorted().map(\.description) == ["2025-12-31", "2026-02-28", "2026-12-01"])
    #expect(Day(Instant(seconds: 1_795_161_600)).description == "2026-11-20")
    #expect(Day(Instant(seconds: -62_135_596_800)).description == "0001-01-01")
  }
}
