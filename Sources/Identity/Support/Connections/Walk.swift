import Database
import IdentityToolkitClient
import Text

/// Why a walk ends early, without a fault.
enum WalkEnding: Error {
  /// Another server goes on with it, an administrator paused or disconnected the project, or this server
  /// is stopping.
  case superseded
  /// Its numbers don't fit, so the connection is paused.
  case paused
}

/// A walk over all users of a pool at the remote: two lists in the order of the bytes of the UIDs are
/// merged, theirs and the mirror.
///
/// What was read is stored with the position, so that a walk goes on after a crash, and a page of a
/// server that was taken over fails.
struct Walk {
  let store: Store
  let known: ProjectConnection
  let client: ToolkitClient
  /// As far as the walk is, which needn't be stored.
  private var mirror: MirroredPool
  /// The position that's stored.
  private var stored: String
  /// The last UID that was read, which can be one that can't be stored.
  private var last: String
  private var size = ToolkitClient.largestPage
  private var pages = 0
  /// Whether the last page that was read had no users.
  private var isEmpty = false

  /// How many pages are read before the position is stored: those are read again after a crash.
  private static let mostUnstored = 10
  /// The maximum number of known users that are compared at once: more than a page has.
  private static let share = 2_000
  /// How far the number of users read may be off, and how many may be gone, whatever the share.
  private static let tolerance = 20
  /// How many may be gone if they're a tenth of all at most.
  private static let mostGone = 200
  /// How old a walk may be to go on, in seconds: later, the remote counts others.
  private static let longest: Int64 = 3_600

  init(store: Store, known: ProjectConnection, client: ToolkitClient, mirror: MirroredPool) {
    (self.store, self.known, self.client) = (store, known, client)
    (self.mirror, stored, last) = (mirror, mirror.position, mirror.position)
  }

  private var pool: Pool { mirror.pool }
  private var tenant: String? { pool.tenant?.text }

  /// Begins the walk, or goes on with it.
  ///
  /// - Returns: Whether it's complete, or the tenant's users can't be read.
  mutating func run(while mayContinue: () -> Bool) async throws -> Bool {
    try await markGone()
    do {
      let now = store.clock.now()
      let isUnderWay = mirror.startedAt.map { $0.isRecent(within: Self.longest, at: now) } ?? false
      if !isUnderWay { try await begin() }
      var isMore = true
      while isMore {
        guard mayContinue() else { return false }
        let asked = store.clock.now()
        let page = try await client.users(of: tenant, after: mirror.token, size: size, for: .walk)
        try await merge(page, askedAt: asked)
        (size, isMore) = (page.size, page.next != nil)
      }
      try await finish()
    } catch let fault as RemoteFault {
      switch fault.cause {
      // The next read of the tenants tells which. Their users stay as they are.
      case .tenantDisabled, .tenantGone:
        try await end()
        return true
      // The position may be what the remote doesn't understand.
      case .other, .unreadable: try await end()
      default: break
      }
      throw fault
    }
    try await markGone()
    return true
  }

  private mutating func begin() async throws {
    let counted = try await client.userCount(of: tenant, for: .walk)
    let now = try await store.write { [self] now, connection in
      try set(
        """
        walk = walk + 1, started_at = \(now), counted = \(counted), read = 0, position = '',
          token = NULL
        """, connection)
      return now
    }
    mirror.walk += 1
    (mirror.startedAt, mirror.counted, mirror.read) = (now, counted, 0)
    (mirror.position, mirror.token, stored, last) = ("", nil, "", "")
  }

  /// Ends the walk without a result; the next one begins anew.
  private func end() async throws {
    guard mirror.startedAt != nil else { return }
    try await store.write { [self] connection in try set("started_at = NULL", connection) }
  }

  /// Changes what's stored of the walk.
  ///
  /// - Throws: ``WalkEnding/superseded`` if someone else has changed it, or the connection's state or
  ///   credential.
  private func set(_ columns: SQL, _ connection: borrowing Connection) throws {
    let changed = try connection.run(
      """
      UPDATE mirror SET \(columns)
      WHERE scope_key = \(pool.key) AND walk = \(mirror.walk) AND position = \(stored)
        AND started_at IS NOT DISTINCT FROM \(mirror.startedAt)
        AND \(MirroredPool.isRead(pool, with: known.credentialAt))
      """)
    guard changed > 0 else { throw WalkEnding.superseded }
  }

  private func batch(askedAt asked: Instant, at now: Instant) -> MirrorBatch {
    MirrorBatch(
      pool: pool, author: known.author, askedAt: asked, isRecorded: mirror.firstAt != nil, now: now)
  }
}

// MARK: - Merging

extension Walk {
  /// What the mirror has of a user; the digest is nil if the user has to be written even if nothing has
  /// changed.
  private typealias KnownUser = (uid: String, key: Int64, digest: Int64?, isGone: Bool)

  /// Compares a page with the mirror, and applies what differs.
  private mutating func merge(
    _ page: RemotePage<RemoteUser>, askedAt asked: Instant
  ) async throws {
    let (users, faults) = try sorted(page)
    // No UID of a user who can be stored is between the last one and its beginning.
    let beginning = MirroredUser.kept(String(last.unicodeScalars.prefix { $0 != "\0" }))
    let end = page.next == nil ? nil : beginning
    var (rest, changes, position, isMore) = (users[...], faults, mirror.position, true)
    while isMore {
      let known = try await store.read { [pool = pool, position] in
        try Self.known(in: pool, after: position, through: end, $0)
      }
      isMore = known.count == Self.share
      // Up to where both lists are known.
      let cut = isMore ? known.last?.uid : end
      let listed = rest.prefix { user in
        cut.map { !$0.utf8.lexicographicallyPrecedes(user.id.utf8) } ?? true
      }
      try await apply(changes + Self.changes(from: known, to: listed), askedAt: asked)
      (rest, changes, position) = (rest.dropFirst(listed.count), [], cut ?? position)
    }
    mirror.read += page.items.count
    isEmpty = page.items.isEmpty
    guard let end else { return }
    (mirror.position, mirror.token) = (end, page.next)
    pages += 1
    guard pages % Self.mostUnstored == 0 else { return }
    try await store.write { [self] connection in
      try set("position = \(end), token = \(mirror.token), read = \(mirror.read)", connection)
    }
    stored = end
  }

  private static func known(
    in pool: Pool, after position: String, through end: String?, _ connection: borrowing Connection
  ) throws -> [KnownUser] {
    let end: SQL = end.map { "AND uid <= \($0)" } ?? ""
    return try connection.all(
      """
      SELECT uid, account_key,
        CASE WHEN gone_at IS NULL AND missing_in IS NULL THEN mirror_digest END, gone_at IS NOT NULL
      FROM account WHERE scope_key = \(pool.key) AND uid > \(position) \(end)
      ORDER BY uid LIMIT \(share)
      """
    ) { (uid: try $0.next(), key: try $0.next(), digest: try $0.next(), isGone: try $0.next()) }
  }

  /// Compares two lists of the same UIDs.
  private static func changes(
    from known: [KnownUser], to listed: ArraySlice<MirroredUser>
  ) -> [MirrorChange] {
    var rest = Dictionary(known.map { (UntrustedText($0.uid), $0) }, uniquingKeysWith: { $1 })
    let changes = listed.compactMap { user -> MirrorChange? in
      let same = rest.removeValue(forKey: UntrustedText(user.id))
      guard same?.digest != user.digest else { return nil }
      return .user(user, same?.key)
    }
    return changes + rest.values.filter { !$0.isGone }.map { MirrorChange.missing($0.key) }
  }

  /// Returns the users of a page and those who can't be stored; checks that all are in order, and after
  /// those of the page before.
  private mutating func sorted(
    _ page: RemotePage<RemoteUser>
  ) throws(RemoteFault) -> (users: [MirroredUser], faults: [MirrorChange]) {
    var (users, faults) = ([MirroredUser](), [MirrorChange]())
    for user in page.items {
      let fault = MirroredUser.fault(of: user.id)
      if let fault { faults.append(.fault(user.id, fault)) }
      guard !user.id.isEmpty else { continue }
      guard last.utf8.lexicographicallyPrecedes(user.id.utf8) else {
        throw RemoteFault(.unreadable, "unsorted UIDs")
      }
      last = user.id
      if fault == nil { users.append(MirroredUser(user)) }
    }
    // Otherwise, a UID was after the last one.
    guard page.next == nil || page.items.contains(where: { !$0.id.isEmpty }) else {
      throw RemoteFault(.unreadable, "missing UIDs")
    }
    return (users, faults)
  }

  /// Applies changes, a part at a time; those of a page that's read again are no longer changes.
  private func apply(_ changes: [MirrorChange], askedAt asked: Instant) async throws {
    var rest = changes[...]
    guard !rest.isEmpty else { return }
    let isStopping = try await store.pacer.run {
      let part = Array(rest.prefix(MirrorBatch.most))
      rest = rest.dropFirst(part.count)
      try await store.write { [self] now, connection in
        try set("walk = walk", connection)
        try batch(askedAt: asked, at: now).apply(part, ofWalk: mirror.walk, connection)
      }
      return !rest.isEmpty
    }
    if isStopping { throw WalkEnding.superseded }
  }
}

// MARK: - The end

extension Walk {
  /// Ends the walk: those whom it didn't see are gone if its numbers fit, or else the connection is
  /// paused.
  private func finish() async throws {
    let after = try await client.userCount(of: tenant, for: .walk)
    let isPaused = try await store.write { [self] now, connection in
      let users = try Accounts.counts(pool, connection)
      let missing = try Self.missing(in: pool, mirror.walk, connection)
      // However few a pool has, they aren't gone because the page was empty.
      let fits = [mirror.counted ?? 0, after].allSatisfy {
        abs($0 - mirror.read) <= max(Self.tolerance, $0 / 200) && (mirror.read > 0 || $0 == 0)
      }
      let isSmall =
        missing <= Self.tolerance || missing <= Self.mostGone && missing * 10 <= users.users
      let columns: SQL = "started_at = NULL, counted = \(after), read = \(mirror.read)"
      guard fits, isSmall else {
        try set("\(columns), accepted = -walk", connection)
        guard try known.set(.paused, because: .walk, at: now, connection) else {
          throw WalkEnding.superseded
        }
        var entry = known.entry(.connectionPause, in: pool)
        entry.add(.stopReason, .code("walk"))
        entry.add(.users, .number(mirror.read))
        entry.add(.remoteUsers, .number(after))
        try entry.record(by: Author(actor: .server), at: now, connection)
        return true
      }
      // Those whom the last page lacks may be there: the next walk looks again.
      let accepted: SQL = isEmpty && mirror.read < after ? "accepted" : "walk"
      let seconds = now.seconds - (mirror.startedAt ?? now).seconds
      try set(
        """
        \(columns), accepted = \(accepted), first_at = coalesce(first_at, \(now)),
          walked_at = \(now), seconds = \(seconds)
        """, connection)
      try connection.run(
        "DELETE FROM mirror_fault WHERE scope_key = \(pool.key) AND walk <> \(mirror.walk)")
      if mirror.firstAt == nil { try recordFirst(users, at: now, connection) }
      return false
    }
    if isPaused { throw WalkEnding.paused }
  }

  /// Returns the number of users whom a walk of a pool didn't see.
  static func missing(
    in pool: Pool, _ walk: Int64, _ connection: borrowing Connection
  ) throws -> Int {
    try connection.first(
      "SELECT count(*) FROM account WHERE scope_key = \(pool.key) AND missing_in = \(walk)"
    ) { try $0.next() } ?? 0
  }

  /// Records the first walk in one entry; reports begin with it.
  private func recordFirst(
    _ users: AccountCounts, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try Activity.deleteAll(of: pool.key, connection)
    try connection.run(
      "INSERT INTO enrollment_mark (scope_key) VALUES (\(pool.key)) ON CONFLICT DO NOTHING")
    let faults: Int? = try connection.first(
      "SELECT count(*) FROM mirror_fault WHERE scope_key = \(pool.key)"
    ) { try $0.next() }
    var entry = known.entry(.connectionWalk, in: pool)
    entry.add(.users, .number(users.users))
    entry.add(.enrolledUsers, .number(users.enrolledUsers))
    if let faults, faults > 0 { entry.add(.usersNotStored, .number(faults)) }
    try entry.record(by: known.author, at: now, connection)
  }

  /// Marks those as gone whom an accepted walk didn't see, a part at a time.
  func markGone() async throws {
    try await store.pacer.run {
      try await store.write { [self] now, connection in
        try batch(askedAt: now, at: now).markGone(connection)
      }
    }
  }
}
