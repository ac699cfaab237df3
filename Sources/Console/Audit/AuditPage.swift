import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/audit` and `/audit`: the audit log of a pool or of the instance, with filters and CSV export.
struct AuditPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<AuditView>
  let row: Template<AuditRowView>
  let menus: AuditMenus
  let rows = MarkupCache<AuditRowView.Source>()

  func show(_ context: PoolContext) async throws -> Response {
    let frame = try await frames.frame(Message("Audit log"), in: context)
    return try await page(context.signedIn, AuditLogPool(pool: context.pool), frame)
  }

  func showAll(_ signedIn: SignedIn) async throws -> Response {
    let frame = await frames.frame(Message("Audit log"), for: signedIn)
    return try await page(signedIn, AuditLogPool(pool: nil), frame)
  }

  func download(_ context: PoolContext) async throws -> Response {
    try await file(context.signedIn, AuditLogPool(pool: context.pool))
  }

  func downloadAll(_ signedIn: SignedIn) async throws -> Response {
    try await file(signedIn, AuditLogPool(pool: nil))
  }

  private func page(
    _ signedIn: SignedIn, _ place: AuditLogPool, _ frame: Frame
  ) async throws -> Response {
    let query = AuditQuery(signedIn.query)
    let after = signedIn.query.text("after")
    let (filter, faults) = try await filter(query, place, signedIn)
    let actors = try await identity.audit.actors(place.pool)
    var frame = frame
    frame.errors = faults
    let status = try await identity.auditChain.status()
    var model = AuditView(
      frame: frame, place: place, query: query, actors: actors, menus: menus,
      integrity: AuditIntegrityView(
        status: status, times: signedIn.times,
        mayChange: place.pool == nil
          && signedIn.administrator.may(.manageAdministrators, in: nil)))
    guard faults.isEmpty else {
      model.showNothing()
      return .html(view.render(model), status: .unprocessableContent)
    }
    guard let filter else {
      model.show(.nothing, rows: Markup(trusted: ""), after: nil)
      return .html(view.render(model))
    }
    let found = try await identity.audit.search(filter, after: after, limit: query.size.rows)
    let path = place.page
    if let first = signedIn.firstPage(
      of: path, insteadOf: Page(items: found.rows, next: found.next))
    {
      return first
    }
    try await identity.audit.recordReading(place.pool, by: signedIn.author)
    let reader = signedIn.administrator.id.text
    func isOwnView(_ row: AuditRow) -> Bool {
      row.action == .auditRead && row.actor == .administrator && row.actorID == reader
    }
    // Those that a filter asks for are rows like others.
    let own = query.isEmpty ? found.rows.filter(isOwnView) : []
    let others = own.isEmpty ? found.rows : found.rows.filter { !isOwnView($0) }
    func rendered(_ shown: [AuditRow]) -> Markup {
      rows.joined(
        shown.map { row in
          AuditRowView.Source(
            row: row, name: row.objectName.isEmpty ? found.administrators[row.objectID] : nil,
            pool: row.poolKey.flatMap { found.pools[$0] }, path: path,
            showsPool: filter.pool == nil, times: signedIn.times)
        }
      ) { row.render(AuditRowView($0, frames.catalog)) }
    }
    model.show(
      found, rows: rendered(others), ownViews: own.count, rendered(own), after: after)
    return .html(view.render(model))
  }

  private func filter(
    _ query: AuditQuery, _ place: AuditLogPool, _ signedIn: SignedIn
  ) async throws -> (filter: AuditFilter?, faults: [FieldError]) {
    guard place.pool == nil, let ids = query.poolIDs else {
      return query.filter(in: place.pool, signedIn.times)
    }
    do {
      let pool = try await identity.pools.existing(project: ids.project, tenant: ids.tenant)
      return query.filter(in: pool, signedIn.times)
    } catch is PoolLookupError {
      let (_, faults) = query.filter(in: nil, signedIn.times)
      return (
        nil,
        [
          FieldError(
            field: "pool",
            text: Message(
              "Enter the ID of a project, or of a project and a tenant, such as acme/eu-shop."))
        ] + faults
      )
    }
  }

  private func file(
    _ signedIn: SignedIn, _ place: AuditLogPool
  ) async throws -> Response {
    let query = AuditQuery(signedIn.query)
    let (filter, faults) = try await filter(query, place, signedIn)
    guard let filter, faults.isEmpty else { throw Refusal.unreadableForm }
    let words = query.form().entries.map { "\($0.name): \(Formatted.short($0.value.text))" }
    do {
      let export = try await identity.audit.export(
        filter, words: words, into: AuditTable(frames.catalog), by: signedIn.author,
        in: signedIn.session
      ) { table, row in table.add(row) }
      var table = export.table
      if export.isCut { table.addEnd(after: export.count) }
      return table.csv.response(named: place.pool.map { "audit-\($0.objectID)" } ?? "audit")
    } catch ActionDenial.notAllowed {
      throw Refusal.notAllowed(.readAudit)
    }
  }
}

/// The pool that the log belongs to; the instance log, which contains all entries, if nil.
struct AuditLogPool: Sendable {
  let pool: Pool?

  var page: String { pool.map { ConsolePaths.audit($0) } ?? ConsolePaths.instanceAudit() }
  var file: String { pool.map { ConsolePaths.auditFile($0) } ?? ConsolePaths.instanceAuditFile() }
}

struct AuditView: ViewModel {
  let frame: FrameView
  let place: AuditLogPool
  let query: AuditQuery
  let filter: AuditFilterView
  let integrity: AuditIntegrityView
  private(set) var rows = Markup(trusted: "")
  /// The entries that the reader viewed this log, which are folded away.
  private(set) var ownViews = (count: 0, rows: Markup(trusted: ""))
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

  mutating func show(
    _ found: AuditSearch, rows: Markup, ownViews: Int = 0,
    _ viewRows: Markup = Markup(trusted: ""), after: String?
  ) {
    self.rows = rows
    self.ownViews = (ownViews, viewRows)
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
        link: Link(
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
    rows.isEmpty && ownViews.count == 0 ? nil : query.form().query(of: place.file)
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
    .number("ownViews") { $0.ownViews.count },
    .markup("ownRows") { $0.ownViews.rows },
    .text("file") { $0.file },
    .text("most") { _ in Message.value(.number(Audit.longestExport)) },
    .optional("pager") { $0.pager },
    .optional("empty") { $0.empty },
  ]
}

struct AuditIntegrityView: ViewModel {
  let status: AuditChain.Status
  let times: Times
  let mayChange: Bool

  private var verified: Message? {
    guard status.fault == nil else { return nil }
    guard let position = status.verified, let at = status.verifiedAt, let checked = status.checkedAt
    else { return Message("Not verified yet.") }
    return Message(
      "Verified through {time} (entry {position}), last checked {checked}.",
      [
        "time": times.value(at), "position": .number(Int(position)),
        "checked": times.value(checked),
      ])
  }

  private var fault: Message? {
    status.fault.map {
      Message(
        """
        Verification failed at entry {position}: stored entries were changed or deleted outside \
        of Countersign. Run countersign audit verify for details.
        """, ["position": .number(Int($0))])
    }
  }

  /// How far entries are sealed that were written before the chain began.
  private var progress: Message? {
    guard status.unsealed > AuditChain.headInterval else { return nil }
    return Message(
      "Sealing earlier entries: {sealed} of {total}.",
      [
        "sealed": .number(Int(status.sealed)),
        "total": .number(Int(status.sealed + status.unsealed)),
      ])
  }

  private var retention: Message {
    status.retention.map {
      Message(
        one: "Entries are kept for {count} day.",
        other: "Entries are kept for {count} days.", ["count": .number($0)])
    }
      ?? Message("Entries are kept forever.")
  }

  private var removed: Message? {
    status.removed.map {
      Message(
        "Entries up to {last} were removed by retention, most recently on {time}.",
        ["last": .number(Int($0.last)), "time": times.value($0.at)])
    }
  }

  static let keys: Keys<Self> = [
    .text("verified") { $0.verified },
    .text("fault") { $0.fault },
    .text("progress") { $0.progress },
    .text("retention") { $0.retention },
    .text("removed") { $0.removed },
    .text("change") { $0.mayChange ? ChangeAuditRetention.path() : nil },
  ]
}

enum AuditRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let audit = AuditPage(
      parts: parts, view: try parts.template("audit/audit"),
      row: try parts.template("audit/row"),
      menus: AuditMenus(try parts.template("audit/menu", for: AuditMenu.self), frames.catalog))
    table.inside(ConsolePaths.audit, .get(.readAudit), audit.show)
    table.inside(ConsolePaths.auditFile, .get(.readAudit), audit.download)
    table.signedIn(ConsolePaths.instanceAudit, .get(.readAudit), audit.showAll)
    table.signedIn(ConsolePaths.instanceAuditFile, .get(.readAudit), audit.downloadAll)

    table.add(ChangeAuditRetention(chain: identity.auditChain), parts.actions)
  }
}

extension ConsolePaths {
  static let audit = PoolPath0("audit")
  static let auditFile = PoolPath0("audit.csv")
  static let instanceAudit = Path("audit")
  static let instanceAuditFile = Path("audit.csv")
}
