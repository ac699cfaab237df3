import HTTP
import Identity
import Templating

struct AuditView: ViewModel {
  let frame: FrameView
  let place: AuditPlace
  let query: AuditQuery
  let filter: AuditFilterView
  private(set) var rows = Markup(trusted: "")
  private(set) var pager: PagerView?
  private(set) var empty: EmptyView?

  init(frame: Frame, place: AuditPlace, query: AuditQuery, actors: [AuditActor]) {
    self.frame = FrameView(frame)
    self.place = place
    self.query = query
    filter = AuditFilterView(self.frame, place, query, actors)
  }

  /// Shows the result of a search.
  mutating func show(_ found: AuditSearch, rows: Markup, after: String?) {
    self.rows = rows
    let count = Words.count(found.rows.count, "entry", "entries")
    let reached = found.searchedBackTo.map { ", searched back to \(frame.times.words($0))" } ?? ""
    if !found.rows.isEmpty || found.next != nil {
      pager = PagerView(
        shown: count + reached, path: place.page, query: query.form(), after: after,
        next: found.next)
    }
    guard found.rows.isEmpty else { return }
    if let day = found.searchedBackTo {
      empty = EmptyView(
        heading: "No matches yet",
        sentence:
          "No matching entries back to \(frame.times.words(day)). Older entries are on the next page."
      )
    } else if !query.isEmpty || after != nil {
      empty = EmptyView(
        heading: "No matching entries",
        sentence: "Entries are never deleted. Try different filters.",
        link: EmptyLink(text: "Show all entries", href: place.page))
    } else {
      empty = EmptyView(
        heading: "No entries yet",
        sentence: "Every change is recorded here. Entries can’t be edited.")
    }
  }

  /// Shows that the search didn't run because a filter is invalid.
  mutating func showNothing() {
    empty = EmptyView(
      heading: "Search not run", sentence: "Correct the dates above.")
  }

  private var file: String? {
    rows.isEmpty ? nil : query.form().query(of: place.file)
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .flag("isOfAll") { $0.place.scope == nil },
    .text("kindInSentence") { $0.place.scope?.kindInSentence },
    .text("scopeName") { $0.place.scope?.name },
    .object("filter") { $0.filter },
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("rows") { $0.rows },
    .text("file") { $0.file },
    .text("most") { _ in Words.number(Audit.longestExport) },
    .optional("pager") { $0.pager },
    .optional("empty") { $0.empty },
  ]
}
