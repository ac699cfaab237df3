import Database
import Text

/// Exports and erases everything that's stored about one user.
public struct UserData: Sendable {
  let store: Store
  let audit: Audit
  let authorization: SupportAuthorization

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
