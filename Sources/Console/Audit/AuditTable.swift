import Identity

/// The audit log as a file, with what the page shows and the raw words besides.
struct AuditTable: Sendable {
  private(set) var csv = CSV(columns)

  private static let columns = [
    "number", "time (UTC)", "what", "action", "object kind", "object id", "object", "from", "to",
    "reason", "note", "who", "kind of who", "id of who", "project", "tenant", "address", "request",
    "ticket", "identity proof",
  ]

  mutating func add(_ row: AuditRow) {
    csv.add([
      String(row.id), row.at.rfc3339, AuditWords.action(row), row.action, row.objectKind,
      row.objectID, row.objectName, row.from ?? "", row.to ?? "",
      row.reason.map { SupportReason(rawValue: $0)?.name ?? $0 } ?? "", row.note ?? "",
      row.actorName, row.actorKind, row.actorID, row.project?.text ?? "", row.tenant?.text ?? "",
      row.address, row.requestID, row.ticket ?? "",
      row.proof?.split(separator: "\n").joined(separator: "; ") ?? "",
    ])
  }

  /// Says that the file is not all, where a reader of the file cannot miss it.
  mutating func addEnd(after count: Int) {
    let sentence =
      "Only the newest \(count) entries are here. Choose days on the page to get the older ones."
    csv.add([sentence] + Array(repeating: "", count: Self.columns.count - 1))
  }
}
