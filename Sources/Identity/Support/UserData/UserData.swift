import Database
import JSON
import Text

/// Exports and erases everything that's stored about one user.
public struct UserData: Sendable {
  let store: Store
  let audit: Audit

  public static let format = "countersign-user-data/1"
  /// The maximum number of entries of the audit log about a user.
  static let mostEntries = 20_000

  /// The result of an erasure; the audit log is erased afterwards.
  public struct Erasure: Sendable {
    /// The number that replaces the user in the audit log.
    public let number: Int64
    public let sessions: Int
  }

  public struct Progress: Sendable, Equatable {
    /// The number of entries of the audit log with erased parts.
    public let entries: Int
    public let parts: Int
    public let isFinished: Bool
  }

  /// Finds a user by UID, even if the account was deleted; nil if nothing is stored about them.
  ///
  /// An address that another account of the pool has now doesn't identify the user: what names it
  /// without a UID is about that account.
  func subject(
    _ pool: Pool, _ uid: String, _ connection: borrowing Connection
  ) throws -> UserDataSubject? {
    let account = try AccountRecord.find(pool, ID(uid), connection)
    let rows = try entries(of: uid, in: pool, connection)
    var identifiers = account.map { UserIdentifiers($0) } ?? UserIdentifiers(uid: uid)
    for row in rows where row.object == .account && row.objectID.isSameBytes(as: uid) {
      identifiers.add(row)
    }
    if let account {
      let removed = try connection.all(
        "SELECT phone FROM removed_factor WHERE account_key = \(account.key)"
      ) { try $0.next() as String? }
      for phone in removed { identifiers.add(phone: phone) }
    }
    for recipient in try Outbox.recipients(ofDeleted: uid, in: pool, connection) {
      if recipient.contains("@") {
        identifiers.add(email: recipient)
      } else {
        identifiers.add(phone: recipient)
      }
    }
    for email in identifiers.emails {
      let holder = try AccountRecord.find(pool, email: email.text, connection)
      if let holder, holder.key != account?.key { identifiers.remove(email: email) }
    }
    for phone in identifiers.phones {
      let holder = try AccountRecord.find(pool, phone: phone.text, connection)
      if let holder, holder.key != account?.key { identifiers.remove(phone: phone) }
    }
    let subject = UserDataSubject(
      pool: pool, uid: uid, account: account, identifiers: identifiers)
    if account != nil || !rows.isEmpty { return subject }
    for table in UserDataTable.all where try !table.read(subject, connection).isEmpty {
      return subject
    }
    return nil
  }

  /// Returns the entries of the audit log that are about a user or by them, oldest first.
  func entries(
    of uid: String, in pool: Pool, _ connection: borrowing Connection
  ) throws -> [AuditRow] {
    var ofUser = AuditFilter(pool: pool, object: .account, objectID: uid)
    var rows: [Int64: AuditRow] = [:]
    for _ in 0..<2 {
      var after: String?
      repeat {
        let found = try audit.search(ofUser, after: after, limit: 1_000, connection)
        for row in found.rows { rows[row.id] = row }
        after = found.next
      } while after != nil && rows.count < Self.mostEntries
      ofUser = AuditFilter(pool: pool)
      (ofUser.actor, ofUser.actorID) = (.user, uid)
    }
    return rows.values.sorted { $0.id < $1.id }
  }
}

extension UserDataSubject {
  /// The condition for secrets of the user that couldn't be decrypted.
  var unreadableSecrets: SQL {
    let kinds: [StoredSecret.Kind] = [.userTOTP, .userCodes]
    return """
      kind IN (\(list: kinds)) AND project_id = \(pool.project)
        AND tenant_id = \(pool.tenant?.text ?? "") AND object_id = \(uid)
      """
  }
}

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
    _ pool: Pool, _ uid: ID<Account>, by caller: Caller
  ) async throws -> ActionOutcome<[UInt8]> {
    try await store.run(.exportUserData, by: caller, on: user(uid, in: pool)) {
      _, context, connection in
      let (file, entry) = try file(
        of: try existing(pool, uid, connection), at: context.now, connection)
      try context.record(entry, connection)
      return file
    }
  }

  /// A user, whose account may be deleted if the caller is a program.
  func user(
    _ uid: ID<Account>, in pool: Pool,
    inputErrors: @escaping @Sendable (Account) -> [ActionInputError] = { _ in [] }
  ) -> ActionSubject<Void> {
    let user = ActionSubject<Account>.user(
      uid, in: pool, inputErrors: { account, _ in inputErrors(account) })
    return ActionSubject(target: user.target) { context, connection in
      guard context.request != nil else { return ActionSubject.Found(content: ()) }
      let found = try user.read(context, connection)
      return ActionSubject.Found(
        content: (), support: found.support, inputErrors: found.inputErrors)
    }
  }

  /// - Throws: ``ActionDenial/accountNotFound`` if nothing is stored.
  func existing(
    _ pool: Pool, _ uid: ID<Account>, _ connection: borrowing Connection
  ) throws -> UserDataSubject {
    guard let subject = try subject(pool, uid.text, connection) else {
      throw ActionDenial.accountNotFound
    }
    return subject
  }

  private func file(
    of subject: UserDataSubject, at now: Instant, _ connection: borrowing Connection
  ) throws -> (file: [UInt8], entry: AuditEntry) {
    let (pool, uid) = (subject.pool, subject.uid)
    var members: [(String, JSON)] = [
      ("format", .string(Self.format)), ("createdAt", .string(now.rfc3339Milliseconds)),
      ("projectId", .string(pool.project.text)),
      ("tenantId", pool.tenant.map { .string($0.text) } ?? .null), ("uid", .string(uid)),
    ]
    for table in UserDataTable.all {
      let rows = try table.read(subject, connection)
      // There's at most one account.
      members.append(
        (table.section, table.name == "account" ? rows.first ?? .null : .array(rows)))
    }
    var log = try entries(of: uid, in: pool, connection)
    if subject.account != nil { log = log.reversed().ofPresentUser(in: pool).reversed() }
    members.append(("auditLog", .array(log.map(Self.json))))
    let entry = AuditEntry(
      .accountExportData, .account, uid, name: subject.account?.label ?? uid, in: pool)
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
    case .user, .server, .visitor, .remote, nil: false
    }
  }
}
