package import Database

/// The audit log.
public struct Audit: Sendable {
  let store: Store
  private let cache = AuditRowCache()

  init(store: Store) { self.store = store }

  /// Lists rows, newest first.
  ///
  /// - Throws: ``AuditError``.
  public func list(
    _ filter: AuditFilter = AuditFilter(), after: String? = nil, limit: Int = 50
  ) async throws(AuditError) -> Page<AuditRow> {
    try await store.read(AuditError.self) { connection in
      try list(filter, after: after, limit: limit, connection)
    }
  }

  func list(
    _ filter: AuditFilter, after: String?, limit: Int, _ connection: borrowing Connection
  ) throws -> Page<AuditRow> {
    let found = try search(filter, after: after, limit: limit, connection)
    return Page(items: found.rows, next: found.next)
  }

  /// Reads the rows with these numbers.
  func rows(_ ids: [Int64], _ connection: borrowing Connection) throws -> [AuditRow] {
    try cache.rows(ids, connection)
  }

  static let columns: SQL = """
    audit_id, at, actor_kind, actor_id, actor_name, project_id, tenant_id, action, object_kind,
    object_id, object_name, from_value, to_value, reason, note, address, request_id, ticket, proof
    """

  static func row(_ row: borrowing Row) throws -> AuditRow {
    let project: String = try row.value(5)
    let tenant: String = try row.value(6)
    return AuditRow(
      id: try row.value(0), at: Instant(microseconds: try row.value(1)),
      actorKind: try row.value(2), actorID: try row.value(3), actorName: try row.value(4),
      project: project.isEmpty ? nil : ID(project), tenant: tenant.isEmpty ? nil : ID(tenant),
      action: try row.value(7), objectKind: try row.value(8), objectID: try row.value(9),
      objectName: try row.value(10), from: try row.value(11), to: try row.value(12),
      reason: try row.value(13), note: try row.value(14), address: try row.value(15),
      requestID: try row.value(16), ticket: try row.value(17), proof: try row.value(18))
  }
}

/// A row to be written to the audit log.
package struct AuditEntry {
  var project: String = ""
  var tenant: String = ""
  let action: String
  let objectKind: String
  let objectID: String
  let objectName: String
  var from: String?
  package var to: String?
  package var reason: String?
  package var note: String?
  var ticket: String?
  var proof: String?

  package init(
    _ action: String, _ objectKind: String, _ objectID: String, name: String, in scope: Scope? = nil
  ) {
    self.action = action
    self.objectKind = objectKind
    self.objectID = objectID
    objectName = name
    project = scope?.project.text ?? ""
    tenant = scope?.tenant?.text ?? ""
  }

  /// Writes the row in the transaction of the change it describes.
  package func record(by author: Author, at now: Instant, _ connection: borrowing Connection) throws
  {
    try connection.run(
      """
      INSERT INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id, action,
        object_kind, object_id, object_name, from_value, to_value, reason, note, address,
        request_id, filed, ticket, proof)
      VALUES (\(now.microseconds), \(author.actor.kind), \(author.actor.id), \(author.actor.name),
        \(project), \(tenant), \(action), \(objectKind), \(objectID), \(objectName), \(from),
        \(to), \(reason), \(note), \(author.address), \(author.requestID), 0,
        \(ticket), \(proof))
      """)
  }
}
