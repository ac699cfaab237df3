import Identity

/// The audit log as a CSV file, with the displayed text and the raw values.
struct AuditTable: Sendable {
  private(set) var csv = CSV(columns)

  private static let columns = [
    "number", "time (UTC)", "description", "action", "resource type", "resource ID", "resource",
    "from", "to", "reason", "note", "actor", "actor type", "actor ID", "project", "tenant",
    "source",
    "request ID", "ticket", "identity checks", "fields",
  ]

  private let formatter = AuditFormatter(nil)

  mutating func add(_ row: AuditRow) {
    csv.add([
      String(row.id), row.at.rfc3339, AuditWords.action(row), row.actionName,
      row.objectKind, row.objectID, AuditWords.object(row), formatter.from(row), formatter.to(row),
      row.reason.map { SupportReason(rawValue: $0)?.name ?? $0 } ?? "", row.note ?? "",
      row.actorName, row.actorKind, row.actorID, row.project?.text ?? "", row.tenant?.text ?? "",
      row.address, row.requestID, row.ticket ?? "",
      row.proof?.split(separator: "\n").joined(separator: "; ") ?? "",
      row.changes.map(\.fieldName).joined(separator: "; "),
    ])
  }

  /// Adds a final row that says the file is incomplete.
  mutating func addEnd(after count: Int) {
    let sentence =
      "Only the newest \(count) entries are included. To get older entries, filter by date."
    csv.add([sentence] + Array(repeating: "", count: Self.columns.count - 1))
  }
}
