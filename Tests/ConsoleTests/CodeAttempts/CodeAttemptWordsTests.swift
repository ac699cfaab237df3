import Templating
import Testing

@testable import Console
@testable import Identity

/// What support reads out to a caller.
struct VerdictWordsTests {
  private struct Case {
    var result: CodeAttempt.Result
    var distance: Int?
    var window = 5
    var way = CodeAttempt.Way.app
    var isConfirmed = false
    var times = 1
    let words: String
  }

  /// Each sentence, as it stands on the page.
  private static let cases = [
    Case(result: .accepted, distance: 0, words: "right code"),
    Case(result: .accepted, distance: -1, words: "right code, 1 step late"),
    Case(result: .accepted, distance: 1, words: "right code, 1 step early"),
    Case(
      result: .accepted, distance: -2,
      words: "right code, 2 steps late: the phone’s clock is about 60 s slow"),
    Case(
      result: .accepted, distance: -3,
      words: "right code, 3 steps late: the phone’s clock is about 90 s slow"),
    Case(
      result: .accepted, distance: 10, window: 10,
      words: "right code, 10 steps early: the phone’s clock is about 5 min fast"),
    Case(result: .used, distance: -1, words: "used already"),
    Case(result: .older, distance: -2, words: "older than the last code that counted"),
    Case(result: .late, distance: -8, words: "too old: 8 steps late, 5 are accepted"),
    Case(result: .late, distance: -2, window: 1, words: "too old: 2 steps late, 1 is accepted"),
    Case(
      result: .late, distance: -1, window: 0, words: "too old: 1 step late, none is accepted"),
    Case(result: .early, distance: 6, words: "too new: 6 steps early, 5 are accepted"),
    Case(
      result: .late, distance: -7, isConfirmed: true,
      words:
        "too old: 7 steps late, 5 are accepted: the phone’s clock is about 3 min 30 s slow"),
    Case(
      result: .early, distance: 2, window: 0, isConfirmed: true,
      words: "too new: 2 steps early, none is accepted: the phone’s clock is about 60 s fast"),
    Case(result: .wrong, words: "wrong, nothing near it"),
    Case(result: .unreadable, words: "not a code: codes have six digits"),
    Case(result: .blocked, words: "not looked at: too many wrong codes before"),
    Case(
      result: .blocked, times: 1_200,
      words: "not looked at: too many wrong codes before, 1,200 times"),
    Case(result: .closed, words: "not looked at: locked until somebody unlocks it"),
    Case(result: .suspended, words: "right, but the factor is suspended"),
    Case(result: .temporary, words: "right temporary code"),
    Case(result: .recovery, words: "right recovery code"),
    Case(result: .accepted, way: .phone, words: "right code by SMS"),
    Case(result: .wrong, way: .phone, words: "wrong code by SMS"),
    Case(
      result: .expired, way: .phone, words: "code by SMS too old, used, or tried too often"),
    Case(
      result: .late, distance: -9, way: .enrollment,
      words: "while enrolling: too old: 9 steps late, 5 are accepted"),
    Case(result: .accepted, distance: 0, way: .enrollment, words: "while enrolling: right code"),
    Case(result: .wrong, way: .phoneEnrollment, words: "while enrolling: wrong code by SMS"),
    Case(result: .accepted, way: .phoneEnrollment, words: "while enrolling: right code by SMS"),
  ]

  @Test func `every code attempt has its sentence`() {
    for each in Self.cases {
      let codeAttempt = CodeAttempt(
        at: Instant(seconds: 0), way: each.way, result: each.result, enrollment: nil,
        window: each.way.isSent ? nil : Window(adjacentIntervals: each.window),
        distance: each.distance, step: each.distance.map { 1_000 + Int64($0) },
        isConfirmed: each.isConfirmed, times: each.times, origin: RequestOrigin())
      #expect(CodeAttemptText.sentence(codeAttempt) == each.words)
    }
    #expect(Set(Self.cases.map(\.result)) == Set(CodeAttempt.Result.allCases))
    #expect(Set(Self.cases.map(\.way)) == Set(CodeAttempt.Way.allCases))
  }

  @Test func `what to tell a caller whose clock is off`() {
    #expect(
      CodeAttemptText.advice(ClockDrift(steps: -3))
        == "The last codes agree: the phone’s clock is about 90 s slow. Tell the caller to set date and time on the phone to automatic, and to take the next code."
    )
    #expect(CodeAttemptText.amount(ClockDrift(steps: 8)) == "4 min fast")
  }

  @Test func `the strip marks the step of a code, and nothing for one that is none near`() throws {
    let window = try #require(Window(adjacentIntervals: 1))
    let strip = try #require(WindowStrip.marked(window, at: -8))
    let text = String(decoding: strip.bytes, as: UTF8.self)
    #expect(text.contains("<path class=\"mark\" d=\"M12 0v16\"/>"))
    #expect(text.contains("<path class=\"lit\" d=\"M45 8h14\"/>"))
    #expect(WindowStrip.marked(window, at: nil) == nil)
    #expect(WindowStrip.marked(nil, at: 0) == nil)
  }
}
