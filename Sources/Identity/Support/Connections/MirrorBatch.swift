import Database
import Text

/// A difference between what the remote has of a user and what the mirror has.
enum MirrorChange: Sendable {
  /// What the remote has, and the key of the account; nil if the mirror has none.
  case user(MirroredUser, Int64?)
  /// An account whose user the remote didn't list.
  case missing(Int64)
  /// The UID of a user who can't be stored, and why.
  case fault(String, MirrorFault)
}

/// Changes of a pool's mirrored users in one transaction, by what the remote said when it was asked.
struct MirrorBatch {
  let pool: Pool
  /// The remote.
  let author: Author
  let askedAt: Instant
  /// Whether changes of users are recorded; those of the first walk aren't.
  let isRecorded: Bool
  let now: Instant
  /// What a change that was sent changed, which has a separate entry.
  var known: Set<AuditFieldName> = []

  /// The maximum number of changes.
  static let most = 100
  private static let recorded: Set<AuditFieldName> = [.email, .disabled, .factors]
  /// Times aren't limited to the present one: the remote's clock isn't this one.
  private static let latest = Instant(seconds: Instant.range.upperBound)

  /// Applies changes of a walk with a number.
  func apply(
    _ changes: [MirrorChange], ofWalk walk: Int64, _ connection: borrowing Connection
  ) throws {
    var new: [MirroredUser] = []
    for change in changes {
      switch change {
      case .user(let user, let key?):
        if try !update(key, to: user, connection) { new.append(user) }
      case .user(let user, nil): new.append(user)
      case .missing(let key):
        // A user who was read after the page was asked for is there.
        try AccountRecord.set(
          "missing_in = \(walk), asked_at = \(askedAt)", of: key,
          if: "(asked_at < \(askedAt) OR asked_at > \(Instant.latest(at: now)))", connection)
      case .fault(let uid, let reason):
        try connection.run(
          """
          INSERT INTO mirror_fault (scope_key, uid, reason, walk)
          VALUES (\(pool.key), \(MirroredUser.kept(uid) ?? ""), \(reason), \(walk))
          ON CONFLICT (scope_key, uid) DO UPDATE SET reason = excluded.reason, walk = excluded.walk
          """)
      }
    }
    try insert(new, connection)
  }

  private func insert(_ users: [MirroredUser], _ connection: borrowing Connection) throws {
    guard !users.isEmpty,
      let numbers = try AccountNumbers.take(users.count, in: pool.key, connection)
    else { return }
    var (texts, counts) = ([SearchIndex.New](), AccountCounts())
    for (number, user) in zip(numbers, users) {
      let (new, key) = (user.prepared, pool.accountKeys.lowerBound + number)
      let isInserted = try ImportBatch.insert(
        new, key, in: pool, mirrored: (user.digest, askedAt), at: Self.latest, connection)
      guard isInserted else { continue }
      for link in user.user.providers { try link.store(for: key, in: pool, connection) }
      try FactorRecord.store(user.factors, of: key, after: 0, connection)
      texts.append(
        SearchIndex.New(key: key, folded: new.text.folded, beginnings: new.beginnings))
      counts += AccountCounts(of: new)
    }
    try SearchIndex.insert(texts, connection)
    try CountChanges.append(counts, to: pool.key, connection)
  }

  /// Updates an account, unless what's stored was asked for later.
  ///
  /// - Returns: False if it was another user's: it's deleted, so that its marks don't pass on.
  func update(
    _ key: Int64, to user: MirroredUser, _ connection: borrowing Connection
  ) throws -> Bool {
    guard var old = try AccountRecord.find(key: key, connection), let asked = old.askedAt,
      asked.isOlder(than: askedAt, at: now),
      try !Intent.isUnderWay(of: old.id.text, in: pool.key, connection)
    else { return true }
    guard !user.isOther(thanCreatedAt: old.createdAt) else {
      try Accounts.delete(old, in: pool, by: author, at: now, connection)
        .record(by: author, at: now, connection)
      return false
    }
    if let goneAt = old.goneAt {
      old.goneAt = nil
      try CountChanges.append(AccountCounts(of: old), to: pool.key, connection)
      var entry = AuditEntry(.accountGone, of: old, in: pool)
      entry.add(.goneSince, from: .instant(goneAt), to: .absent)
      try entry.record(by: author, at: now, connection)
    }
    let new = user.user
    try ImportBatch.update(key, with: user.prepared, at: Self.latest, connection)
    try AccountRecord.set(
      """
      valid_since_s = \(new.validSince ?? 0), mirror_digest = \(user.digest),
        asked_at = \(askedAt), missing_in = NULL, gone_at = NULL
      """, of: key, connection)
    if old.providers != new.providers {
      try ProviderLink.remove(nil, of: old, connection)
      for link in new.providers { try link.store(for: key, in: pool, connection) }
    }
    if !user.hasFactors(old.factors) {
      try FactorRecord.delete(old.factors, of: old, in: pool, connection)
      try FactorRecord.store(user.factors, of: key, after: 0, connection)
      try FactorRecord.reconcile(key, in: pool, connection)
    }
    let account = try AccountRecord.changed(
      old, in: pool, isNewPassword: false, at: now, connection)
    guard isRecorded else { return true }
    // Names, and times of sign-ins, would fill the log.
    func fields(_ account: Account) -> [AuditField] {
      account.auditFields().filter { Self.recorded.subtracting(known).contains($0.name) }
    }
    var entry = AuditEntry(.accountChange, of: account, in: pool)
    entry.compare(fields(old), fields(account))
    if !entry.changes.isEmpty { try entry.record(by: author, at: now, connection) }
    return true
  }

  /// Marks those as gone whom an accepted walk didn't see, and records it; returns whether there may be
  /// more.
  func markGone(_ connection: borrowing Connection) throws -> Bool {
    let keys = try connection.all(
      """
      SELECT account_key FROM account WHERE scope_key = \(pool.key) AND missing_in =
          (SELECT accepted FROM mirror WHERE scope_key = \(pool.key))
        AND \(MirroredPool.isRead(pool)) LIMIT \(Self.most)
      """
    ) { try $0.next() as Int64 }
    var counts = AccountCounts()
    for key in keys {
      guard let account = try AccountRecord.find(key: key, connection) else { continue }
      counts += -AccountCounts(of: account)
      try AccountRecord.set("gone_at = \(now), missing_in = NULL", of: key, connection)
      var entry = AuditEntry(.accountGone, of: account, in: pool)
      entry.add(.goneSince, .instant(now))
      try entry.record(by: author, at: now, connection)
    }
    try CountChanges.append(counts, to: pool.key, connection)
    return keys.count == Self.most
  }
}

extension MirroredUser {
  /// Whether an account's factors are the user's, in the same order.
  fileprivate func hasFactors(_ known: [Factor]) -> Bool {
    known.elementsEqual(factors) { known, new in
      known.id == new.id && known.kind == new.kind && known.enrolledAt == new.enrolledAt
        && (known.displayName ?? "").isSameBytes(as: new.displayName ?? "")
        && (known.phoneNumber ?? "").isSameBytes(as: new.phoneNumber ?? "")
    }
  }
}

/// Users who are no longer at the remote.
enum GoneUsers {
  /// How long they're shown, in seconds.
  static let shown: Int64 = 30 * 86_400

  /// Deletes those who have been gone for as long.
  static func purge(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let (most, author) = (CleanupLimit.costlyRows, Author(actor: .server))
    let gone = try AccountRecord.many(
      "a.gone_at <= \(now.advanced(bySeconds: -shown))", order: "ORDER BY a.gone_at", limit: most,
      connection)
    for account in gone {
      // A deleted pool's users are deleted with it.
      guard let pool = try Pools.find(account.poolKey, connection) else { return false }
      try Accounts.delete(account, in: pool, by: author, at: now, connection)
        .record(by: author, at: now, connection)
    }
    return gone.count == most
  }
}
