import HTTP
import Identity
import Localization
import Templating

struct AuditView: ViewModel {
  let frame: FrameView
  let place: AuditLogScope
  let query: AuditQuery
  let filter: AuditFilterView
  let integrity: AuditIntegrityView
  private(set) var rows = Markup(trusted: "")
  private(set) var pager: PagerView?
  private(set) var empty: EmptyView?

  init(
    frame: Frame, place: AuditLogScope, query: AuditQuery, actors: [AuditActor], menus: AuditMenus,
    integrity: AuditIntegrityView
  ) {
    self.frame = FrameView(frame)
    self.place = place
    self.query = query
    self.integrity = integrity
    filter = AuditFilterView(self.frame, place, query, actors, menus)
  }

  mutating func show(_ found: AuditSearch, rows: Markup, after: String?) {
    self.rows = rows
    if !found.rows.isEmpty || found.next != nil {
      pager = PagerView(
        shown: shown(found), path: place.page, query: query.list, after: after,
        next: found.next)
    }
    guard found.rows.isEmpty else { return }
    if let day = found.searchedBackTo {
      empty = EmptyView(
        heading: Message("audit.no-matches-yet"),
        sentence: Message("audit.older-on-next-page", ["time": frame.times.value(day)]))
    } else if !query.isEmpty {
      empty = EmptyView(
        heading: Message("audit.no-matching-entries"),
        sentence: Message("audit.try-different-filters"),
        link: EmptyLink(
          text: Message("audit.show-all-entries"), href: query.size.form.query(of: place.page)))
    } else {
      empty = EmptyView(
        heading: Message("audit.no-entries-yet"),
        sentence: Message("audit.every-change-is-recorded"))
    }
  }

  private func shown(_ found: AuditSearch) -> Message {
    let count = Message.Value.number(found.rows.count)
    guard let time = found.searchedBackTo else {
      return Message("audit.entries", ["count": count])
    }
    return Message(
      "audit.entries-searched-back", ["count": count, "time": frame.times.value(time)])
  }

  mutating func showNothing() {
    empty = EmptyView(
      heading: Message("audit.search-not-run"), sentence: Message("audit.correct-dates"))
  }

  private var file: String? {
    rows.isEmpty ? nil : query.form().query(of: place.file)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("isOfAll") { $0.place.scope == nil },
    .flag("showsPool") { $0.place.scope == nil && $0.query.pool.isEmpty },
    .text("scopeName") { $0.place.scope?.name },
    .object(\.filter),
    .object(\.integrity),
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("rows") { $0.rows },
    .text("file") { $0.file },
    .text("most") { _ in Message.value(.number(Audit.longestExport)) },
    .optional("pager") { $0.pager },
    .optional("empty") { $0.empty },
  ]
}
