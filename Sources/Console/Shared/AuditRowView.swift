import HTTP
import Identity
import Localization
import Templating

final class AuditRowView: ViewModel {
  /// The data that a row is rendered from; a class, because copying this much data is expensive.
  final class Source: Hashable, Sendable {
    let row: AuditRow
    /// The name of the resource, which the entry doesn't have.
    let name: String?
    /// The entry's pool, in the instance log.
    let pool: AuditPool?
    let path: String
    let showsPool: Bool
    let times: Times

    init(
      row: AuditRow, name: String?, pool: AuditPool?, path: String, showsPool: Bool, times: Times
    ) {
      self.row = row
      self.name = name
      self.pool = pool
      self.path = path
      self.showsPool = showsPool
      self.times = times
    }

    static func == (left: Source, right: Source) -> Bool {
      left.row === right.row && left.name == right.name && left.pool == right.pool
        && left.path == right.path && left.showsPool == right.showsPool && left.times == right.times
    }

    func hash(into hasher: inout Hasher) { hasher.combine(row.id) }
  }

  private let source: Source
  private let catalog: Catalog

  init(_ source: Source, _ catalog: Catalog) {
    self.source = source
    self.catalog = catalog
  }

  private var row: AuditRow { source.row }

  private var change: Markup? {
    let formatter = AuditFormatter(source.times, catalog)
    let text = [formatter.change(row), formatter.reason(row)].filter { !$0.isEmpty }
      .joined(separator: " · ")
    guard !text.isEmpty else { return nil }
    return #"<span class="long clamp">\#(text)</span>"#
  }

  /// The address of all entries about the same resource.
  private var history: String? {
    guard !row.objectID.isEmpty else { return nil }
    return (["kind": row.objectKind, "object": row.objectID] as Form).query(of: source.path)
  }

  private var actions: String {
    let value = row.actorID.isEmpty ? row.actorKind : "\(row.actorKind):\(row.actorID)"
    return (["actor": value] as Form).query(of: source.path)
  }

  /// The name of the entry's pool, linked unless the pool was deleted.
  private var place: Markup? {
    guard source.showsPool, let key = row.poolKey else { return nil }
    guard let pool = source.pool else {
      let ids = [key.project.text, key.tenant?.text].compactMap { $0 }.joined(separator: " / ")
      return #"<span class="mono">\#(ids)</span>"#
    }
    let name = HTML.isolated(Formatted.short(pool.tenantName ?? pool.projectName))
    guard pool.isThere else {
      let deleted = Message("deleted")
      return #"<span>\#(name) <span class="sub">\#(deleted)</span></span>"#
    }
    let link: Markup =
      #"<a href="\#(ConsolePaths.overview(key.project, key.tenant))">\#(name)</a>"#
    guard pool.tenantName != nil else { return link }
    return #"\#(link)<span class="sub">\#(HTML.isolated(Formatted.short(pool.projectName)))</span>"#
  }

  static let keys: Keys<AuditRowView> = [
    .text("what") { AuditText.action($0.row) },
    .text("object") { $0.source.name.map(Message.verbatim) ?? AuditText.object($0.row) },
    .text("history") { $0.history },
    .markup("change") { $0.change },
    .text("who") { AuditText.who($0.row) },
    // The links of different users have different names.
    .text("whoLabel") { view in
      AuditText.isOwn(view.row)
        ? Message("End user: {user}", ["user": .message(AuditText.object(view.row))]) : nil
    },
    .text("whoKind") { view in
      AuditText.isOwn(view.row) || view.row.actorName == view.row.actorKind
        ? nil : AuditText.actorKind(view.row)
    },
    .text("actions") { $0.actions },
    .flag("showsPool") { $0.source.showsPool },
    .markup("place") { $0.place },
    .markup("at") { $0.source.times.second($0.row.at) },
    .text("address") { $0.row.address },
    .text("requestID") { $0.row.requestID },
  ]
}

final class HistoryRow: ViewModel {
  let what: Message
  let object: Message?
  let change: String
  let who: Message
  let at: Markup
  let why: String

  /// Creates an entry; in the list of a pool, it names its resource unless that's the pool.
  init(_ row: AuditRow, _ times: Times, _ catalog: Catalog, in pool: Pool? = nil) {
    let formatter = AuditFormatter(times, catalog)
    what = AuditText.action(row)
    object = pool.flatMap { $0.objectID == row.objectID ? nil : AuditText.object(row) }
    change = formatter.change(row)
    who = AuditText.who(row)
    at = times.moment(row.at)
    why = formatter.reason(row)
  }

  /// Creates an entry for the history of a policy, which shows the values in place of the action.
  init(policy row: AuditRow, _ times: Times, _ catalog: Catalog) {
    let formatter = AuditFormatter(times, catalog)
    what = .verbatim(formatter.capitalizedChange(row))
    object = nil
    change = ""
    who = AuditText.who(row)
    at = times.moment(row.at)
    why = formatter.reason(row)
  }

  static let keys: Keys<HistoryRow> = [
    .text("what") { $0.what },
    .text("object") { $0.object },
    .text("change") { $0.change },
    .text("who") { $0.who },
    .markup("at") { $0.at },
    .text("why") { $0.why },
  ]
}

struct AuditTable: Sendable {
  private(set) var csv: CSV
  private let catalog: Catalog
  private let formatter: AuditFormatter

  private static let columns = [
    Message("number"), Message("time (UTC)"),
    Message("description"), Message("action"),
    Message("resource type"), Message("resource ID"),
    Message("resource"), Message("from"), Message("to"),
    Message("reason"), Message("note"), Message("actor"),
    Message("actor type"), Message("actor ID"),
    Message("project"), Message("tenant"), Message("source"),
    Message("request ID"), Message("ticket"),
    Message("identity checks"), Message("fields"),
  ]

  init(_ catalog: Catalog) {
    self.catalog = catalog
    csv = CSV(Self.columns.map { catalog.text($0) })
    formatter = AuditFormatter(nil, catalog)
  }

  mutating func add(_ row: AuditRow) {
    csv.add([
      String(row.id), row.at.rfc3339, catalog.text(AuditText.action(row)), row.actionName,
      row.objectKind, row.objectID, catalog.text(AuditText.object(row)), formatter.from(row),
      formatter.to(row), row.reason.map { catalog.text(AuditText.reason($0)) } ?? "",
      row.note ?? "",
      row.actorName, row.actorKind, row.actorID, row.project?.text ?? "", row.tenant?.text ?? "",
      row.address, row.requestID, row.ticket ?? "",
      row.proof?.split(separator: "\n").joined(separator: "; ") ?? "",
      row.changes.map(\.fieldName).joined(separator: "; "),
    ])
  }

  mutating func addEnd(after count: Int) {
    let sentence = Message(
      one: "Only the newest {count} entry is included. For older entries, filter by date.",
      other: "Only the newest {count} entries are included. For older entries, filter by date.",
      ["count": .number(count)])
    csv.add([catalog.text(sentence)] + Array(repeating: "", count: Self.columns.count - 1))
  }
}
