package import Database

public struct Audit: Sendable {
  let store: Store
  let cache = AuditRowCache()

  init(store: Store) { self.store = store }

  /// Lists rows, newest first.
  public func list(
    _ filter: AuditFilter = AuditFilter(), after: String? = nil, limit: Int = 50
  ) async throws -> Page<AuditRow> {
    try await store.read { connection in
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
    ) { try AuditChange(stored: &$0) }
    return try connection.first(
      """
      SELECT audit_id, at, actor_kind, actor_id, actor_name, project_id, tenant_id, action,
        object_kind, object_id, object_name, from_value, to_value, reason, note, address,
        request_id, ticket, proof
      FROM audit WHERE audit_id = \(id)
      """
    ) { try row(&$0, changes) }
  }

  private static func row(_ row: inout Row, _ changes: [AuditChange]) throws -> AuditRow {
    let (id, at): (Int64, Instant) = (try row.next(), try row.next())
    let actor: String = try row.next()
    let (actorID, actorName): (String, String) = (try row.next(), try row.next())
    let project = ID<Project>(nonEmpty: try row.next())
    let tenant = ID<Tenant>(nonEmpty: try row.next())
    let (action, object): (String, String) = (try row.next(), try row.next())
    return AuditRow(
      id: id, at: at, actor: Actor.Kind(rawValue: actor), actorKind: actor, actorID: actorID,
      actorName: actorName, project: project, tenant: tenant,
      action: AuditAction(stored: action), actionName: action,
      object: AuditResource(rawValue: object), objectKind: object, objectID: try row.next(),
      objectName: try row.next(), changes: changes, legacyFrom: try row.next(),
      legacyTo: try row.next(), reason: try row.next(), note: try row.next(),
      address: try row.next(), requestID: try row.next(), ticket: try row.next(),
      proof: try row.next())
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
    in pool: Pool? = nil
  ) {
    self.action = action
    self.object = object
    self.objectID = objectID
    objectName = name
    project = pool?.project.text ?? ""
    tenant = pool?.tenant?.text ?? ""
  }

  package init(_ action: AuditAction, of account: Account, in pool: Pool) {
    self.init(action, .account, account.id.text, name: account.label, in: pool)
    self.account = account.key
  }

  init(_ action: AuditAction, of administrator: Administrator, in pool: Pool? = nil) {
    self.init(
      action, .administrator, administrator.id.text, name: administrator.displayName, in: pool)
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
      VALUES (\(now), \(author.actor.kind), \(author.actor.id),
        \(author.actor.name), \(project), \(tenant), \(action), \(object),
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
