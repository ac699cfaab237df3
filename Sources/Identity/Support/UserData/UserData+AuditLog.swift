import Database
import Text

extension UserData {
  /// The number of entries that are read at a time.
  private static let batch: Int64 = 1_000

  private struct Pending: Sendable {
    let number: Int64
    let project: String
    let tenant: String
    let lastEntry: Int64
    let readEntry: Int64
    let identifiers: UserIdentifiers?
    let pool: Int64
  }

  /// The parts of an entry that are about the user.
  private struct Finding: Sendable {
    let entry: Int64
    let parts: [AuditPart]
  }

  /// Continues the oldest pending erasure: erases the user's parts of the next entries of the audit
  /// log, and, once all are read, the copies that the database file still has.
  ///
  /// Entries are erased after they're sealed.
  ///
  /// - Returns: True if there's more to do now.
  public func continueErasures() async throws -> Bool {
    let next = try await store.read { connection in
      try Self.pending(connection)
    }
    guard let next else { return false }
    guard let identifiers = next.identifiers else {
      return try await removeCopies(next)
    }
    let end = min(next.lastEntry, next.readEntry + Self.batch)
    let found: [Finding]? = try await store.read { connection in
      guard try (ChainLink.last(connection)?.entry ?? 0) >= next.lastEntry else { return nil }
      return try findings(of: identifiers, next, through: end, connection)
    }
    guard let found else { return false }
    try await store.write { now, connection in
      var (entries, parts) = (0, 0)
      for finding in found {
        var erased = 0
        for part in finding.parts
        where try Audit.erase(part, of: finding.entry, at: now, connection) { erased += 1 }
        parts += erased
        if erased > 0 { entries += 1 }
      }
      try connection.run(
        """
        UPDATE user_erasure SET read_entry = \(end), entries = entries + \(entries),
          parts = parts + \(parts)
        WHERE scope_key = \(next.pool) AND erasure_id = \(next.number)
          AND read_entry = \(next.readEntry)
        """)
      guard end == next.lastEntry else { return }
      try connection.run(
        """
        UPDATE user_erasure SET identifiers = NULL
        WHERE scope_key = \(next.pool) AND erasure_id = \(next.number)
        """)
    }
    return true
  }

  private static func pending(_ connection: borrowing Connection) throws -> Pending? {
    try connection.first(
      """
      SELECT e.erasure_id, s.project_id, s.tenant_id, e.last_entry, e.read_entry, e.identifiers,
        e.scope_key
      FROM user_erasure e \(index: "user_erasure_pending")
        \(SQL.orderedJoin) scope s ON s.scope_key = e.scope_key
      WHERE e.finished_at IS NULL AND e.erasure_id > 0 ORDER BY e.erasure_id LIMIT 1
      """
    ) { row in
      Pending(
        number: try row.next(), project: try row.next(), tenant: try row.next(),
        lastEntry: try row.next(), readEntry: try row.next(),
        identifiers: try (row.next() as String?).map { try UserIdentifiers(stored: $0) },
        pool: try row.next())
    }
  }

  private func findings(
    of identifiers: UserIdentifiers, _ next: Pending, through end: Int64,
    _ connection: borrowing Connection
  ) throws -> [Finding] {
    let ids: [Int64] = try connection.all(
      """
      SELECT audit_id FROM audit WHERE audit_id > \(next.readEntry) AND audit_id <= \(end)
        AND project_id || '' = \(next.project) AND tenant_id || '' = \(next.tenant)
      ORDER BY audit_id
      """
    ) { try $0.next() }
    return try ids.compactMap { id in
      guard let row = try Audit.find(id, connection) else { return nil }
      let parts = row.parts(about: identifiers)
      return parts.isEmpty ? nil : Finding(entry: id, parts: parts)
    }
  }

  /// Removes copies of erased data from the index for searches and the write-ahead log.
  private func removeCopies(_ pending: Pending) async throws -> Bool {
    // Negative: all parts of the index are merged, whatever their size.
    var pages = -Self.mergedPages
    while try await merge(pages) { pages = Self.mergedPages }
    do {
      try await store.database.compact(atMost: Self.largestCompacted)
      try await store.database.checkpoint()
    } catch {
      // A backup or a long read needs the log; the next call tries again.
      return false
    }
    try await store.write { now, connection in
      _ = try connection.run(
        """
        UPDATE user_erasure SET finished_at = \(now)
        WHERE scope_key = \(pending.pool) AND erasure_id = \(pending.number)
        """)
    }
    return true
  }

  /// The size of the largest database file that is written anew, in bytes: about a second's work.
  private static let largestCompacted = 64 << 20
  /// The number of pages of the index that one transaction writes.
  private static let mergedPages = 500

  /// Merges a part of the index for searches, which keeps deleted text until then.
  ///
  /// - Returns: True if there may be more.
  private func merge(_ pages: Int) async throws -> Bool {
    try await store.write { connection in
      try SearchIndex.parts.merge(pages, connection)
    }
  }
}

extension AuditRow {
  /// Returns the parts that say something about a user.
  fileprivate func parts(about user: UserIdentifiers) -> [AuditPart] {
    let isAbout = object == .account && objectID.isSameBytes(as: user.uid)
    let isBy = actor == .user && actorID.isSameBytes(as: user.uid)
    let isOfAnother = object == .account && !isAbout
    var parts: [AuditPart] = []
    let actorTexts = [actorID, actorName, address]
    if isBy || isAbout && !isOfStaff, actorTexts.contains(where: { !$0.isEmpty }) {
      parts.append(.actor)
    }
    let isNamed =
      !isOfAnother && (user.isMentioned(in: objectID) || user.isMentioned(in: objectName))
    if isAbout || isNamed { parts.append(.resource) }
    let texts = [note, ticket, proof, legacyFrom, legacyTo].compactMap(\.self)
    // A reason alone is one of a list.
    if isAbout || isBy ? !texts.isEmpty : texts.contains(where: user.isMentioned) {
      parts.append(.texts)
    }
    for (index, change) in changes.enumerated() {
      let isPersonal =
        isAbout || isBy
        ? change.field?.erasure != .kept : !isOfAnother && change.mentions(user)
      if isPersonal || isAbout && change.mentions(user) { parts.append(.field(index)) }
    }
    return parts
  }
}

extension AuditChange {
  fileprivate func mentions(_ user: UserIdentifiers) -> Bool {
    user.isMentioned(in: old?.stored.text) || user.isMentioned(in: new?.stored.text)
  }
}
