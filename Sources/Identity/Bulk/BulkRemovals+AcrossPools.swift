import Database

extension BulkRemovals {
  /// Finds a bulk removal across pools, with the parts that the administrator can act in; a draft
  /// can be found only by its creator.
  ///
  /// - Throws: ``BulkError``.
  public func group(
    _ id: Int64, for agent: ID<Administrator>
  ) async throws(BulkError) -> BulkGroup {
    let now = store.clock.now()
    return try await store.read(BulkError.self) { connection in
      guard let group = try BulkGroup.find(id, for: agent, at: now, connection) else {
        throw BulkError.notFound
      }
      return group
    }
  }

  /// Lists the bulk removals across pools that an administrator can see, newest first, without
  /// drafts.
  ///
  /// - Parameters:
  ///   - agent: The administrator who asks.
  ///   - after: The cursor of the previous page.
  ///   - limit: The maximum number of bulk removals.
  /// - Returns: A page of bulk removals.
  /// - Throws: ``BulkError/unavailable(_:)``.
  public func groups(
    for agent: ID<Administrator>, after: String? = nil, limit: Int = 50
  ) async throws(BulkError) -> Page<BulkGroup> {
    let limit = Page<BulkGroup>.size(limit)
    let last = after.flatMap { Int64($0) } ?? .max
    let now = store.clock.now()
    return try await store.read(BulkError.self) { connection in
      guard let administrator = try Administrators.present(agent, at: now, connection) else {
        return Page(items: [], next: nil)
      }
      // A part that isn't a draft means that the removal was started.
      let ids = try connection.all(
        """
        SELECT g.group_id FROM bulk_group g WHERE g.group_id < \(last) AND EXISTS (
          SELECT 1 FROM bulk_job j \(SQL.orderedJoin) scope s ON s.scope_key = j.scope_key
          WHERE j.group_id = g.group_id AND j.state <> 'draft'
            AND (\(BulkGroup.isVisible(to: administrator))))
        ORDER BY g.group_id DESC LIMIT \(limit + 1)
        """
      ) { try $0.value(0) as Int64 }
      let page = Page(ids, limit: limit) { String($0) }
      return Page(
        items: try page.items.compactMap {
          try BulkGroup.find($0, for: agent, at: now, connection)
        }, next: page.next)
    }
  }

  /// Returns what starting parts of a bulk removal, or undoing them, requires of an agent.
  ///
  /// - Parameters:
  ///   - agent: The agent's session.
  ///   - parts: The parts that the agent can choose from.
  ///   - chosen: The numbers of the jobs of the parts that the agent chose; nil for all.
  /// - Returns: The requirements of all parts, and the parts that are selected.
  /// - Throws: ``BulkError``.
  public func eligibility(
    _ agent: ConsoleSession, on parts: [BulkGroup.Part], only chosen: Set<Int64>? = nil
  ) async throws(BulkError) -> BulkGroupEligibility {
    let now = store.clock.now()
    return try await store.read(BulkError.self) { connection in
      var approvals: [Int64: Approval.Cause] = [:]
      var blocked: Set<Int64> = []
      var held: Set<Int64> = []
      var rules: [Int64: SupportRules] = [:]
      var needsCode = false
      for part in parts {
        let eligibility = try authorization.eligibility(agent, in: part.scope, at: now, connection)
        rules[part.job.id] = eligibility.settings
        needsCode = eligibility.asksForCode
        if eligibility.actionsLeft == 0 { blocked.insert(part.job.id) }
        if eligibility.isHeld { held.insert(part.job.id) }
        approvals[part.job.id] = try Approval.Cause(
          users: part.job.users, left: eligibility.actionsLeft, eligibility.settings,
          in: part.scope,
          at: now, connection)
      }
      var settings = SupportRules(checksOf: parts.compactMap { rules[$0.job.id] })
      // The limit that the agent hit.
      settings.actionsPerHour =
        blocked.compactMap { rules[$0]?.actionsPerHour }.min() ?? settings.actionsPerHour
      let form = SupportEligibility(
        settings: settings, asksForCode: needsCode,
        actionsLeft: parts.count - blocked.count, isHeld: held.count == parts.count, refusal: nil)
      var together = form
      if !blocked.isEmpty { (together.actionsLeft, together.isHeld) = (0, !held.isEmpty) }
      let open = parts.filter { !blocked.contains($0.job.id) }
      let selected = open.filter { chosen?.contains($0.job.id) ?? true }
      let counted = [selected, open].first { !$0.isEmpty } ?? parts
      return BulkGroupEligibility(
        form: form, together: together, approvals: approvals, blocked: blocked, selected: counted,
        undoHours: counted.compactMap { rules[$0.job.id]?.undoHours }.min() ?? 0)
    }
  }

  /// Starts the chosen parts of a draft together, or requests approval in pools that require it.
  ///
  /// Every pool's rules apply to its users: its identity checks, its hourly limit, and its approvals.
  /// The agent re-authenticates once.
  ///
  /// - Parameters:
  ///   - id: The draft.
  ///   - chosen: The numbers of the jobs to start; the others are deleted, including those in pools
  ///     where the agent can't act now.
  ///   - number: The number of users, as typed by the agent; required if
  ///     ``BulkGroupEligibility/asksForNumber(_:)`` returns true.
  ///   - request: The agent and their reason.
  /// - Returns: The bulk removal. If it was already started, it's unchanged.
  /// - Throws: ``BulkError``.
  public func begin(
    group id: Int64, only chosen: Set<Int64>, number: String, _ request: ActionRequest
  ) async throws(BulkError) -> ActionOutcome<BulkGroup> {
    let now = store.clock.now()
    let agent = request.agent.administrator.id
    let outcome: Result<ActionOutcome<BulkGroup>, BulkError> = try await store.write(
      BulkError.self
    ) { connection in
      guard let group = try BulkGroup.find(id, for: agent, at: now, connection),
        group.requester == agent
      else { throw BulkError.notFound }
      guard group.isDraft else { return .success(ActionOutcome(value: group, renewed: nil)) }
      let parts = group.parts.filter { chosen.contains($0.job.id) && $0.job.users > 0 }
      guard !parts.isEmpty else { throw BulkError.nothingToDo }
      let rules = try parts.map { try SupportRules.find($0.scope, connection) }
      let users = parts.users
      let isConfirmed =
        !BulkGroupEligibility.asksForNumber(
          users, request.reason, undoHours: rules.map(\.undoHours).min() ?? 0)
        || number.filter(\.isWholeNumber) == String(users)
      // Read before the limits are checked, which records a block.
      let left = try zip(parts, rules).map { part, rules in
        try authorization.left(for: agent, rules, in: part.scope, at: now, connection)
      }
      let renewed: NewConsoleSession?
      switch try authorization.admit(
        .startBulkRemoval, request,
        to: zip(parts, rules).map { (scope: $0.scope, rules: $1) },
        isConfirmed ? [] : [.notConfirmed], at: now, connection)
      {
      case .failure(let error): return .failure(.denied(error))
      case .success(let session): renewed = session
      }
      for (index, part) in parts.enumerated() {
        try start(
          part.job, request, rules[index], left: left[index], in: part.scope, at: now, connection)
      }
      try Self.close(group, at: now, connection)
      guard let begun = try BulkGroup.find(id, for: agent, at: now, connection) else {
        throw BulkError.notFound
      }
      return .success(ActionOutcome(value: begun, renewed: renewed))
    }
    return try outcome.get()
  }

  /// Deletes the drafts that weren't started, and ends those without users to act on, whose lines
  /// say why.
  ///
  /// A draft in a pool where the agent can't act now mustn't be left: it would make all parts
  /// startable again.
  private static func close(
    _ group: BulkGroup, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let seen = Set(group.parts.map(\.job.id))
    for job in try BulkGroup.jobs(of: group.id, connection) where job.state == .draft {
      guard job.users == 0, seen.contains(job.id) else {
        try connection.run(
          "DELETE FROM bulk_job WHERE scope_key = \(job.scopeKey) AND job_id = \(job.id)")
        continue
      }
      try connection.run(
        """
        UPDATE bulk_job SET state = 'done', ended_at = \(now.microseconds)
        WHERE scope_key = \(job.scopeKey) AND job_id = \(job.id)
        """)
    }
  }

  /// Stops the running parts of a bulk removal; the remaining users aren't processed.
  ///
  /// - Returns: Whether a part was running, and the number of parts that are pending approval.
  /// - Throws: ``ActionError``.
  @discardableResult
  public func stop(
    group id: Int64, _ request: ActionRequest
  ) async throws(ActionError<BulkError>) -> (isStopped: Bool, pending: Int) {
    let group: BulkGroup
    do {
      group = try await self.group(id, for: request.agent.administrator.id)
    } catch { throw .failed(error) }
    var isAny = false
    for part in group.parts where part.job.state == .running {
      let isStopped = try await stop(part.job.id, in: part.scope, request)
      isAny = isAny || isStopped
    }
    return (isAny, group.parts.count { $0.job.state == .waiting })
  }

  /// Lists the users of a bulk removal in present pools by pool and line, with their names.
  ///
  /// - Parameters:
  ///   - group: The bulk removal.
  ///   - after: The cursor of the previous page.
  ///   - limit: The maximum number of users.
  /// - Returns: A page of users.
  /// - Throws: ``BulkError/unavailable(_:)``.
  public func users(
    of group: BulkGroup, after: String? = nil, limit: Int = 50
  ) async throws(BulkError) -> Page<BulkGroupItem> {
    let limit = Page<BulkGroupItem>.size(limit)
    let place = (after ?? "").split(separator: "-").compactMap { Int64($0) }
    let (job, line) = place.count == 2 ? (place[0], place[1]) : (0, 0)
    return try await store.read(BulkError.self) { connection in
      var found: [BulkGroupItem] = []
      for part in group.parts where part.job.id >= job && found.count <= limit {
        guard !part.isDeleted else { continue }
        let first = part.job.id == job ? line : 0
        let items = try connection.all(
          """
          SELECT \(BulkItem.columns) FROM bulk_item
          WHERE scope_key = \(part.scope.key) AND job_id = \(part.job.id) AND line > \(first)
          ORDER BY line LIMIT \(limit + 1 - found.count)
          """
        ) { try BulkItem($0) }
        for item in items {
          let account = try item.account.flatMap {
            try AccountRecord.find(part.scope, $0, connection)
          }
          found.append(BulkGroupItem(item: item, part: part, name: account?.label))
        }
      }
      return Page(found, limit: limit) { "\($0.part.job.id)-\($0.item.line)" }
    }
  }
}

/// A user of a bulk removal across pools.
public struct BulkGroupItem: Sendable {
  /// The line with its result.
  public let item: BulkItem
  /// The part of the user's pool.
  public let part: BulkGroup.Part
  /// The user's email address or name; nil if the user is gone.
  public let name: String?
}
