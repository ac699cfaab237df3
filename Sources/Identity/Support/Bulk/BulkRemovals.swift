import Database

/// Removes the second factors of many users at once, ends their sessions, or disables them; also
/// sends them enrollment links, as a campaign.
///
/// A preview of the list creates a draft. The administrator who created it starts it with a reason,
/// like any support action. The server then processes the list in small parts, each in one
/// transaction together with its results, so after a crash it continues where it stopped and
/// repeats nothing.
public struct BulkRemovals: Sendable {
  let store: Store
  let factorRemovals: FactorRemovals
  let accounts: Accounts

  /// The time a draft is kept, in seconds.
  public static let draftLifetime: Int64 = 3_600
  /// The maximum number of drafts per administrator; a new draft replaces the oldest.
  public static let mostDrafts = 5
  /// The number of days the lines of an ended bulk removal are kept; the audit log keeps what was
  /// done.
  public static let daysKept = 90
  /// The maximum number of lines read or stored per transaction during a preview.
  private static let share = 500

  // MARK: - Preview

  /// Previews a list: which users are found, how many factors they have, and who can't be acted on.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    _ list: BulkList, in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    try await draft(list.lines.map(Entry.line), in: pool, by: author, agent)
  }

  func draft(
    _ entries: [Entry], _ kind: BulkJob.Kind = .removal, in pool: Pool, by author: Author,
    _ agent: ConsoleSession
  ) async throws -> Int64 {
    let now = store.clock.now()
    let (id, administrator) = try await store.write(by: author) { connection in
      let administrator = try Self.makeRoom(
        for: agent, kind.permission, in: pool, at: now, connection)
      let id = try Self.addDraft(
        of: kind, in: pool, by: administrator, author, at: now, connection)
      return (id, administrator)
    }
    var known: Set<ID<Account>> = []
    var (users, factors) = (0, 0)
    var rest = entries[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.share)
      rest = rest.dropFirst(Self.share)
      var found = try await store.read { connection in
        try part.map { try Sighting($0, kind, in: pool, by: administrator, at: now, connection) }
      }
      for index in found.indices {
        guard let account = found[index].account else { continue }
        if !known.insert(account).inserted { found[index].result = .twice }
      }
      let open = found.filter { $0.result == nil }
      users += open.count
      factors += open.reduce(0) { $0 + $1.count }
      let seen = found
      try await store.write(by: author) { connection in
        for one in seen { try one.store(in: id, of: pool, connection) }
      }
      // Lets other tasks on this thread run in between.
      await Task.yield()
    }
    let (counted, countedFactors) = (users, factors)
    try await store.write(by: author) { connection in
      _ = try connection.run(
        """
        UPDATE bulk_job SET lines = \(entries.count), users = \(counted),
          factors = \(countedFactors)
        WHERE scope_key = \(pool.key) AND job_id = \(id)
        """)
    }
    return id
  }

  /// Adds a draft without lines, which are counted when they're stored.
  private static func addDraft(
    of kind: BulkJob.Kind, in pool: Pool, by administrator: Administrator, _ author: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Int64 {
    let job = try connection.first(
      """
      INSERT INTO bulk_job (job_id, scope_key, state, administrator_id, administrator_name,
        address, request_id, created_at, lines, users, factors, kind)
      VALUES (\(SQL.nextNumber("job_id", of: "bulk_job")), \(pool.key), 'draft',
        \(administrator.id), \(administrator.displayName),
        \(author.address), \(author.requestID), \(now), 0, 0, 0, \(kind))
      RETURNING job_id
      """
    ) { try $0.next() as Int64 }
    guard let job else { throw Failure("a bulk removal without a number") }
    return job
  }

  /// Authorizes a preview, and deletes the administrator's oldest drafts to make room for a new one.
  private static func makeRoom(
    for agent: ConsoleSession, _ permission: Permission, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Administrator {
    let administrator = try ActionAuthorization.holder(
      of: ConsoleAction.previewBulkRemoval.requirements.permission, agent, in: ActionTarget(pool),
      at: now, connection
    ).get()
    guard administrator.may(permission, in: pool) else { throw ActionDenial.notAllowed }
    let drafts = try connection.all(
      """
      SELECT scope_key, job_id FROM bulk_job \(index: "bulk_job_drafts")
      WHERE state = 'draft' AND created_at > 0 AND administrator_id = \(administrator.id)
      ORDER BY created_at, job_id
      """
    ) { (pool: try $0.next() as Int64, job: try $0.next() as Int64) }
    for draft in drafts.dropLast(mostDrafts - 1) {
      try connection.run(
        "DELETE FROM bulk_job WHERE scope_key = \(draft.pool) AND job_id = \(draft.job)")
    }
    return administrator
  }

  static func obstacle(
    to action: ConsoleAction, on account: Account, in pool: Pool,
    for administrator: Administrator
  ) -> BulkResult? {
    switch administrator.denial(of: action, on: account, in: pool) {
    case nil: nil
    case .ownAccount: .own
    case .protectedAccount: .protected
    case .changesLocked: .locked
    default: .stopped
    }
  }

  enum Entry: Sendable {
    case line(BulkList.Line)
    /// An account, with the line number that it gets.
    case account(ID<Account>, number: Int)
  }

  struct Sighting: Sendable {
    let line: BulkList.Line
    var account: ID<Account>?
    var factors = ""
    var count = 0
    var result: BulkResult?

    init(
      _ entry: Entry, _ kind: BulkJob.Kind, in pool: Pool, by administrator: Administrator,
      at now: Instant, _ connection: borrowing Connection
    ) throws {
      switch entry {
      case .line(let line):
        let found = try AccountRecord.find(pool, named: line.text, connection)
        try self.init(line, found, kind, in: pool, by: administrator, at: now, connection)
      case .account(let id, let number):
        let found = try AccountRecord.find(pool, id, connection)
        let line = BulkList.Line(number: number, text: found?.label ?? id.text)
        try self.init(line, found, kind, in: pool, by: administrator, at: now, connection)
      }
    }

    init(
      _ line: BulkList.Line, _ found: Account?, _ kind: BulkJob.Kind, in pool: Pool,
      by administrator: Administrator, at now: Instant, _ connection: borrowing Connection
    ) throws {
      self.line = line
      guard let found else {
        result = .notFound
        return
      }
      account = found.id
      switch kind {
      case .removal, .campaign:
        factors = EnrollmentIDs.text(of: found.factors)
        count = found.factors.count
      case .sessions: count = try Sessions.count(found.key, connection)
      case .disabling: count = found.disabled ? 0 : 1
      }
      result =
        switch kind {
        case .removal:
          BulkRemovals.obstacle(to: kind.single, on: found, in: pool, for: administrator)
            ?? (found.factors.isEmpty ? BulkResult.none : nil)
        case .sessions, .disabling:
          BulkRemovals.obstacle(to: kind.single, on: found, in: pool, for: administrator)
            ?? (count == 0 ? BulkResult.none : nil)
        case .campaign where !found.factors.isEmpty: .enrolled
        case .campaign:
          try BulkRemovals.obstacle(
            toLinkOf: found, try Policies.stored(pool.key, connection), for: administrator,
            at: now, connection)
        }
    }

    func store(
      in job: Int64, of pool: Pool, _ connection: borrowing Connection
    ) throws {
      try connection.run(
        """
        INSERT INTO bulk_item (scope_key, job_id, line, given, uid, factors, result)
        VALUES (\(pool.key), \(job), \(line.number), \(line.text), \(account),
          \(factors), \(result))
        """)
    }
  }

  // MARK: - Reading

  /// Finds a bulk removal of a pool; a draft can be found only by its creator.
  public func find(
    _ id: Int64, in pool: Pool, for agent: ID<Administrator>
  ) async throws -> BulkJob {
    try await store.read { connection in
      guard let job = try BulkJob.find(id, in: pool, connection),
        job.state != .draft || job.requester == agent
      else { throw CallError.notFound }
      return job
    }
  }

  /// Lists the bulk removals of a pool, newest first, without drafts.
  ///
  /// - Returns: The bulk removals, and how far the undo of one is, by its number; without those that
  ///   nobody undid.
  public func list(
    _ pool: Pool, after: String? = nil, limit: Int = 50
  ) async throws -> (jobs: Page<BulkJob>, undos: [Int64: BulkUndo.State]) {
    let limit = Page<BulkJob>.size(limit)
    let last = after.flatMap { Int64($0) } ?? .max
    return try await store.read { connection in
      let jobs = try connection.all(
        """
        SELECT \(BulkJob.columns) FROM bulk_job
        WHERE scope_key = \(pool.key) AND job_id < \(last) AND state <> 'draft'
        ORDER BY job_id DESC LIMIT \(limit + 1)
        """
      ) { try BulkJob(&$0) }
      let page = Page(jobs, limit: limit) { String($0.id) }
      let undos = try BulkUndo.all(of: page.items.map(\.id), in: pool.key, connection)
      let counts = try BulkUndo.counts(of: Array(undos.keys), in: pool.key, connection)
      let states = undos.map { job, undo in
        (job, undo.state(after: counts[job] ?? BulkUndo.Counts()))
      }
      return (page, Dictionary(uniqueKeysWithValues: states))
    }
  }

  /// Lists the lines of a bulk removal in order, those that haven't been processed if `isOpen`.
  public func items(
    of job: BulkJob, _ result: BulkResult? = nil, isOpen: Bool = false, after: String? = nil,
    limit: Int = 50
  ) async throws -> Page<BulkItem> {
    let limit = Page<BulkItem>.size(limit)
    let last = after.flatMap { Int64($0) } ?? 0
    return try await store.read { connection in
      var condition: SQL = "scope_key = \(job.poolKey) AND job_id = \(job.id)"
      if isOpen { condition += " AND result IS NULL" }
      if let result { condition += " AND result = \(result)" }
      let items = try connection.all(
        """
        SELECT \(BulkItem.columns) FROM bulk_item WHERE \(condition) AND line > \(last)
        ORDER BY line LIMIT \(limit + 1)
        """
      ) { try BulkItem(&$0) }
      return Page(items, limit: limit) { String($0.line) }
    }
  }

  /// Counts the lines of a bulk removal by result; the key nil is for lines that haven't been
  /// processed.
  public func counts(of job: BulkJob) async throws -> [BulkResult?: Int] {
    try await store.read { connection in
      let rows = try connection.all(
        """
        SELECT result, count(*) FROM bulk_item
        WHERE scope_key = \(job.poolKey) AND job_id = \(job.id) GROUP BY result
        """
      ) { row in
        (
          result: try row.next() as BulkResult?, count: try row.next() as Int
        )
      }
      return Dictionary(rows.map { ($0.result, $0.count) }) { $0 + $1 }
    }
  }

  /// The maximum number of removals deleted in one transaction, each with its lines.
  private static let mostPurged = 5

  /// Deletes expired drafts and lines past their retention, a limited number at a time.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let draft = now.advanced(bySeconds: -draftLifetime)
    let ended = now.advanced(bySeconds: -Int64(daysKept) * 86_400)
    let moreDrafts = try connection.deletePart(
      "FROM bulk_job WHERE state = 'draft' AND created_at < \(draft)", of: "bulk_job",
      by: "scope_key, job_id", atMost: mostPurged)
    let moreEnded = try connection.deletePart(
      "FROM bulk_job WHERE ended_at IS NOT NULL AND ended_at < \(ended)", of: "bulk_job",
      by: "scope_key, job_id", atMost: mostPurged)
    return moreDrafts || moreEnded
  }
}

extension BulkRemovals {
  /// Previews an action on all users that a list of a pool shows.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    all listing: AccountListing, _ kind: BulkJob.Kind = .removal, in pool: Pool,
    by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    let users = try await users(of: listing, in: pool, atMost: BulkList.longest, agent)
    return try await draft(users, kind, in: pool, by: author, agent)
  }

  func users(
    of listing: AccountListing, in pool: Pool, atMost most: Int, _ agent: ConsoleSession,
    where isIncluded: (AccountSummary) -> Bool = { _ in true }
  ) async throws -> [ID<Account>] {
    // The preview names users that the request doesn't.
    try await store.read { now, connection in
      _ = try ActionAuthorization.holder(
        of: .findUsers, agent, in: ActionTarget(pool), at: now, connection
      ).get()
    }
    var users: [ID<Account>] = []
    let isCut = try await accounts.forEachPart(of: listing, in: pool, atMost: most) {
      users += $0.filter(isIncluded).map(\.id)
    }
    guard !isCut else { throw BulkError.tooLong }
    return users
  }

  /// - Returns: The number of the draft.
  public func draft(
    _ users: [ID<Account>], _ kind: BulkJob.Kind = .removal, in pool: Pool, by author: Author,
    _ agent: ConsoleSession
  ) async throws -> Int64 {
    guard !users.isEmpty else { throw BulkError.nothingToDo }
    guard users.count <= BulkList.longest else { throw BulkError.tooLong }
    let entries = users.enumerated().map { Entry.account($1, number: $0 + 1) }
    return try await draft(entries, kind, in: pool, by: author, agent)
  }
}
