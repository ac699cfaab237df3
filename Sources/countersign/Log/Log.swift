import HTTP
import Identity
import JSON
import Localization
import Metrics
import Synchronization

enum LogFormat: String, Sendable, CaseIterable {
  case text
  case json
}

/// The server's log of events, other than requests, which are in the access log.
///
/// An event that repeats is logged at most ``mostLines`` times in ``period``; the number of lines
/// that were left out follows. Lines about the start go to standard output, the rest to standard
/// error.
final class Log: Sendable {
  /// The maximum number of lines of an event in a period, of most events.
  static let mostLines = 30
  static let period = Duration.seconds(60)

  private struct Quota {
    let name: String
    let start: Duration
    var lines = 0
    var suppressed = 0
  }

  private let format: LogFormat
  private let clock: WallClock
  private let steady: @Sendable () -> Duration
  private let write: @Sendable (_ line: String, _ isGreeting: Bool) -> Bool
  private let quotas = Mutex<[String: Quota]>([:])
  private let counters = Counters()
  private let lost = Atomic<Int>(0)

  init(
    _ format: LogFormat, clock: WallClock = .system,
    steady: @escaping @Sendable () -> Duration = WallClock.sinceBoot,
    write: @escaping @Sendable (_ line: String, _ isGreeting: Bool) -> Bool = {
      $1 ? Terminal.say(document: $0) : Terminal.complain(document: $0)
    }
  ) {
    self.format = format
    self.clock = clock
    self.steady = steady
    self.write = write
  }

  func add(_ event: LogEvent) {
    let record = event.record
    if let index = LogLevel.allCases.firstIndex(of: record.level) { counters.add(index) }
    let key = record.subject.map { "\(record.name) \($0)" } ?? record.name
    let now = steady()
    let (isAllowed, left) = quotas.withLock { quotas in
      var quota = quotas[key] ?? Quota(name: record.name, start: now)
      var left = 0
      if now - quota.start >= Self.period {
        left = quota.suppressed
        quota = Quota(name: record.name, start: now)
      }
      let isAllowed = quota.lines < record.mostLines
      if isAllowed { quota.lines += 1 } else { quota.suppressed += 1 }
      quotas[key] = quota
      return (isAllowed, left)
    }
    reportSuppressed(left, of: record.name)
    if isAllowed { write(record, isGreeting: event.isGreeting) }
  }

  /// Logs the numbers of lines that were left out in periods that have ended, or in all periods.
  func reportSuppressed(untilNow: Bool = false) {
    let now = steady()
    let ended = quotas.withLock { quotas in
      let ended = quotas.filter { untilNow || now - $0.value.start >= Self.period }
      for key in ended.keys { quotas[key] = nil }
      return ended.values
    }
    for quota in ended { reportSuppressed(quota.suppressed, of: quota.name) }
  }

  /// The number of lines since the start that couldn't be written, as on a full disk.
  var lostLines: Int { lost.load(ordering: .relaxed) }

  /// Returns the number of events since the start, whether or not they were written.
  func count(_ level: LogLevel) -> Int {
    LogLevel.allCases.firstIndex(of: level).map(counters.value) ?? 0
  }

  private func reportSuppressed(_ count: Int, of name: String) {
    guard count > 0 else { return }
    write(LogEvent.suppressed(event: name, count: count).record, isGreeting: false)
  }

  private func write(_ record: LogRecord, isGreeting: Bool) {
    let text = OperatorText.string(record.message)
    switch format {
    case .text:
      // A line break in an error must not look like another event.
      put(text.split(whereSeparator: \.isNewline).joined(separator: " "), isGreeting)
    case .json:
      var members: [(String, JSON)] = [
        ("time", .string(clock.now().rfc3339Milliseconds)),
        ("level", .string(record.level.rawValue)),
        ("event", .string(record.name)),
      ]
      if let request = record.request { members.append(("id", .string(request.text))) }
      members.append(("message", .string(text)))
      let line = JSON.object(JSON.Object(members + record.fields)).serialized()
      put(String(decoding: line, as: UTF8.self), isGreeting)
    }
  }

  private func put(_ line: String, _ isGreeting: Bool) {
    if !write(line, isGreeting) { lost.add(1, ordering: .relaxed) }
  }
}

extension LogEvent {
  /// Whether the event tells the person who starts the server how to go on.
  fileprivate var isGreeting: Bool {
    switch self {
    case .server(.started), .server(.dataFolder), .server(.emulator), .server(.setupCode),
      .server(.metrics):
      true
    default: false
    }
  }
}
