import HTTP
import Identity
import Localization
import Templating

struct AuditView: ViewModel {
  let frame: FrameView
  let place: AuditLogPool
  let query: AuditQuery
  let filter: AuditFilterView
  let integrity: AuditIntegrityView
  private(set) var rows = Markup(trusted: "")
  private(set) var pager: PagerView?
  private(set) var empty: EmptyView?

  init(
    frame: Frame, place: AuditLogPool, query: AuditQuery, actors: [AuditActor], menus: AuditMenus,
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
        heading: Message("No matches yet"),
        sentence: Message(
          "No matching entries back to {time}. To search older entries, go to the next page.",
          ["time": frame.times.value(day)]))
    } else if !query.isEmpty {
      empty = EmptyView(
        heading: Message("No matching entries"),
        sentence: Message("Try different filters."),
        link: EmptyLink(
          text: Message("Show all entries"), href: query.size.form.query(of: place.page)))
    } else {
      empty = EmptyView(
        heading: Message("No entries yet"),
        sentence: Message("Every change is recorded here."))
    }
  }

  private func shown(_ found: AuditSearch) -> Message {
    let count = Message.Value.number(found.rows.count)
    guard let time = found.searchedBackTo else {
      return Message(one: "{count} entry", other: "{count} entries", ["count": count])
    }
    return Message(
      one: "{count} entry, searched back to {time}",
      other: "{count} entries, searched back to {time}",
      ["count": count, "time": frame.times.value(time)])
  }

  mutating func showNothing() {
    empty = EmptyView(
      heading: Message("Invalid filters"),
      sentence: Message("Correct the filters above to see entries."))
  }

  private var file: String? {
    rows.isEmpty ? nil : query.form().query(of: place.file)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("isOfAll") { $0.place.pool == nil },
    .flag("showsPool") { $0.place.pool == nil && $0.query.pool.isEmpty },
    .text("poolName") { $0.place.pool?.name },
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
