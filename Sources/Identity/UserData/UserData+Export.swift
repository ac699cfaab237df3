import Database
import JSON

extension UserDataTable {
  func read(
    _ subject: UserDataSubject, _ connection: borrowing Connection
  ) throws -> [JSON] {
    var rows: [JSON] = []
    for source in sources(subject) {
      rows += try connection.all("SELECT \(selection) \(source)") { row in
        .object(JSON.Object(try columns.map { ($0.name, try $0.value(&row)) }))
      }
    }
    return rows
  }
}

extension UserData {
  /// Exports everything that's stored about a user, without secrets, and records it in the audit
  /// log.
  ///
  /// - Returns: The file, as JSON in the format of docs/reference/user-data.md.
  /// - Throws: ``ActionDenial/accountNotFound`` if nothing is stored.
  public func export(
    _ pool: Pool, _ uid: ID<Account>, by author: Author
  ) async throws -> [UInt8] {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let (file, entry) = try file(pool, uid, at: now, connection)
      try entry.record(by: author, at: now, connection)
      return file
    }
  }

  public func export(
    _ pool: Pool, _ uid: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<[UInt8]> {
    try await authorization.act(.exportUserData, request, on: uid, in: pool) {
      _, _, now, connection in
      let (file, entry) = try file(pool, uid, at: now, connection)
      return CompletedAction(entry: entry, value: file)
    }
  }

  private func file(
    _ pool: Pool, _ uid: ID<Account>, at now: Instant, _ connection: borrowing Connection
  ) throws -> (file: [UInt8], entry: AuditEntry) {
    guard let subject = try subject(pool, uid.text, connection) else {
      throw ActionDenial.accountNotFound
    }
    var members: [(String, JSON)] = [
      ("format", .string(Self.format)), ("createdAt", .string(now.rfc3339Milliseconds)),
      ("projectId", .string(pool.project.text)),
      ("tenantId", pool.tenant.map { .string($0.text) } ?? .null), ("uid", .string(uid.text)),
    ]
    for table in UserDataTable.all {
      let rows = try table.read(subject, connection)
      // There's at most one account.
      members.append(
        (table.section, table.name == "account" ? rows.first ?? .null : .array(rows)))
    }
    let log = try entries(of: uid.text, in: pool, connection)
    members.append(("auditLog", .array(log.map(Self.json))))
    let entry = AuditEntry(
      .accountExportData, .account, uid.text, name: subject.account?.label ?? uid.text, in: pool)
    return (JSON.object(JSON.Object(members)).indented(), entry)
  }

  package static let entryMembers = [
    "entry", "at", "action", "resourceType", "resource", "actorKind", "actor", "address",
    "requestId", "reason", "note", "ticket", "identityChecks", "from", "to", "fields",
  ]

  private static func json(_ row: AuditRow) -> JSON {
    func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
    func value(_ value: AuditValue?) -> JSON { text(value?.stored.text) }
    let fields = row.changes.map { change in
      JSON.object(
        JSON.Object([
          ("field", .string(change.fieldName)), ("old", value(change.old)),
          ("new", value(change.new)),
        ]))
    }
    // Where an administrator or a server is, isn't the user's data.
    let isUsers = !row.isOfStaff
    let values: [JSON] = [
      .number(JSON.Number(row.id)), .string(row.at.rfc3339Milliseconds), .string(row.actionName),
      .string(row.objectKind), .string(row.objectName), .string(row.actorKind),
      .string(row.actorName), isUsers ? .string(row.address) : .null,
      isUsers ? .string(row.requestID) : .null, text(row.reason), text(row.note), text(row.ticket),
      text(row.proof), text(row.legacyFrom), text(row.legacyTo), .array(fields),
    ]
    return .object(JSON.Object(Array(zip(entryMembers, values))))
  }
}

extension AuditRow {
  /// Whether the actor is an administrator, an operator, or an application's backend, whose names
  /// and addresses aren't a user's.
  var isOfStaff: Bool {
    switch actor {
    case .administrator, .serviceToken, .commandLine, .emulatorOwner: true
    case .user, .server, .visitor, nil: false
    }
  }
}
