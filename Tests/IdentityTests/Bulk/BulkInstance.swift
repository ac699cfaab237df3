import Database
import Identity

extension [AuditRow] {
  func tally(of action: AuditAction) -> Int { count { $0.action == action } }
}

extension Instance {
  /// Previews a list of addresses in all pools that an agent can search.
  func draft(across text: String, by agent: Agent) async throws -> Int64 {
    try await identity.bulkRemovals.draft(
      across: try BulkList(text), by: agent.author, agent.session)
  }

  func group(_ id: Int64, by agent: Agent) async throws -> BulkGroup {
    try await identity.bulkRemovals.group(id, for: agent.administrator.id)
  }

  /// Starts all parts of a draft.
  @discardableResult
  func begin(
    group id: Int64, by agent: Agent, _ reason: SupportReason = .lost, number: String = "",
    proofs: Set<String> = [], code: String = ""
  ) async throws -> BulkGroup {
    let parts = try await group(id, by: agent).parts
    return try await identity.bulkRemovals.begin(
      group: id, only: Set(parts.map(\.job.id)), number: number,
      agent.request(reason, note: "theft", proofs: proofs, code: code)
    ).value
  }

  /// Removes the factors of one enrolled user in each of several pools.
  func removed(
    from pools: [Scope], by agent: Agent, _ reason: SupportReason = .lost
  ) async throws -> Int64 {
    for pool in pools { try await addUsers(1, in: pool) }
    let id = try await draft(across: "user-0@example.com", by: agent)
    try await begin(group: id, by: agent, reason)
    try await runAll()
    return id
  }

  /// Returns the results of the users of a bulk removal, in the order of its pools.
  func results(of group: BulkGroup) async throws -> [String] {
    try await identity.bulkRemovals.users(of: group, limit: 100).items.map {
      $0.item.result?.rawValue ?? "open"
    }
  }

  /// Returns the number of second factors of the user with a uid in each of several pools.
  func factors(of uid: String, in pools: [Scope]) async throws -> [Int] {
    var counts: [Int] = []
    for pool in pools {
      counts.append(try await identity.accounts.find(pool, ID(uid))?.factors.count ?? 0)
    }
    return counts
  }

  /// Returns the removal of a user's factors that can still be undone.
  func hold(of uid: String, in scope: Scope) async throws -> ID<RemovalHold> {
    let id = try await database.read { connection in
      try connection.first(
        """
        SELECT /* test */ r.removal_id FROM removed_factor r JOIN account a USING (account_key)
        WHERE a.scope_key = \(scope.key) AND a.uid = \(uid) AND r.until > 0
        """
      ) { try $0.value(0) as String }
    }
    return ID(id ?? "none")
  }

  func count(_ table: String) async throws -> Int {
    try await database.read { connection in
      let counts = try connection.all(
        """
        SELECT /* test */ 'bulk_item', count(*) FROM bulk_item
        UNION ALL SELECT 'bulk_group', count(*) FROM bulk_group
        UNION ALL SELECT 'approval', count(*) FROM approval
        UNION ALL SELECT 'policy_weakening', count(*) FROM policy_weakening
        """
      ) { row in (try row.value(0) as String, try row.value(1) as Int) }
      return Dictionary(uniqueKeysWithValues: counts)[table] ?? 0
    }
  }
}
