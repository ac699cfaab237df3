import Identity
import Testing

struct DayOrderTests {
  @Test(
    arguments: [
      ("1970-01-01", 0), ("2000-02-29", 11_016), ("2000-03-01", 11_017), ("2026-11-03", 20_760),
      ("2100-02-28", 47_540), ("2100-03-01", 47_541), ("9999-12-31", 2_932_896),
    ] as [(String, Int64)])
  func `a day starts the right number of days after 1970`(text: String, days: Int64) throws {
    let day = try #require(Day(text))
    #expect(day.start == Instant(seconds: days * 86_400))
    #expect(Day(day.start) == day)
  }

  @Test(arguments: [
    ("2026-11-03", "2026-11-04"), ("2026-12-31", "2027-01-01"), ("2028-02-28", "2028-02-29"),
    ("2100-02-28", "2100-03-01"), ("9999-12-31", "9999-12-31"),
  ])
  func `each day has a next day, except for the last`(text: String, next: String) throws {
    #expect(try #require(Day(text)).next.description == next)
  }
}
