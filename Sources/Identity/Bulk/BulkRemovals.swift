import Database

/// Removes the second factors of many users at once.
///
/// A list is looked at first, which makes a draft; whoever made it decides it with a reason, as any
/// action of the desk; then the server goes through it in small parts, each in a write of its own
/// with the results of its lines. So a job goes on where it was after a crash, and does nothing
/// twice.
public struct BulkRemovals: Sendable {
  let store: Store
  let gate: SupportAuthorization
  let factorRemovals: FactorRemovals

  /// How long a list that nobody decides is kept, in seconds.
  public static let draftLifetime: Int64 = 3_600
  /// How many undecided lists of one maker are kept; a newer one takes the place of the oldest.
  public static let mostDrafts = 5
  /// How long the lines of a job that has ended are kept, in days; the log keeps what was done.
  public static let daysKept = 90
  /// How many lines a write reads or stores at most when a list is looked at.
  private static let share = 500

  // MARK: - Looking at a list

  /// Looks at a list: who is found, with how many factors, and who cannot be acted on.
  ///
  /// - Returns: The number of the draft.
  /// - Throws: ``BulkError``.
  public func draft(
    _ list: BulkList, in scope: Scope, by author: Author, _ agent: ConsoleSession
  ) async throws(BulkError) -> Int64 {
    let now = store.clock.now()
    let maker = agent.administrator.id
    let (id, administrator) = try await store.write(BulkError.self) { connection in
      // The grants of this moment: the session was read before the write had its turn.
      guard let administrator = try Administrators.present(maker, connection),
        administrator.may(ConsoleAction.previewBulkRemoval.requirements.permission, in: scope)
      else { throw BulkError.denied(.notAllowed) }
      try Self.deleteOldDrafts(of: maker, connection)
      let id =
        try connection.first(
          """
          INSERT INTO bulk_job (scope_key, state, administrator_id, administrator_name, address,
            request_id, created_at)
          VALUES (\(scope.key), 'draft', \(administrator.id.text), \(administrator.displayName),
            \(author.address), \(author.requestID), \(now.microseconds))
          RETURNING job_id
          """
        ) { try $0.value(0) as Int64 } ?? 0
      return (id, administrator)
    }
    var known: Set<ID<Account>> = []
    var (users, factors) = (0, 0)
    var rest = list.lines[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.share)
      rest = rest.dropFirst(Self.share)
      var found = try await store.read(BulkError.self) { connection in
        try part.map { try Sighting($0, in: scope, by: administrator, connection) }
      }
      for index in found.indices {
        guard let account = found[index].account else { continue }
        if !known.insert(account).inserted { found[index].result = .twice }
      }
      let open = found.filter { $0.result == nil }
      users += open.count
      factors += open.reduce(0) { $0 + $1.count }
      let seen = found
      try await store.write(BulkError.self) { connection in
        for one in seen { try one.store(in: id, connection) }
      }
      // Others who wait for this thread go in between.
      await Task.yield()
    }
    let (counted, countedFactors) = (users, factors)
    try await store.write(BulkError.self) { connection in
      _ = try connection.run(
        """
        UPDATE bulk_job SET lines = \(list.lines.count), users = \(counted),
          factors = \(countedFactors)
        WHERE job_id = \(id)
        """)
    }
    return id
  }

  /// Makes room for another draft of a maker.
  private static func deleteOldDrafts(
    of maker: ID<Administrator>, _ connection: borrowing Connection
  ) throws {
    let drafts = try connection.all(
      """
      SELECT job_id FROM bulk_job INDEXED BY bulk_job_drafts
      WHERE state = 'draft' AND created_at > 0 AND administrator_id = \(maker.text)
      ORDER BY created_at, job_id
      """
    ) { try $0.value(0) as Int64 }
    for job in drafts.dropLast(mostDrafts - 1) {
      try connection.run("DELETE FROM bulk_job WHERE job_id = \(job)")
    }
  }

  /// Why an agent cannot act on an account of a list; nil when they can.
  static func obstacle(
    _ account: Account, in scope: Scope, for administrator: Administrator,
    _ connection: borrowing Connection
  ) throws -> BulkResult? {
    switch try SupportAuthorization.refusal(
      of: administrator, on: account, in: scope, needing: .removeFactors, connection)
    {
    case nil: nil
    case .ownAccount: .own
    case .protectedAccount: .protected
    case .changesLocked: .locked
    default: .stopped
    }
  }

  /// A line of a list as it was found.
  private struct Sighting: Sendable {
    let line: BulkList.Line
    var account: ID<Account>?
    var factors = ""
    var count = 0
    var result: BulkResult?

    init(
      _ line: BulkList.Line, in scope: Scope, by administrator: Administrator,
      _ connection: borrowing Connection
    ) throws {
      self.line = line
      guard let found = try Self.find(line.text, in: scope, connection) else {
        result = .notFound
        return
      }
      account = found.id
      factors = found.factors.map(\.id.text).joined(separator: " ")
      count = found.factors.count
      result =
        try BulkRemovals.obstacle(found, in: scope, for: administrator, connection)
        ?? (found.factors.isEmpty ? BulkResult.none : nil)
    }

    private static func find(
      _ text: String, in scope: Scope, _ connection: borrowing Connection
    ) throws -> Account? {
      if text.utf8.contains(UInt8(ascii: "@")),
        let account = try AccountRecord.find(scope, email: text, connection)
      {
        return account
      }
      return try AccountRecord.find(scope, ID(text), connection)
    }

    func store(in job: Int64, _ connection: borrowing Connection) throws {
      try connection.run(
        """
        INSERT INTO bulk_item (job_id, line, given, uid, factors, result)
        VALUES (\(job), \(line.number), \(line.text), \(account?.text), \(factors),
          \(result?.rawValue))
        """)
    }
  }

  // MARK: - Reading

  /// A job of a pool; a draft is there for its maker alone.
  ///
  /// - Throws: ``BulkError``.
  public func find(
    _ id: Int64, in scope: Scope, for agent: ID<Administrator>
  ) async throws(BulkError) -> BulkJob {
    try await store.read(BulkError.self) { connection in
      guard let job = try BulkJob.find(id, in: scope, connection),
        job.state != .draft || job.requester == agent
      else { throw BulkError.notFound }
      return job
    }
  }

  /// The jobs of a pool, the newest first, without drafts.
  ///
  /// - Throws: ``BulkError/unavailable(_:)``.
  public func list(
    _ scope: Scope, after: String? = nil, limit: Int = 50
  ) async throws(BulkError) -> Page<BulkJob> {
    let limit = Page<BulkJob>.size(limit)
    let last = after.flatMap { Int64($0) } ?? .max
    return try await store.read(BulkError.self) { connection in
      let jobs = try connection.all(
        """
        SELECT \(BulkJob.columns) FROM bulk_job INDEXED BY bulk_job_of_scope
        WHERE scope_key = \(scope.key) AND job_id < \(last) AND state <> 'draft'
        ORDER BY job_id DESC LIMIT \(limit + 1)
        """
      ) { try BulkJob($0) }
      return Page(jobs, limit: limit) { String($0.id) }
    }
  }

  /// The lines of a job in order.
  ///
  /// - Parameters:
  ///   - job: The job, as it was found.
  ///   - result: Those that became this; nil for all.
  ///   - isOpen: Those that are still to be come to, and no others.
  ///   - after: The line before.
  ///   - limit: How many.
  /// - Returns: A part of them.
  /// - Throws: ``BulkError/unavailable(_:)``.
  public func items(
    of job: BulkJob, _ result: BulkResult? = nil, isOpen: Bool = false, after: String? = nil,
    limit: Int = 50
  ) async throws(BulkError) -> Page<BulkItem> {
    let limit = Page<BulkItem>.size(limit)
    let last = after.flatMap { Int64($0) } ?? 0
    return try await store.read(BulkError.self) { connection in
      var condition: SQL = "job_id = \(job.id)"
      if isOpen { condition += " AND result IS NULL" }
      if let result { condition += " AND result = \(result.rawValue)" }
      let items = try connection.all(
        """
        SELECT \(BulkItem.columns) FROM bulk_item WHERE \(condition) AND line > \(last)
        ORDER BY line LIMIT \(limit + 1)
        """
      ) { try BulkItem($0) }
      return Page(items, limit: limit) { String($0.line) }
    }
  }

  /// How many lines of a job became what; nil for those that are to be come to.
  ///
  /// - Throws: ``BulkError/unavailable(_:)``.
  public func counts(of job: BulkJob) async throws(BulkError) -> [BulkResult?: Int] {
    try await store.read(BulkError.self) { connection in
      let rows = try connection.all(
        """
        SELECT result, count(*) FROM bulk_item WHERE job_id = \(job.id) GROUP BY result
        """
      ) { row in
        (
          result: (try row.value(0) as String?).flatMap(BulkResult.init(rawValue:)),
          count: try row.value(1) as Int
        )
      }
      return Dictionary(rows.map { ($0.result, $0.count) }) { $0 + $1 }
    }
  }

  /// Forgets drafts that nobody decided, and lines that are no longer kept.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws {
    let draft = now.advanced(bySeconds: -draftLifetime).microseconds
    let ended = now.advanced(bySeconds: -Int64(daysKept) * 86_400).microseconds
    try connection.run(
      """
      DELETE FROM bulk_job WHERE job_id IN (SELECT job_id FROM bulk_job
        WHERE state = 'draft' AND created_at < \(draft) LIMIT 5)
      """)
    try connection.run(
      """
      DELETE FROM bulk_job WHERE job_id IN (SELECT job_id FROM bulk_job
        WHERE ended_at IS NOT NULL AND ended_at < \(ended) LIMIT 5)
      """)
  }
}
