import Identity
import Localization
import OTP
import Templating
import Testing

@testable import Console

@Suite struct WordsTests {
  @Test(arguments: [
    (30, "30\u{A0}s"), (60, "1\u{A0}min"), (90, "1\u{A0}min 30\u{A0}s"),
    (630, "10\u{A0}min 30\u{A0}s"), (0, "0\u{A0}s"),
  ])
  func `durations are shown in minutes and seconds`(seconds: Int, text: String) {
    #expect(Formatted.duration(seconds: seconds).english == text)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z", "Thu", "Jan 1, 1970", "00:00", "00"),
    (1_793_697_131, "2026-11-03T09:12:11Z", "Tue", "Nov 3, 2026", "09:12", "11"),
    (951_782_400, "2000-02-29T00:00:00Z", "Tue", "Feb 29, 2000", "00:00", "00"),
    (253_402_300_799, "9999-12-31T23:59:59Z", "Fri", "Dec 31, 9999", "23:59", "59"),
  ])
  func `times are formatted for machines and for people`(
    time: Int64, machine: String, weekday: String, date: String, clock: String, second: String
  ) throws {
    let (times, instant) = (Times(.english), Instant(seconds: time))
    let (minute, exact) = ("\(clock)\u{00A0}UTC", "\(clock):\(second)\u{00A0}UTC")
    let start = "<time datetime=\"\(machine)\" title=\"\(weekday), \(date), \(exact)\""
    for (markup, rest) in [
      (times.moment(instant), ">\(date), \(minute)"), (times.second(instant), ">\(date), \(exact)"),
      (times.past(instant), " data-ago>\(date), \(minute)"), (times.day(instant), ">\(date)"),
    ] {
      #expect(String(decoding: markup.bytes, as: UTF8.self) == start + rest + "</time>")
    }
    #expect(Message.value(times.value(instant)).english == "\(date), \(minute)")
  }

  @Test func `the title of a time is in the reader's time zone`() throws {
    let times = Times(.english, zone: "Asia/Kolkata")
    let markup = String(
      decoding: times.past(Instant(seconds: 1_793_730_131)).bytes, as: UTF8.self)
    #expect(markup.hasPrefix("<time datetime=\"2026-11-03T18:22:11Z\" "))
    #expect(markup.contains("title=\"Tue, Nov 3, 2026, 23:52:11\u{00A0}UTC+5:30\""))
  }

  @Test(arguments: [
    ("UTC", "2026-11-29T00:00:00Z", "Nov 28, 2026 (UTC)"),
    ("Asia/Kolkata", "2026-11-28T18:30:00Z", "Nov 28, 2026 (Asia/Kolkata)"),
    // Clocks go forward at midnight, so the day begins at one.
    ("America/Havana", "2026-03-08T05:00:00Z", "Mar 7, 2026 (America/Havana)"),
    ("UTC", "2026-11-28T18:30:00Z", "Nov 28, 2026, 18:30\u{00A0}UTC"),
    ("UTC", "2026-11-29T00:00:01Z", "Nov 29, 2026, 00:00\u{00A0}UTC"),
  ])
  func `the end of a day is shown as that day`(
    zone: String, end: String, text: String
  ) throws {
    let times = Times(.english, zone: zone)
    let instant = try #require(Instant(rfc3339: end))
    #expect(Message.value(times.endValue(instant)).english == text)
    let markup = String(decoding: times.end(instant).bytes, as: UTF8.self)
    #expect(markup.replacing("</time>", with: "").hasSuffix(">\(text)"))
  }

  @Test func `a report marks a value that doesn't exist`() throws {
    let times = Times(.english)
    for cell in [ReportTable.Cell.name(""), .marked(nil, Message("never"))] {
      let markup = String(decoding: cell.markup(times).bytes, as: UTF8.self)
      #expect(markup == "<span class=\"soft\">–</span>")
    }
  }

  @Test func `a name can't change the direction of the text around it`() {
    #expect(Message.value(.name("Ada")).english == "Ada")
    #expect(Message.value(.name("\u{202E}live\u{2069}")).english == "\u{2068}live\u{2069}")
    #expect(Formatted.short(String(repeating: "x", count: 4000)).count == 80)
  }

  @Test(arguments: [
    (0, 0, "–"), (0, 9, "0%"), (1, 1000, "&lt; 1%"), (999, 1000, "99%"), (7, 7, "100%"),
  ])
  func `a percentage is never rounded to 0% or 100%`(part: Int, whole: Int, text: String) {
    #expect(
      String(decoding: Meter.share(part, of: whole).bytes, as: UTF8.self).contains(">\(text)<"))
  }

  @Test(arguments: [
    (0, 9, 0), (9, 1000, 0), (10, 1000, 1), (52, 1752, 3), (849, 1000, 85), (995, 1000, 99),
    (7, 7, 100),
  ])
  func `a percentage is the nearest`(part: Int, whole: Int, rounded: Int) {
    #expect(Meter.rounded(part, of: whole) == rounded)
  }

  @Test func `the strip highlights as many intervals as there are valid codes`() throws {
    for side in 0...10 {
      let window = try #require(Window(adjacentIntervals: side))
      for cells in [WindowCells.drawing(window), WindowCells.labels(window)] {
        let drawing = String(decoding: cells.bytes, as: UTF8.self)
        #expect(drawing.ranges(of: " in\"").count == window.codes)
        #expect(drawing.ranges(of: "class=\"d").count == 21)
      }
      let configuration = MFAConfiguration(
        totp: TOTPConfiguration(state: .enabled, adjacentIntervals: side))
      let small = String(decoding: WindowStrip.small(configuration).bytes, as: UTF8.self)
      #expect(small.contains("d=\"M\(50 - 5 * side) 8h\(10 * side + 4)\""))
    }
    let off = String(decoding: WindowCells.drawing(nil).bytes, as: UTF8.self)
    #expect(!off.contains(" in\""))
  }

  @Test func `the window is explained in words`() throws {
    #expect(
      WindowText.explanation(Window(adjacentIntervals: 5)).english
        == "Valid codes at any moment: 11. Each is valid for 5\u{A0}min 30\u{A0}s: from 2\u{A0}min 30\u{A0}s before its own interval to 2\u{A0}min 30\u{A0}s after it, so a device clock can be up to 2\u{A0}min 30\u{A0}s slow or fast."
    )
    #expect(
      WindowText.explanation(Window(adjacentIntervals: 0)).english.hasPrefix(
        "Valid codes at any moment: 1."))
  }
}

@Suite struct PublicURLTests {
  @Test(arguments: [
    ("https://mfa.example.com", "https://mfa.example.com", true),
    ("https://mfa.example.com/", "https://mfa.example.com", true),
    ("HTTPS://MFA.Example.com:443", "https://mfa.example.com", true),
    ("https://mfa.example.com:8443", "https://mfa.example.com:8443", true),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8080", false),
    ("http://localhost:80", "http://localhost", false),
    ("http://[::1]:8080", "http://[::1]:8080", false),
  ])
  func `a public URL is normalized to an origin`(text: String, origin: String, isSecure: Bool)
    throws
  {
    let url = try #require(PublicURL(text))
    #expect(url.origin == origin)
    #expect(url.isSecure == isSecure)
  }

  @Test(arguments: [
    "", "mfa.example.com", "ftp://mfa.example.com", "https://", "https:///", "https://a/b",
    "https://a?b", "https://user@a", "https://a:0", "https://a:99999", "https://a:8x",
    "https://a b",
    "https://a\r\nb", "https://a:", "http://[]", "http://[zz]", "https://a#b",
  ])
  func `an invalid public URL is rejected`(text: String) {
    #expect(PublicURL(text) == nil)
  }
}
