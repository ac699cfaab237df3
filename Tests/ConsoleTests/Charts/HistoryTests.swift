import Localization
import Testing

@testable import Console
@testable import Identity

/// The findings and groupings behind the charts of a pool.
@Suite struct EnrollmentHistoryTests {
  private static let now = Instant(seconds: 1_795_258_800)  // Nov 21, 2026, 11:00 UTC

  private func history(
    _ points: [(daysAgo: Int, users: Int, enrolled: Int)], _ window: ChartWindow = .month
  ) throws -> EnrollmentHistory {
    EnrollmentHistory(
      points.map { point in
        EnrollmentPoint(
          at: Self.now.advanced(bySeconds: -86_400 * Int64(point.daysAgo)), users: point.users,
          enrolled: point.enrolled)
      }, window, now: Self.now, Times(.english))
  }

  private func frame(_ history: EnrollmentHistory) throws -> ChartFrame {
    history.frame([], .english)
  }

  @Test func `a month has a value for each day, and each lasts until the next change`() throws {
    let samples = try history([(30, 100, 20), (10, 200, 100), (0, 200, 120)]).samples
    #expect(samples.count == 31)
    #expect(samples.prefix(21).allSatisfy { ($0.users, $0.enrolled) == (100, 20) })
    #expect(samples[21...29].allSatisfy { ($0.users, $0.enrolled) == (200, 100) })
    #expect(samples[30].enrolled == 120 && samples[30].at == Self.now)
  }

  @Test(arguments: [
    ("Atlantic/Azores", 1_795_303_800), ("America/New_York", 1_793_600_000),
    ("Asia/Kolkata", 1_795_258_800),
  ])
  func `a day isn't there twice, nor missing, when the clocks change`(zone: String, now: Int64)
    throws
  {
    let times = Times(.english, zone: zone)
    let now = Instant(seconds: now)
    let history = EnrollmentHistory(
      [EnrollmentPoint(at: now.advanced(bySeconds: -100 * 86_400), users: 10, enrolled: 5)],
      .quarter, now: now, times)
    let days = history.samples.map { times.calendarDay(of: $0.at) }
    #expect(days == times.days(91, until: now))
  }

  @Test func `a year has a value for each week, and a shorter history for each day`() throws {
    #expect(try history([(365, 100, 20)], .year).samples.count == 53)
    #expect(try history([(12, 100, 20)], .year).samples.count == 13)
  }

  @Test(arguments: [
    (20, 88, "Enrollment rose from 20% to 88%"), (88, 20, "Enrollment fell from 88% to 20%"),
    (20, 20, "Enrollment stayed at 20%"),
  ])
  func `the title says how enrollment changed`(before: Int, after: Int, title: String) throws {
    let frame = try frame(history([(30, 100, before), (3, 100, after)]))
    #expect(frame.title.english == title)
    #expect(
      frame.base.english
        == "Users with a second factor, n = 100, Oct 22, 2026 to Nov 21, 2026, UTC")
    #expect(frame.chart != nil && frame.table?.rows.count == 31)
  }

  @Test func `changes of the policy that aren't on the axis are counted`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      // Recording starts with the first fold.
      while try await world.identity.activity.fold() {}
      for side in [1, 2, 3, 4, 6, 7] {
        world.clock.advance(seconds: 86_400)
        _ = try await world.identity.policies.change(
          pool, by: .program(Author(actor: .commandLine))
        ) {
          $0.configuration.totp?.adjacentIntervals = side
        }
      }
      world.clock.advance(seconds: 86_400)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(world.eu)
      let earlier = page.text.firstMatch(of: #/and (\d+) earlier policy change/#)
      #expect(earlier.map { $0.1 } == "2")
      #expect(page.values(of: "href").contains(try await world.eu + "/policy#versions"))
      world.clock.advance(seconds: 40 * 86_400)
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        $0.configuration.totp?.adjacentIntervals = 5
      }
      world.clock.advance(seconds: 86_400)
      let later = try await Browser.signedIn(world)
      let month = try await later.get(world.eu + "?period=30")
      #expect(month.says("class=\"ev\"") && !month.says("earlier policy change"))
    }
  }

  @Test func `a history of less than a day isn't drawn`() throws {
    for frame in [try frame(history([])), try frame(history([(0, 100, 20)]))] {
      #expect(frame.chart == nil && frame.empty != nil && frame.table == nil)
    }
  }
}

@Suite struct CheckHistoryTests {
  private static let now = Instant(seconds: 1_795_258_800)  // Saturday, Nov 21, 2026, 11:00 UTC

  private func checks(
    _ hours: [(hoursAgo: Int, accepted: Int, outside: Int, incorrect: Int)],
    zone: String = "UTC"
  ) throws -> CheckHistory {
    CheckHistory(
      hours.map { hour in
        HourlyChecks(
          hour: Self.now.advanced(bySeconds: -3_600 * Int64(hour.hoursAgo)),
          accepted: hour.accepted, outside: hour.outside, incorrect: hour.incorrect, locked: 0,
          other: 0)
      }, days: 30, until: Self.now, Times(.english, zone: zone))
  }

  @Test func `hours belong to the days of the reader's time zone`() throws {
    // 22:00 UTC yesterday is 00:00 in Helsinki today.
    let utc = try checks([(13, 5, 0, 0)])
    #expect(utc.byDay[28].accepted == 5 && utc.byDay[29].accepted == 0)
    let helsinki = try checks([(13, 5, 0, 0)], zone: "Europe/Helsinki")
    #expect(helsinki.byDay[28].accepted == 0 && helsinki.byDay[29].accepted == 5)
    #expect(helsinki.days.last?.description == "2026-11-21")
  }

  @Test(arguments: [
    ("UTC", "UTC"), ("Europe/Helsinki", "Europe/Helsinki"),
    ("Asia/Kolkata", "Asia/Kolkata. Counted by UTC hour, so days start at 00:30."),
    ("Asia/Kathmandu", "Asia/Kathmandu. Counted by UTC hour, so days start at 00:45."),
    ("America/St_Johns", "America/St_Johns. Counted by UTC hour, so days start at 00:30."),
  ])
  func `where hours don't begin with those of UTC, charts say when days start`(
    zone: String, words: String
  ) throws {
    let history = try checks([(1, 9, 2, 1)], zone: zone)
    #expect(history.frame("days").base.english.hasSuffix(", \(words)"))
    #expect(history.rejectionsFrame.base.english.hasSuffix(", \(words)"))
  }

  @Test func `the hour that contains midnight belongs to the day in which it begins`() throws {
    // 18:00 UTC yesterday is 23:30 in Kolkata.
    let history = try checks([(17, 5, 0, 0), (16, 3, 0, 0)], zone: "Asia/Kolkata")
    #expect(history.byDay[28].accepted == 5 && history.byDay[29].accepted == 3)
  }

  @Test func `rejected codes are counted by weekday and hour`() throws {
    let history = try checks([(1, 9, 2, 1), (24 + 1, 0, 0, 4)])
    #expect(history.rejections[5][10] == 3)
    #expect(history.rejections[4][10] == 4)
    #expect(history.total.rejected == 7 && history.total.all == 16)
  }

  @Test(arguments: [
    (4, 1, "1 in 5 codes was rejected"), (5, 0, "No codes were rejected"),
    (1, 3, "75% of codes were rejected"),
  ])
  func `the title says how many codes are rejected`(
    accepted: Int, rejected: Int, title: String
  ) throws {
    let frame = try checks([(1, accepted, 0, rejected)]).frame("days")
    #expect(frame.title.english == title)
    #expect(frame.chart != nil && frame.table?.rows.count == 30)
  }

  @Test func `days without attempts aren't drawn`() throws {
    let frame = try checks([]).frame("days")
    #expect(frame.chart == nil && frame.empty?.english == "No code attempts in the last 30 days.")
  }

  @Test func `a heat map needs 20 rejected codes, and names the hours with the most`() throws {
    let few = try checks([(1, 0, 0, 19)]).rejectionsFrame
    #expect(few.chart == nil)
    // 10:00 on Thursday and Friday.
    let many = try checks([(25, 0, 12, 0), (49, 0, 12, 0)]).rejectionsFrame
    #expect(many.title.english == "Rejections peak on weekdays, 10:00 to 12:00")
    // With more in one hour of Sunday.
    let weekend = try checks([(25, 0, 12, 0), (49, 0, 12, 0), (154, 0, 13, 0)]).rejectionsFrame
    #expect(weekend.title.english == "Rejections peak from 10:00 to 12:00")
    let once = try checks([(25, 0, 24, 0)]).rejectionsFrame
    #expect(once.title.english == "Rejections peak from 10:00 to 12:00")
    #expect(many.table?.rows.count == 24)
    let spread = try checks((0..<24).map { ($0, 0, 2, 0) }).rejectionsFrame
    #expect(spread.title.english == "Rejections are spread over the day")
  }

  @Test func `an axis names months, weekdays, and hours in the reader's language`() throws {
    let day = try #require(Day("2026-11-04"))
    #expect(Message.value(Times.short(day)).english == "Nov 4")
    #expect(Message.value(Times.month(day)).english == "Nov 2026")
    #expect(Message.value(.weekday(1)).english == "Mon")
    #expect(Message.value(.weekday(7)).english == "Sun")
    #expect(Message.value(.hour(9)).english == "09:00")
  }
}

@Suite struct EnrollmentTrendTests {
  @Test func `a trend leaves out times without users`() {
    let trend = EnrollmentTrend([nil, nil, 0.29, 0.5])
    #expect(trend.percents == [29, 50] && trend.isRising == true)
    #expect(EnrollmentTrend([0.5, 0.4]).isRising == false)
    #expect(EnrollmentTrend([nil, 0.5]).isRising == nil)
  }
}
