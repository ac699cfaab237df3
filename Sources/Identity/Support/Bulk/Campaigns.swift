import Database

extension BulkRemovals {
  /// The maximum number of campaigns' emails per hour and pool; the rest waits.
  public static let mostLinks = 500

  /// The number of seconds after a user's first link without a reminder: an hour less than a day, since
  /// links aren't sent at once.
  private static let unreminded: Int64 = 82_800

  /// Returns what keeps a user from being sent a link; nil if nothing does.
  static func obstacle(
    toLinkOf account: Account, _ policy: StoredPolicy, for administrator: Administrator,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> BulkResult? {
    let obstacle = obstacle(
      to: BulkJob.Kind.campaign.single, on: account, in: policy.pool, for: administrator)
    if let obstacle { return obstacle }
    guard account.factors.isEmpty else { return .changed }
    if try EnrollmentLinks.canSend(to: account, under: policy, connection) {
      return try Exemptions.isExempt(account.key, at: now, connection) ? .exempt : nil
    }
    if account.disabled || policy.pool.isDisabled { return .disabled }
    if account.email == nil { return .noEmail }
    return account.emailVerified ? .notEligible : .unverified
  }

  /// Processes a part of a campaign that has something to do: links, reminders, or its end.
  func campaignStep(_ limit: Int, report: (Failure) -> Void) async throws -> Bool {
    let isAny = try await store.read { now, connection in
      try Self.nextCampaign(at: now, connection) != nil
    }
    guard isAny else { return false }
    return try await write(limit, report: report, skip: skipCampaignUser) {
      try runCampaign($0, at: $1, $2)
    }
  }

  private func skipCampaignUser(_ failure: BulkLineFailure) async throws {
    guard let reminder = failure.reminder else { return try await skip(failure) }
    try await store.write { connection in
      _ = try connection.run(
        """
        UPDATE campaign_user SET reminders = \(reminder)
        WHERE scope_key = \(failure.poolKey) AND job_id = \(failure.job)
          AND account_key = \(failure.line) AND reminders < \(reminder)
        """)
    }
  }

  private static func nextCampaign(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> BulkJob? {
    try connection.first(
      """
      SELECT \(BulkJob.columns) FROM bulk_job \(index: "bulk_job_running")
      WHERE state = 'running' AND kind = 'campaign' AND (next_at IS NULL OR next_at <= \(now))
      ORDER BY job_id LIMIT 1
      """
    ) { try BulkJob(&$0) }
  }

  private func runCampaign(
    _ limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let job = try Self.nextCampaign(at: now, connection), let terms = job.terms,
      let start = job.startedAt
    else { return false }
    guard let (policy, administrator) = try Self.authority(for: job, at: now, connection) else {
      return true
    }
    let end = terms.end(from: start)
    guard now < end else {
      try connection.run(
        """
        UPDATE bulk_item SET result = \(BulkResult.stopped)
        WHERE scope_key = \(job.poolKey) AND job_id = \(job.id) AND result IS NULL
        """)
      try Self.finish(job.id, in: policy.pool, at: now, connection)
      return true
    }
    let reminders = terms.reminders(from: start)
    let due = reminders.count { $0 <= now }
    let campaign = Campaign(
      job: job, policy: policy, administrator: administrator, reminder: due,
      missed: reminders.count { $0 < now.advanced(bySeconds: Self.unreminded) })
    let part = try send(campaign, limit, at: now, connection)
    let rest =
      part.isFull || part.waitsUntil != nil
      ? part : try remind(campaign, limit, at: now, connection)
    let next = rest.isFull ? now : rest.waitsUntil ?? reminders.first { $0 > now } ?? end
    try connection.run(
      """
      UPDATE bulk_job SET users_done = users_done + \(part.done),
        users_removed = users_removed + \(part.sent), next_at = \(min(next, end))
      WHERE scope_key = \(job.poolKey) AND job_id = \(job.id)
      """)
    return true
  }

  private struct Campaign {
    let job: BulkJob
    let policy: StoredPolicy
    let administrator: Administrator
    /// The number of the reminder that's due; 0 if none is yet.
    let reminder: Int
    /// The number of the last reminder that's within a user's first day from now.
    let missed: Int
  }

  private struct Part {
    var done = 0
    var sent = 0
    /// Whether there may be more to do now.
    var isFull = false
    /// When the pool's users can be sent more emails; nil if they can be now.
    var waitsUntil: Instant?
  }

  private func send(
    _ campaign: Campaign, _ limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Part {
    let job = campaign.job
    let items = try Self.open(job, limit: limit, connection)
    var part = Part(isFull: items.count == limit)
    for item in items {
      let result = try BulkLineFailure.catching(job.poolKey, job.id, item.line) {
        () -> BulkResult? in
        guard let id = item.account,
          let account = try AccountRecord.find(campaign.policy.pool, id, connection)
        else { return .notFound }
        return try send(to: account, campaign, waiting: &part, at: now, connection)
      }
      guard let result else {
        part.isFull = false
        break
      }
      try Self.reconcile(item, Outcome(result: result), in: job, connection)
      part.done += 1
      part.sent += (result == .sent).number
    }
    return part
  }

  /// Sends each user a reminder who hasn't enrolled, and has no link of a later campaign.
  private func remind(
    _ campaign: Campaign, _ limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Part {
    let job = campaign.job
    let accounts = try connection.all(
      """
      SELECT account_key FROM campaign_user
      WHERE scope_key = \(job.poolKey) AND job_id = \(job.id) AND enrolled_at IS NULL
        AND reminders < \(campaign.reminder)
      ORDER BY account_key LIMIT \(limit)
      """
    ) { try $0.next() as Int64 }
    var part = Part(isFull: accounts.count == limit)
    for key in accounts {
      try BulkLineFailure.catching(
        job.poolKey, job.id, Int(key), reminder: campaign.reminder
      ) {
        guard let account = try AccountRecord.find(key: key, connection),
          try !UserLink.hasLink(of: account, after: job.id, at: now, connection)
        else { return try reminded(key, campaign, connection) }
        if try send(to: account, campaign, waiting: &part, at: now, connection) != nil {
          try reminded(key, campaign, connection)
        }
      }
      if part.waitsUntil != nil {
        part.isFull = false
        break
      }
    }
    return part
  }

  private func reminded(
    _ account: Int64, _ campaign: Campaign, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE campaign_user SET reminders = \(campaign.reminder)
      WHERE scope_key = \(campaign.job.poolKey) AND job_id = \(campaign.job.id)
        AND account_key = \(account)
      """)
  }

  /// Sends one user a link under the same rules as a single link.
  ///
  /// - Returns: The result; nil if the pool's users were sent as many as an hour allows.
  private func send(
    to account: Account, _ campaign: Campaign, waiting part: inout Part, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> BulkResult? {
    let (job, policy) = (campaign.job, campaign.policy)
    let obstacle = try Self.obstacle(
      toLinkOf: account, policy, for: campaign.administrator, at: now, connection)
    if let obstacle { return obstacle }
    guard let email = account.email else { return .noEmail }
    part.waitsUntil = try HourlyQuota.take(
      .enrollmentLinks(in: policy.pool.key), limit: Self.mostLinks, at: now, connection)
    guard part.waitsUntil == nil else { return nil }
    var entry = try EnrollmentLinks.mail(
      to: account, email, from: job.requesterName, of: job.link, in: policy.pool, store,
      at: now, connection)
    try connection.run(
      """
      INSERT INTO campaign_user (scope_key, job_id, account_key, sent_at, reminders)
      VALUES (\(job.poolKey), \(job.id), \(account.key), \(now), \(campaign.missed))
      ON CONFLICT (scope_key, job_id, account_key) DO UPDATE SET sent_at = excluded.sent_at
      """)
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
