import Testing

@testable import Localization

@Suite struct AxisFormatTests {
  @Test(arguments: [
    ("en", "Nov 4", "Nov 2026", "Mon", "Sun", "09:00"),
    ("de", "4. Nov.", "Nov. 2026", "Mo", "So", "09:00"),
  ])
  func `an axis has the locale's days, months, weekdays, and hours`(
    locale: String, day: String, month: String, monday: String, sunday: String, hour: String
  ) {
    let formats = AxisFormats(locale: locale)
    let date = LocalDate(year: 2026, month: 11, day: 4)
    #expect(formats.dayOfMonth(date) == day)
    #expect(formats.month(date) == month)
    #expect(formats.weekday(1) == monday && formats.weekday(7) == sunday)
    #expect(formats.hour(9) == hour)
  }
}
