import Identity
import Localization
import Templating

struct CodeAttemptsSection: ViewModel {
  let rows: [CodeAttemptRow]
  let all: String

  init?(_ page: Page<CodeAttempt>, of account: Account, in pool: Pool, _ times: Times) {
    guard !page.items.isEmpty || !account.factors.isEmpty else { return nil }
    rows = CodeAttemptRun.all(page.items).map { CodeAttemptRow($0, of: account, times) }
    all = ConsolePaths.codeAttempts(pool, account.id.text)
  }

  static let keys: Keys<Self> = [
    .flag("hasRows") { !$0.rows.isEmpty },
    .list(\.rows),
    .text(\.all),
  ]
}

struct CodeAttemptRow: ViewModel {
  let run: CodeAttemptRun
  let factor: Message?
  let times: Times

  init(_ codeAttempt: CodeAttempt, of account: Account, _ times: Times) {
    self.init(CodeAttemptRun(attempts: [codeAttempt]), of: account, times)
  }

  init(_ run: CodeAttemptRun, of account: Account, _ times: Times) {
    self.run = run
    self.times = times
    let enrollment = run.newest.enrollment
    let found = account.factors.first { $0.id == enrollment }
    factor =
      if let found {
        Message.verbatim(found.label)
      } else if enrollment != nil {
        Message("removed factor")
      } else {
        nil
      }
  }

  /// The time of the code, or the days of the first and the last one.
  private var at: Markup {
    let days = (times.calendarDay(of: run.oldest.at), times.calendarDay(of: run.newest.at))
    guard days.0 != days.1 else { return times.past(run.newest.at) }
    return Markup(
      escaping: Message("{from} to {to}", ["from": Times.short(days.0), "to": Times.short(days.1)]))
  }

  static let keys: Keys<Self> = [
    .text("what") { CodeAttemptText.sentence($0.run) },
    .text(\.factor),
    .text("address") {
      $0.run.newest.origin.address.isEmpty ? nil : $0.run.newest.origin.address
    },
    .text("program") { $0.run.newest.origin.program },
    .markup("strip") { row in
      WindowStrip.marked(
        row.run.newest.window, at: row.run.distance, isAccepted: row.run.isAccepted)
    },
    .markup("at") { $0.at },
  ]
}
