import Database
import Identity
import Testing

extension [AuditRow] {
  func tally(of action: AuditAction) -> Int { count { $0.action == action } }
}

extension Instance {
  /// Removes the factors of one enrolled user of a pool.
  func removed(
    from pool: Pool? = nil, by agent: Agent, _ reason: SupportReason = .lost
  ) async throws -> Int64 {
    try await addUsers(1, in: pool)
    let id = try await draft("user-0@example.com", by: agent, in: pool)
    try await begin(id, by: agent, reason, in: pool)
    try await runAll()
    return id
  }

  /// Returns a bulk removal with what's known about its undo.
  func progress(of id: Int64, by agent: Agent) async throws -> BulkProgress {
    try await identity.bulkRemovals.progress(of: try await job(id, by: agent), in: acme)
  }

  /// Returns the number of second factors of the user with a uid.
  func factors(of uid: String) async throws -> Int {
    try await identity.accounts.find(acme, ID(uid))?.factors.count ?? 0
  }

  /// Returns the removal of a user's factors that can still be undone.
  func hold(of uid: String, in pool: Pool) async throws -> ID<RemovalHold> {
    let id = try await database.read { connection in
      try connection.first(
        """
        SELECT /* test */ r.removal_id FROM removed_factor r JOIN account a USING (account_key)
        WHERE a.scope_key = \(pool.key) AND a.uid = \(uid) AND r.until > 0
        """
      ) { try $0.next() as String }
    }
    return ID(id ?? "none")
  }

  func count(_ table: String) async throws -> Int {
    try await database.read { connection in
      let counts = try connection.all(
        """
        SELECT /* test */ 'bulk_item', count(*) FROM bulk_item
        UNION ALL SELECT 'approval', count(*) FROM approval
        UNION ALL SELECT 'policy_weakening', count(*) FROM policy_weakening
        """
      ) { row in (try row.next() as String, try row.next() as Int) }
      return Dictionary(uniqueKeysWithValues: counts)[table] ?? 0
    }
  }
}

extension Instance {
  /// Creates a draft of a campaign for all users without second factors.
  func draftLinks(by agent: Agent) async throws -> Int64 {
    try await identity.bulkRemovals.draft(
      campaignFor: AccountListing(), in: acme, by: agent.author, agent.session)
  }

  /// Sends all users without second factors a campaign's link, and returns the campaign.
  func campaign(by agent: Agent, sentence: String = "") async throws -> BulkJob {
    let terms = try #require(CampaignTerms(days: 7, reminds: true, sentence: sentence))
    let job = try await begin(try await draftLinks(by: agent), by: agent, .other, terms: terms)
    try await runAll()
    return job
  }

  /// Returns the newest code that the page of a campaign's link has emailed.
  func emailedCode() async throws -> String {
    let mail = try #require(try await mails("link-code").last)
    let codes = mail.body.split(separator: "\n").map { String($0.filter { $0 != " " }) }
    return try #require(codes.first { $0.count == 8 && $0.allSatisfy(\.isNumber) })
  }
}
