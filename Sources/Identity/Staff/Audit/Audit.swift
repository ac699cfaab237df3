package import Database

public struct Audit: Sendable {
  let store: Store
  let cache = AuditRowCache()

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

  static func find(_ id: Int64, _ connection: borrowing Connection) throws -> AuditRow? {
    let changes = try connection.all(
      "SELECT \(AuditChange.columns) FROM audit_change WHERE audit_id = \(id) ORDER BY position"
    ) { try AuditChange(stored: &$0) }
    return try connection.first("SELECT \(AuditRow.columns) FROM audit WHERE audit_id = \(id)") {
      try AuditRow(&$0, changes)
    }
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
    var changes = changes
    switch author.actor {
    case .user, .visitor:
      guard let account else { break }
      switch limit {
      case .quota: try OwnChange.row.count(of: account, at: now, connection)
      case .password:
        switch try OwnChange.password.room(of: account, at: now, connection) {
        case .within: break
        case .last(let until): changes.append(AuditChange(.unrecordedUntil, to: .instant(until)))
        case .beyond: return
        }
      case .link, .code, .account, .factor: break
      }
    case .administrator, .serviceToken, .commandLine, .emulatorOwner, .server, .remote: break
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

extension Audit {
  /// The number of seconds in which at most one entry says that an administrator read a log.
  static let readingInterval: Int64 = 3_600

  /// Records that an administrator read the log of a pool, or of the instance if it's nil: once an
  /// hour, so that reading doesn't fill the log.
  public func recordReading(_ pool: Pool?, by author: Author) async throws {
    let now = store.clock.now()
    let (id, place) = (author.actor.id, (pool?.project.text ?? "", pool?.tenant?.text ?? ""))
    let isRecorded = try await store.read { connection in
      let at: Instant? = try connection.first(
        """
        SELECT read_at FROM audit_reading
        WHERE administrator_id = \(id) AND project_id = \(place.0) AND tenant_id = \(place.1)
        """
      ) { try $0.next() }
      return at.map { abs(now.seconds - $0.seconds) < Self.readingInterval } ?? false
    }
    if isRecorded { return }
    try await store.write(by: author) { connection in
      try connection.run(
        """
        INSERT INTO audit_reading (administrator_id, project_id, tenant_id, read_at)
        VALUES (\(id), \(place.0), \(place.1), \(now))
        ON CONFLICT (administrator_id, project_id, tenant_id)
          DO UPDATE SET read_at = excluded.read_at
        """)
      try AuditEntry(.auditRead, of: pool).record(by: author, at: now, connection)
    }
  }

  /// Deletes the times of readings that are recorded again.
  static func forgetReadings(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -readingInterval)
    return try connection.deletePart(
      "FROM audit_reading WHERE read_at < \(oldest)", of: "audit_reading",
      by: "administrator_id, project_id, tenant_id")
  }
}

extension AuditEntry {
  init(_ action: AuditAction, of pool: Pool?) {
    if let pool {
      self.init(action, .pool, pool.objectID, name: pool.name, in: pool)
    } else {
      self.init(action, .instance, "", name: "")
    }
  }
}

/// What limits how many rows of the audit log a user, or someone with their session, can cause.
///
/// Rows by administrators, programs, and the server aren't limited.
enum AuditRowLimit {
  /// The account's quota of an hour (``OwnChange/row``): beyond it, the change is refused.
  case quota
  /// Each link in an email works once. An attacker who uses up the quota in a session must not keep
  /// the user from undoing what was done there.
  case link
  /// Each backup code is accepted once. A right code signs in, whatever else was done to the account.
  case code
  /// It happens to an account once.
  case account
  /// Each factor is removed once, and new ones are counted. The removal isn't refused.
  case factor
  /// A password changes any number of times (``OwnChange/password``), and is never refused.
  case password
}

/// A part of an audit entry that can be erased.
package enum AuditPart: Sendable {
  /// The actor's ID, name, and address.
  case actor
  case resource
  /// The reason, note, ticket, and identity checks, and the values in entries of earlier versions.
  case texts
  /// The values of the field at this index.
  case field(Int)

  var index: Int {
    switch self {
    case .actor: 1
    case .resource: 2
    case .texts: 3
    case .field(let index): AuditParts.fixed + index
    }
  }
}

extension Audit {
  /// Erases a part of a sealed entry, such as personal values.
  ///
  /// Its salt goes too, so that nothing shows what it was, but its digest stays, so that the hash
  /// chain still verifies.
  ///
  /// - Returns: False if the entry isn't sealed yet, has no such part, or the part was erased.
  static func erase(
    _ part: AuditPart, of id: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let entry = try AuditParts.read(after: id - 1, through: id, limit: 1, connection).first
    let link = try link(of: id, connection)
    guard let entry, let link, part.index < entry.encoded.count else { return false }
    let salt = ChainLink.salt(part.index, in: link.salts)
    let digest = entry.digest(part.index, salt: salt)
    let changed = try connection.run(
      """
      INSERT INTO audit_erasure (audit_id, part, digest, erased_at)
      VALUES (\(id), \(part.index), \(digest), \(now))
      ON CONFLICT (audit_id, part) DO NOTHING
      """)
    guard changed > 0 else { return false }
    var salts = link.salts
    salts.replaceSubrange(salt.indices, with: AuditParts.noSalt)
    try connection.run("UPDATE audit_link SET salts = \(salts) WHERE sequence = \(link.sequence)")
    try clear(part, of: id, connection)
    try AuditRowCache.noteErasure(connection)
    return true
  }

  private static func clear(
    _ part: AuditPart, of id: Int64, _ connection: borrowing Connection
  ) throws {
    switch part {
    case .actor:
      try connection.run(
        "UPDATE audit SET actor_id = '', actor_name = '', address = '' WHERE audit_id = \(id)")
    case .resource:
      try connection.run(
        "UPDATE audit SET object_id = '', object_name = '' WHERE audit_id = \(id)")
    case .texts:
      try connection.run(
        """
        UPDATE audit SET from_value = NULL, to_value = NULL, reason = NULL, note = NULL,
          ticket = NULL, proof = NULL
        WHERE audit_id = \(id)
        """)
    case .field(let index):
      try connection.run(
        """
        UPDATE audit_change SET old_kind = NULL, old_value = NULL, new_kind = NULL, new_value = NULL
        WHERE audit_id = \(id) AND position = (SELECT position FROM audit_change
          WHERE audit_id = \(id) ORDER BY position LIMIT 1 OFFSET \(index))
        """)
    }
  }

  /// Finds the link of an entry by binary search, because both numbers increase together.
  private static func link(
    of id: Int64, _ connection: borrowing Connection
  ) throws -> ChainLink? {
    var low = try AuditTombstone.latest(connection)?.last ?? 0
    var high = try ChainLink.last(connection)?.sequence ?? 0
    while low < high {
      let middle = low + (high - low + 1) / 2
      guard let link = try ChainLink.find(middle, connection) else { return nil }
      if link.entry == id { return link }
      if link.entry < id { low = middle } else { high = middle - 1 }
    }
    return nil
  }
}
