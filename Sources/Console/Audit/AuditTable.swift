import Identity
import Localization

struct AuditTable: Sendable {
  private(set) var csv: CSV
  private let catalog: Catalog
  private let formatter: AuditFormatter

  private static let columns = [
    Message("audit.column-number"), Message("audit.column-time"),
    Message("audit.column-description"), Message("audit.column-action"),
    Message("audit.column-resource-type"), Message("audit.column-resource-id"),
    Message("audit.column-resource"), Message("audit.column-from"), Message("audit.column-to"),
    Message("audit.column-reason"), Message("audit.column-note"), Message("audit.column-actor"),
    Message("audit.column-actor-type"), Message("audit.column-actor-id"),
    Message("audit.column-project"), Message("audit.column-tenant"), Message("audit.column-source"),
    Message("audit.column-request-id"), Message("audit.column-ticket"),
    Message("audit.column-identity-checks"), Message("audit.column-fields"),
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
    let sentence = Message("audit.file-is-cut", ["count": .number(count)])
    csv.add([catalog.text(sentence)] + Array(repeating: "", count: Self.columns.count - 1))
  }
}
