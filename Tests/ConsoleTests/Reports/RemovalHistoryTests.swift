import Identity
import Localization
import Testing

@testable import Console

@Suite struct RemovalHistoryTests {
  private static let now = Instant(seconds: 1_795_258_800)  // Saturday, Nov 21, 2026, 11:00 UTC

  private func frame(
    _ removals: [(Int64, SupportReason)], _ window: ChartWindow
  ) -> ChartFrame? {
    RemovalHistory(
      removals.map { daysAgo, reason in
        (at: Self.now.advanced(bySeconds: -daysAgo * 86_400), isHostile: reason.isHostile)
      }, window, until: Self.now, Times(.english)
    ).frame
  }

  private func rows(_ frame: ChartFrame?) throws -> [[String]] {
    let table = try #require(frame?.table)
    return table.rows.map { $0.map { Catalog.english.text($0.message) } }
  }

  @Test func `removals are counted by day in a month, and by week in longer periods`() throws {
    let removals: [(Int64, SupportReason)] = [
      (0, .lost), (6, .stolen), (7, .lost), (30, .lost),
    ]
    let days = try rows(frame(removals, .month))
    #expect(days.count == 31)
    #expect(days.first?.suffix(2) == ["0", "1"] && days.last?.suffix(2) == ["0", "1"])
    let weeks = try rows(frame(removals, .quarter))
    #expect(weeks.count == 13)
    #expect(weeks.last?.suffix(2) == ["1", "1"])
    #expect(weeks.dropLast().last?.suffix(2) == ["0", "1"])
  }

  @Test func `the title names the day or the week with the most removals`() throws {
    func title(_ removals: [(Int64, SupportReason)], _ window: ChartWindow) throws -> String {
      Catalog.english.text(try #require(frame(removals, window)).title)
    }
    #expect(
      try title([(1, .lost), (1, .lost), (9, .lost)], .month)
        == "At most 2 removals a day, on Nov 20, 2026")
    #expect(
      try title([(1, .lost), (2, .lost)], .quarter)
        == "At most 2 removals a week, in that from Nov 15, 2026")
    #expect(try title([(1, .lost)], .month) == "Never more than one removal a day")
  }

  @Test func `without removals there's no chart`() {
    #expect(frame([], .month) == nil)
  }
}
