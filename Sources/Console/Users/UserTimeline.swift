import HTTP
import Identity
import Localization
import Templating

/// The newest codes, changes, and emails of a user in one list, newest first.
///
/// Each kind is only for those who may read it.
struct UserTimeline: ViewModel {
  enum Kind: String, CaseIterable {
    case codes, changes, emails

    fileprivate var name: Message {
      switch self {
      case .codes: Message("Codes")
      case .changes: Message("Changes")
      case .emails: Message("Emails")
      }
    }
  }

  fileprivate enum Event {
    case code(CodeAttempt)
    case change(AuditRow)
    case email(OutboxEntry)

    var at: Instant {
      switch self {
      case .code(let attempt): attempt.at
      case .change(let row): row.at
      case .email(let entry): entry.createdAt
      }
    }
  }

  let rows: [TimelineRow]
  /// All kinds and each one; only one link is current.
  let views: [Link]
  let links: [Link]

  /// Creates the timeline; `showsChanges` is whether the reader may see what was changed.
  init(
    _ records: UserRecords, showsChanges: Bool, in context: PoolContext, _ catalog: Catalog
  ) {
    let (account, pool) = (records.account, context.pool)
    let chosen = context.signedIn.query.text("show").flatMap(Kind.init(rawValue:))
    let kinds = Kind.allCases.filter { $0 == .changes ? showsChanges : pool.kind == .hosted }
    var events: [Event] = []
    for kind in kinds where chosen == nil || chosen == kind {
      switch kind {
      case .codes: events += records.codeAttempts.items.map(Event.code)
      case .changes: events += records.history.map(Event.change)
      case .emails: events += records.messages.map(Event.email)
      }
    }
    events.sort { $0.at > $1.at }
    rows = Self.rows(events.prefix(UserRecords.mostEvents), records, in: context, catalog)
    let page = ConsolePaths.user(pool, account.id.text)
    func view(_ kind: Kind?, _ name: Message) -> Link {
      let query = kind.map { ["show": $0.rawValue] as Form } ?? [:]
      return Link(text: name, href: query.query(of: page) + "#timeline", isCurrent: kind == chosen)
    }
    views = [view(nil, Message("All"))] + kinds.map { view($0, $0.name) }
    links =
      records.codeAttempts.items.isEmpty
      ? []
      : [
        Link(
          text: Message("View all code attempts"),
          href: ConsolePaths.codeAttempts(pool, account.id.text))
      ]
  }

  private static func rows(
    _ events: some Sequence<Event>, _ records: UserRecords, in context: PoolContext,
    _ catalog: Catalog
  ) -> [TimelineRow] {
    let times = context.signedIn.times
    var (rows, run): ([TimelineRow], [CodeAttempt]) = ([], [])
    var known: CodeAttempt?
    func endRun() {
      for each in CodeAttemptRun.all(run) {
        rows.append(TimelineRow(each, after: known, of: records.account, times))
        known = each.newest
      }
      run = []
    }
    for event in events {
      switch event {
      case .code(let attempt): run.append(attempt)
      case .change(let row):
        endRun()
        rows.append(.change(HistoryRow(row, times, catalog), times.past(row.at)))
      case .email(let entry):
        endRun()
        rows.append(
          .email(
            TimelineEmail(
              message: entry, link: records.links[entry.id], account: records.account,
              pool: context.pool, times: times)))
      }
    }
    endRun()
    return rows
  }

  static let keys: Keys<Self> = [
    .list(\.rows),
    .list(\.views),
    .list(\.links),
  ]
}

enum TimelineRow: ViewModel {
  case code(CodeAttemptRow, showsOrigin: Bool)
  case change(HistoryRow, Markup)
  case email(TimelineEmail)

  /// Creates the row of a run of codes, with the device unless it's that of the codes before.
  fileprivate init(
    _ run: CodeAttemptRun, after known: CodeAttempt?, of account: Account, _ times: Times
  ) {
    let (origin, factor) = (run.newest.origin, run.newest.enrollment)
    let isKnown =
      known.map {
        $0.enrollment == factor && $0.origin == origin
      } ?? false
    self = .code(CodeAttemptRow(run, of: account, times), showsOrigin: !isKnown)
  }

  private var code: CodeAttemptRow? {
    guard case .code(let row, _) = self else { return nil }
    return row
  }

  private var showsOrigin: Bool {
    guard case .code(_, let showsOrigin) = self else { return false }
    return showsOrigin
  }

  private var change: (row: HistoryRow, at: Markup)? {
    guard case .change(let row, let at) = self else { return nil }
    return (row, at)
  }

  private var email: TimelineEmail? {
    guard case .email(let email) = self else { return nil }
    return email
  }

  private var codeText: Message? {
    guard let row = code else { return nil }
    let newest = row.run.newest
    guard row.run.count == 1, newest.way == .app else { return CodeAttemptText.sentence(row.run) }
    return switch newest.result {
    case .accepted where newest.distance == 0: Message("Code accepted")
    case .used: Message("Code already used")
    default: CodeAttemptText.sentence(row.run)
    }
  }

  /// The strip of one code, or of codes that were rejected for the same reason.
  private var codeStrip: Markup? {
    guard let row = code, !row.run.isAccepted || row.run.attempts.count == 1 else { return nil }
    return row.strip
  }

  private var mark: Markup {
    switch self {
    case .code(let row, _): row.run.isAccepted ? Self.accepted : Self.rejected
    case .change: Self.changed
    case .email: Self.sent
    }
  }

  private static let accepted = drawn(#"<circle class="hit" cx="6" cy="6" r="5.5"/>"#)
  private static let rejected = drawn(
    "<rect class=\"miss\" x=\".5\" y=\".5\" width=\"11\" height=\"11\"/>")
  private static let changed = drawn(#"<path class="f-lock" d="M6 .5 11.5 6 6 11.5 .5 6Z"/>"#)
  private static let sent = drawn(#"<circle class="ring" cx="6" cy="6" r="4.5"/>"#)

  private static func drawn(_ shape: Markup) -> Markup {
    #"<svg class="dot" viewBox="0 0 12 12" aria-hidden="true">\#(shape)</svg>"#
  }

  static let keys: Keys<Self> = [
    .markup("mark") { $0.mark },
    .optional("code") { $0.code },
    .text("codeText") { $0.codeText },
    .markup("codeStrip") { $0.codeStrip },
    .flag("showsOrigin") { $0.showsOrigin },
    .optional("change") { $0.change?.row },
    .markup("changed") { $0.change?.at },
    .optional("email") { $0.email },
  ]
}

struct TimelineEmail: ViewModel {
  let message: OutboxEntry
  let link: SentLink?
  let account: Account
  let pool: Pool
  let times: Times

  private func text(of link: SentLink) -> Message {
    switch link {
    case .valid: Message("Link not used yet")
    case .used(let at): Message("Link used {at}", ["at": times.value(at)])
    case .expired: Message("Link expired unused")
    case .replaced: Message("Replaced by another link")
    case .invalid: Message("Link no longer valid")
    }
  }

  /// The state; nil for a message that was sent, as all should be.
  private var state: Markup? {
    if case .sent = message.state { nil } else { MessagesText.chip(message) }
  }

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.message($0.pool, String($0.message.id)) },
    .text("purpose") { MessagesText.purpose($0.message) },
    .text("recipient") { $0.message.recipient == $0.account.email ? nil : $0.message.recipient },
    .markup("state") { $0.state },
    .text("link") { email in email.link.map { email.text(of: $0) } },
    .markup("written") { $0.times.past($0.message.createdAt) },
  ]
}
