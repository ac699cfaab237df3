import Database

extension BulkRemovals {
  /// The maximum number of enrollment links to many users, per hour and pool.
  public static let mostLinks = 500

  /// Previews enrollment links to the users without second factors that a list of a pool shows.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    linksToAll listing: AccountListing, in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    var listing = listing
    listing.filter = .none
    let users = try await users(of: listing, in: pool, atMost: Self.mostLinks, agent)
    guard !users.isEmpty else { throw BulkError.nothingToDo }
    let entries = users.enumerated().map { Entry.account($1, number: $0 + 1) }
    return try await draft(entries, .links, in: pool, by: author, agent)
  }

  /// Previews enrollment links to the selected users of a pool.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    linksTo users: [ID<Account>], in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    guard users.count <= Self.mostLinks else { throw BulkError.tooLong }
    let entries = users.enumerated().map { Entry.account($1, number: $0 + 1) }
    return try await draft(entries, .links, in: pool, by: author, agent)
  }

  /// Returns what keeps a user from being sent a link; nil if nothing does.
  static func obstacle(
    toLinkOf account: Account, _ policy: StoredPolicy, for administrator: Administrator,
    _ connection: borrowing Connection
  ) throws -> BulkResult? {
    let obstacle = obstacle(
      to: BulkJob.Kind.links.single, on: account, in: policy.pool, for: administrator)
    if let obstacle { return obstacle }
    guard account.factors.isEmpty else { return .changed }
    return try EnrollmentLinks.canSend(to: account, under: policy, connection)
      ? nil : .notEligible
  }

  /// Sends one user a link under the same rules as a single link.
  func sendLink(
    to account: Account, _ job: BulkJob, _ administrator: Administrator, _ policy: StoredPolicy,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> BulkResult {
    let pool = policy.pool
    let obstacle = try Self.obstacle(
      toLinkOf: account, policy, for: administrator, connection)
    if let obstacle { return obstacle }
    guard let email = account.email else { return .notEligible }
    let until = try HourlyQuota.take(
      .enrollmentLinks(in: pool.key), limit: Self.mostLinks, at: now, connection)
    guard until == nil else { return .overLimit }
    var entry = try EnrollmentLinks.mail(
      to: account, email, from: job.requesterName, in: pool, store, at: now, connection)
    entry.justify(by: job)
    try entry.record(by: job.author, at: now, connection)
    return .sent
  }
}

extension BulkJob {
  func entry(_ action: AuditAction, in pool: Pool) -> AuditEntry {
    AuditEntry(action, kind.object, String(id), name: "", in: pool)
  }
}

extension AuditEntry {
  /// Adds the reason and proof of an action on many users, who approved it, and its number.
  mutating func justify(by job: BulkJob) {
    justify(job.reason, note: job.note, ticket: job.ticket, proof: job.proof)
    if let approver = job.approverName { add(.approver, .text(approver)) }
    add(job.kind.field, .number(Int(job.id)))
  }
}
