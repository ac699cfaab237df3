import Identity
import Localization

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
