package import Database

public struct Audit: Sendable {
  let store: Store
  let cache = AuditRowCache()

  init(store: Store) { self.store = store }

  /// Lists rows, newest first.
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

  func rows(_ ids: [Int64], _ connection: borrowing Connection) throws -> [AuditRow] {
    try cache.rows(ids, connection)
  }

  static func find(_ id: Int64, _ connection: borrowing Connection) throws -> AuditRow? {
    let changes = try connection.all(
      "SELECT \(AuditChange.columns) FROM audit_change WHERE audit_id = \(id) ORDER BY position"
    ) { try AuditChange(stored: $0) }
    return try connection.first(
      """
      SELECT audit_id, at, actor_kind, actor_id, actor_name, project_id, tenant_id, action,
        object_kind, object_id, object_name, from_value, to_value, reason, note, address,
        request_id, ticket, proof
      FROM audit WHERE audit_id = \(id)
      """
    ) { try row($0, changes) }
  }

  private static func row(_ row: borrowing Row, _ changes: [AuditChange]) throws -> AuditRow {
    let actor: String = try row.value(2)
    let project: String = try row.value(5)
    let tenant: String = try row.value(6)
    let action: String = try row.value(7)
    let object: String = try row.value(8)
    return AuditRow(
      id: try row.value(0), at: Instant(microseconds: try row.value(1)),
      actor: Actor.Kind(rawValue: actor), actorKind: actor, actorID: try row.value(3),
      actorName: try row.value(4), project: project.isEmpty ? nil : ID(project),
      tenant: tenant.isEmpty ? nil : ID(tenant), action: AuditAction(stored: action),
      actionName: action, object: AuditResource(rawValue: object), objectKind: object,
      objectID: try row.value(9), objectName: try row.value(10), changes: changes,
      legacyFrom: try row.value(11), legacyTo: try row.value(12), reason: try row.value(13),
      note: try row.value(14), address: try row.value(15), requestID: try row.value(16),
      ticket: try row.value(17), proof: try row.value(18))
  }
}

/// A row to be written to the audit log.
package struct AuditEntry {
  var project: String = ""
  var tenant: String = ""
  let action: AuditAction
  let object: AuditResource
  let objectID: String
  let objectName: String
  private(set) var account: Int64?
  /// The fields, each at most once.
  private(set) var changes: [AuditChange] = []
  package var reason: String?
  package var note: String?
  var ticket: String?
  var proof: String?

  package init(
    _ action: AuditAction, _ object: AuditResource, _ objectID: String, name: String,
    in scope: Scope? = nil
  ) {
    self.action = action
    self.object = object
    self.objectID = objectID
    objectName = name
    project = scope?.project.text ?? ""
    tenant = scope?.tenant?.text ?? ""
  }

  package init(_ action: AuditAction, of account: Account, in scope: Scope) {
    self.init(action, .account, account.id.text, name: account.label, in: scope)
    self.account = account.key
  }

  init(_ action: AuditAction, of administrator: Administrator, in scope: Scope? = nil) {
    self.init(
      action, .administrator, administrator.id.text, name: administrator.displayName, in: scope)
  }

  /// Adds a field, in place of an earlier one of the same name.
  mutating func add(_ change: AuditChange) {
    changes.removeAll { $0.field == change.field }
    changes.append(change)
  }

  mutating func add(_ field: AuditFieldName, from old: AuditValue, to new: AuditValue) {
    add(AuditChange(field, from: old, to: new))
  }

  /// Adds a field of what is new, or a fact about the action.
  package mutating func add(_ field: AuditFieldName, _ new: AuditValue) {
    add(AuditChange(field, to: new))
  }

  mutating func add(_ field: AuditFieldName, lost old: AuditValue) {
    add(AuditChange(field, from: old))
  }

  /// Adds the number of ended sessions unless it's 0.
  mutating func addEnded(_ sessions: Int) {
    if sessions > 0 { add(.sessionsEnded, .number(sessions)) }
  }

  /// Adds the fields that differ, or those with a value if there is nothing to compare them with.
  mutating func compare(_ old: [AuditField]?, _ new: [AuditField]) {
    for change in AuditChange.between(old, new) { add(change) }
  }

  /// Writes the row and its fields in the transaction of the change they describe.
  ///
  /// - Throws: ``SessionError/tooManyChanges(until:)`` for a row of a user beyond the account's quota,
  ///   and database errors.
  package func record(by author: Author, at now: Instant, _ connection: borrowing Connection) throws
  {
    try record(by: author, limitedBy: .quota, at: now, connection)
  }

  /// Writes a row whose number something else than the account's quota may limit.
  func record(
    by author: Author, limitedBy limit: AuditRowLimit, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    switch author.actor {
    case .user, .visitor:
      if limit == .quota, let account {
        try OwnChange.row.count(of: account, at: now, connection)
      }
    case .administrator, .serviceToken, .commandLine, .emulatorOwner, .server: break
    }
    try connection.run(
      """
      INSERT INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id, action,
        object_kind, object_id, object_name, reason, note, address, request_id, filed, ticket,
        proof)
      VALUES (\(now.microseconds), \(author.actor.kind.rawValue), \(author.actor.id),
        \(author.actor.name), \(project), \(tenant), \(action.rawValue), \(object.rawValue),
        \(objectID), \(objectName), \(reason), \(note), \(author.address), \(author.requestID), 0,
        \(ticket), \(proof))
      """)
    guard !changes.isEmpty else { return }
    let rows: [SQL] = changes.enumerated().map { position, change in
      let (old, new) = (change.old?.stored, change.new?.stored)
      return """
        (\(SQL.insertedKey), \(position), \(change.fieldName), \(old?.kind), \(old?.text), \
        \(new?.kind), \(new?.text))
        """
    }
    try connection.run(
      """
      INSERT INTO audit_change (audit_id, position, field, old_kind, old_value, new_kind, new_value)
      VALUES \(rows.joined(separator: ", "))
      """)
  }
}
