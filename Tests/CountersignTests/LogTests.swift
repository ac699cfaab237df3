import Database
import HTTP
import Identity
import Localization
import Synchronization
import Testing

@testable import countersign

struct LogTests {
  /// A log with a clock that the test advances, and the lines written so far.
  private final class Written: Sendable {
    private let state = Mutex<(lines: [String], passed: Duration)>(([], .zero))

    var lines: [String] { state.withLock(\.lines) }
    func advance(_ time: Duration) { state.withLock { $0.passed += time } }

    func log(_ format: LogFormat) -> Log {
      Log(
        format, clock: WallClock { Instant(seconds: 1_790_000_000) },
        steady: { self.state.withLock(\.passed) },
        write: { line, _ in
          self.state.withLock { $0.lines.append(line) }
          return !line.contains("unwritable")
        })
    }
  }

  @Test func `an event is a line of JSON with its time, level, name, request, and fields`() {
    let written = Written()
    written.log(.json).add(.request(RequestID(1), .failed(cause: "disk \"full\"\nforged")))
    #expect(
      written.lines == [
        #"{"time":"2026-09-21T14:13:20.000Z","level":"error","event":"request.failed","#
          + #""id":"000000000001","message":"request 000000000001: disk \"full\"\\u000Aforged","#
          + #""cause":"disk \"full\"\nforged"}"#
      ])
  }

  @Test func `a denied request says who lacks what`() {
    let written = Written()
    let actor = Actor.administrator(ID("a-1"), name: "Ann\nforged")
    written.log(.text).add(.request(RequestID(1), .denied(actor, lacking: .manageKeys)))
    written.log(.json).add(.request(RequestID(1), .denied(actor, lacking: .manageKeys)))
    let text = "request 000000000001: administrator a-1 lacks the permission manageKeys"
    #expect(written.lines.first == text)
    let fields = #""actor":"administrator","actor_id":"a-1","permission":"manageKeys"}"#
    #expect(written.lines.last?.hasSuffix(fields) == true)
  }

  @Test func `a sign-in that failed because of the provider has its diagnosis`() {
    let written = Written()
    written.log(.json).add(.request(RequestID(1), .providerFailed(diagnosis: "HTTP 401")))
    let event = #""level":"warning","event":"provider.failed","id":"000000000001","#
    #expect(written.lines.first?.contains(event) == true)
    #expect(written.lines.first?.hasSuffix(#""diagnosis":"HTTP 401"}"#) == true)
  }

  @Test func `C12: an event is one line of text, whatever it quotes`() {
    let written = Written()
    written.log(.text).add(.request(RequestID(1), .failed(cause: "a\r\nb\u{2028}c")))
    #expect(written.lines == [#"request 000000000001: a\u000D\u000Ab\u2028c"#])
  }

  @Test func `lines that can't be written are counted`() {
    let log = Written().log(.text)
    log.add(.request(RequestID(1), .failed(cause: "unwritable")))
    log.add(.request(RequestID(2), .failed(cause: "written")))
    #expect(log.lostLines == 1)
  }

  @Test func `an event that repeats is limited, and the rest is counted`() {
    let written = Written()
    let log = written.log(.json)
    for _ in 0..<100 { log.add(.deliveryFailed(.mail, reason: "no")) }
    #expect(written.lines.count == Log.mostLines)
    log.reportSuppressed()
    #expect(written.lines.count == Log.mostLines)
    written.advance(Log.period)
    log.add(.deliveryFailed(.mail, reason: "no"))
    let rest = written.lines.dropFirst(Log.mostLines)
    #expect(rest.count == 2)
    #expect(
      rest.first?.contains(#""suppressed":"mail.failed","count":\#(100 - Log.mostLines)"#) == true)
    #expect(log.count(.error) == 101)
  }

  @Test func `suppressed lines are reported when the event doesn't happen again`() {
    let written = Written()
    let log = written.log(.text)
    for _ in 0..<(Log.mostLines + 1) { log.add(.deliveryFailed(.mail, reason: "no")) }
    written.advance(Log.period)
    log.reportSuppressed()
    log.reportSuppressed()
    #expect(written.lines.count == Log.mostLines + 1)
    #expect(written.lines.last == "1 more line about mail.failed was left out.")
    for _ in 0..<(Log.mostLines + 2) { log.add(.deliveryFailed(.mail, reason: "no")) }
    log.reportSuppressed(untilNow: true)
    #expect(written.lines.last == "2 more lines about mail.failed were left out.")
  }

  @Test func `each statement and wait that takes long is logged once in a period`() {
    let written = Written()
    let log = written.log(.json)
    for _ in 0..<20 {
      for text in ["SELECT 1", "SELECT 2"] {
        log.add(.databaseSlow(.statement(text, .milliseconds(1_260))))
      }
      for kind in SlowUse.Kind.allCases { log.add(.databaseSlow(.wait(kind, .seconds(3)))) }
    }
    #expect(written.lines.count == 4)
    #expect(
      written.lines.first?.hasSuffix(
        #""level":"warning","event":"database.slow","#
          + #""message":"The database took 1.3 seconds or longer for: SELECT 1","#
          + #""ms":1260,"statement":"SELECT 1","blockers":[]}"#) == true)
    #expect(written.lines.last?.contains(#""event":"database.waited""#) == true)
    #expect(written.lines.last?.hasSuffix(#""ms":3000,"kind":"write"}"#) == true)
    written.advance(Log.period)
    log.add(.databaseSlow(.statement("SELECT 1", .seconds(2))))
    #expect(written.lines.count == 6)
    #expect(written.lines[4].contains(#""suppressed":"database.slow","count":19"#))
  }

  @Test func `no step before the start and no reason of its failure is left out`() {
    let written = Written()
    let log = written.log(.json)
    for _ in 0..<100 {
      log.add(.server(.preparing(MigrationProgress.message("m0001", 1, 100))))
      log.add(.server(.failed(.verbatim("no"))))
    }
    #expect(written.lines.count == 200)
    #expect(
      written.lines[0].hasSuffix(
        #""level":"info","event":"server.preparing","message":"Migration 1 of 100: m0001"}"#))
    #expect(
      written.lines[1].hasSuffix(#""level":"error","event":"server.failed","message":"no"}"#))
  }

  @Test func `one event doesn't suppress another`() {
    let written = Written()
    let log = written.log(.text)
    for _ in 0..<100 { log.add(.taskFailed(.purge, reason: "no")) }
    log.add(.taskFailed(.indexUsers, reason: "no"))
    log.add(.deliveryResumed(.mail))
    #expect(written.lines.count == Log.mostLines + 2)
  }
}
