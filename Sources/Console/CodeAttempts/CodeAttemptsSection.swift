import Identity
import Localization
import Templating

/// A user's recent code attempts, with advice for the support agent.
struct CodeAttemptsSection: ViewModel {
  let lock: Markup?
  let lockWords: Message?
  let drift: Markup?
  let advice: Message?
  let rows: [CodeAttemptRow]
  /// The address of the full list; nil if all code attempts are shown.
  let all: String?

  /// Creates the section; nil for a user without second factors and code attempts.
  init?(
    _ page: Page<CodeAttempt>, of account: Account, in scope: Scope, at now: Instant,
    _ times: Times
  ) {
    let codeAttempts = page.items
    guard !codeAttempts.isEmpty || !account.factors.isEmpty else { return nil }
    lock = AccountChips.lock(account.codeLock(at: now))
    lockWords = CodeAttemptText.lock(account, at: now, times)
    let found = ClockDrift(codeAttempts)
    drift = found.map { Chip.look(CodeAttemptText.clock($0)) }
    advice = found.map(CodeAttemptText.advice)
    rows = codeAttempts.map { CodeAttemptRow($0, of: account, times) }
    all = page.next == nil ? nil : ConsolePaths.codeAttempts(scope, account.id.text)
  }

  static let keys: Keys<Self> = [
    .markup(\.lock),
    .markup(\.drift),
    .flag("hasNotes") { $0.lockWords != nil || $0.advice != nil },
    .text(\.lockWords),
    .text(\.advice),
    .flag("hasRows") { !$0.rows.isEmpty },
    .list(\.rows),
    .text(\.all),
    .number("shown") { $0.rows.count },
  ]
}

/// A code attempt in the list.
struct CodeAttemptRow: ViewModel {
  let codeAttempt: CodeAttempt
  let factor: Message?
  let times: Times

  init(_ codeAttempt: CodeAttempt, of account: Account, _ times: Times) {
    self.codeAttempt = codeAttempt
    self.times = times
    let found = account.factors.first { $0.id == codeAttempt.enrollment }
    factor =
      if let found {
        Message.verbatim(found.label)
      } else if codeAttempt.enrollment != nil {
        Message("code-attempts.removed-factor")
      } else {
        nil
      }
  }

  private var program: Message? {
    let agent = codeAttempt.origin.userAgent
    guard !agent.isEmpty else { return nil }
    return BrowserWords.known(agent) ?? .verbatim(Words.short(agent, 60))
  }

  static let keys: Keys<Self> = [
    .text("what") { CodeAttemptText.sentence($0.codeAttempt) },
    .text(\.factor),
    .text("address") {
      $0.codeAttempt.origin.address.isEmpty ? nil : $0.codeAttempt.origin.address
    },
    .text("program") { $0.program },
    .markup("strip") { row in
      WindowStrip.marked(
        row.codeAttempt.window, at: row.codeAttempt.distance,
        isAccepted: row.codeAttempt.result.isSuccess)
    },
    .markup("at") { $0.times.past($0.codeAttempt.at) },
  ]
}
