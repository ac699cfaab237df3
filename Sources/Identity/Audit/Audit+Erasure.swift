import Database

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
  package func erase(_ part: AuditPart, of id: Int64) async throws -> Bool {
    let now = store.clock.now()
    return try await store.write { connection in
      try Self.erase(part, of: id, at: now, connection)
    }
  }

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
