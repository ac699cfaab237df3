import Localization
import OTP
import Templating
import Testing

@testable import Console
@testable import Identity

/// The descriptions of code attempts, which support reads to a caller.
struct CodeAttemptWordsTests {
  private struct Case {
    var result: CodeAttempt.Result
    var distance: Int?
    var window = 5
    var way = CodeAttempt.Way.app
    var isConfirmed = false
    var times = 1
    let words: String
  }

  /// Each sentence, as the page shows it.
  private static let cases = [
    Case(result: .accepted, distance: 0, words: "Accepted"),
    Case(result: .accepted, distance: -1, words: "Accepted: 1 interval late"),
    Case(result: .accepted, distance: 1, words: "Accepted: 1 interval early"),
    Case(
      result: .accepted, distance: -2,
      words: "Accepted: 2 intervals late, clock about 60\u{A0}s slow"),
    Case(
      result: .accepted, distance: -3,
      words: "Accepted: 3 intervals late, clock about 90\u{A0}s slow"),
    Case(
      result: .accepted, distance: 10, window: 10,
      words: "Accepted: 10 intervals early, clock about 5\u{A0}min fast"),
    Case(result: .used, distance: -1, words: "Already used"),
    Case(result: .older, distance: -2, words: "Older than the last accepted code"),
    Case(result: .late, distance: -8, words: "Expired: 8 intervals late (limit 5)"),
    Case(result: .late, distance: -2, window: 1, words: "Expired: 2 intervals late (limit 1)"),
    Case(
      result: .late, distance: -1, window: 0, words: "Expired: 1 interval late (limit 0)"),
    Case(result: .early, distance: 6, words: "Not yet valid: 6 intervals early (limit 5)"),
    Case(
      result: .late, distance: -7, isConfirmed: true,
      words:
        "Expired: 7 intervals late (limit 5), clock about 3\u{A0}min 30\u{A0}s slow"),
    Case(
      result: .early, distance: 2, window: 0, isConfirmed: true,
      words: "Not yet valid: 2 intervals early (limit 0), clock about 60\u{A0}s fast"
    ),
    Case(result: .wrong, words: "Incorrect code"),
    Case(result: .unreadable, words: "Invalid format: codes have six digits"),
    Case(result: .blocked, words: "Not checked: too many incorrect codes"),
    Case(
      result: .blocked, times: 1_200,
      words: "Not checked: too many incorrect codes, 1,200 times"),
    Case(result: .closed, words: "Not checked: codes are locked"),
    Case(result: .suspended, words: "Correct code, but the factor is suspended"),
    Case(result: .temporary, words: "Accepted (temporary code)"),
    Case(result: .recovery, words: "Accepted (recovery code)"),
    Case(result: .accepted, way: .phone, words: "Accepted (SMS)"),
    Case(result: .wrong, way: .phone, words: "Incorrect code (SMS)"),
    Case(
      result: .expired, way: .phone,
      words: "SMS code expired, already used, or tried too many times"),
    Case(
      result: .late, distance: -9, way: .enrollment,
      words: "Expired: 9 intervals late (limit 5), during enrollment"),
    Case(result: .accepted, distance: 0, way: .enrollment, words: "Accepted, during enrollment"),
    Case(result: .wrong, way: .phoneEnrollment, words: "Incorrect code (SMS), during enrollment"),
    Case(result: .accepted, way: .phoneEnrollment, words: "Accepted (SMS), during enrollment"),
    Case(result: .wrong, way: .resynchronization, words: "Incorrect code, for resynchronization"),
  ]

  @Test func `every code attempt has a sentence`() {
    for each in Self.cases {
      let codeAttempt = CodeAttempt(
        at: Instant(seconds: 0), way: each.way, result: each.result, enrollment: nil,
        window: each.way.isSent ? nil : Window(adjacentIntervals: each.window),
        distance: each.distance, step: each.distance.map { 1_000 + Int64($0) },
        isConfirmed: each.isConfirmed, times: each.times, origin: RequestOrigin())
      #expect(CodeAttemptText.sentence(codeAttempt).english == each.words)
    }
    #expect(Set(Self.cases.map(\.result)) == Set(CodeAttempt.Result.allCases))
    #expect(Set(Self.cases.map(\.way)) == Set(CodeAttempt.Way.allCases))
  }

  @Test func `accepted codes in a row are named by their kind`() {
    let cases: [(CodeAttempt.Result, CodeAttempt.Way, String)] = [
      (.accepted, .app, "2 accepted codes"), (.accepted, .phone, "2 accepted SMS codes"),
      (.temporary, .app, "2 accepted temporary codes"),
      (.recovery, .app, "2 accepted recovery codes"),
    ]
    for (result, way, words) in cases {
      let attempts = [2, 1].map { seconds in
        CodeAttempt(
          at: Instant(seconds: seconds), way: way, result: result, enrollment: nil, window: nil,
          distance: nil, step: nil, isConfirmed: false, times: 1, origin: RequestOrigin())
      }
      #expect(CodeAttemptRun.all(attempts).map { CodeAttemptText.sentence($0).english } == [words])
    }
  }

  @Test func `a clock that is off comes with advice for the caller`() {
    #expect(
      CodeAttemptText.finding(ClockDrift(steps: -3)).english
        == "The phone’s clock is about 90\u{A0}s slow")
    #expect(
      CodeAttemptText.clockAdvice.english
        == "Turn on automatic date and time, then enter the next code."
    )
    #expect(CodeAttemptText.clock(ClockDrift(steps: 8)).english == "clock about 4\u{A0}min fast")
  }

  @Test(arguments: [
    (3, "3 codes, Nov 18, 2026 (UTC)"), (30, "3 codes, Nov 16, 2026 – Nov 18, 2026 (UTC)"),
  ])
  func `the period of codes on one day is that day`(hours: Int, words: String) throws {
    let last = Instant(seconds: 1_795_010_400)
    let attempts = (0..<3).map { number in
      CodeAttempt(
        at: last.advanced(bySeconds: Int64(-number * hours) * 3_600), way: .app, result: .accepted,
        enrollment: nil, window: .standard, distance: 0, step: 1, isConfirmed: false, times: 1,
        origin: RequestOrigin())
    }
    let now = last.advanced(bySeconds: 10 * 86_400)
    let chart = try #require(DriftTimeline.chart(attempts, nil, at: now, Times(.english)))
    #expect(chart.base.english.hasPrefix(words))
  }

  @Test func `the strip marks the interval of a code, if there is one`() throws {
    let window = try #require(Window(adjacentIntervals: 1))
    let rejected = try #require(WindowStrip.marked(window, at: -8, isAccepted: false))
    let text = String(decoding: rejected.bytes, as: UTF8.self)
    #expect(text.contains("<rect class=\"miss\" width=\"9\" height=\"9\" y=\"3.5\" x=\"7.5\"/>"))
    #expect(text.contains("<path class=\"lit\" d=\"M45 8h14\"/>"))
    let accepted = try #require(WindowStrip.marked(window, at: 1, isAccepted: true))
    #expect(
      String(decoding: accepted.bytes, as: UTF8.self)
        .contains("<circle class=\"hit\" cy=\"8\" r=\"5\" cx=\"57\"/>"))
    #expect(WindowStrip.marked(window, at: nil, isAccepted: false) == nil)
    #expect(WindowStrip.marked(nil, at: 0, isAccepted: true) == nil)
  }
}
