import Database

@testable import Identity
@testable import TestIdentity

/// Bulk removals, approvals, and owners' actions.
extension StateMachine {
  // MARK: - Bulk removals

  /// Previews a list.
  func draft() async throws {
    let agent = anyAgent()
    let pool = dice.pick(pools) ?? pools[0]
    let here = users.indices.filter { users[$0].pool.key == pool.key }
    var named = here.filter { _ in dice.chance(60) }.map { Optional($0) }
    if dice.chance(30) { named.append(nil) }
    if dice.chance(20), let first = named.first { named.append(first) }
    if named.isEmpty { named = [here.first] }
    let text = named.map { $0.map { users[$0].email } ?? "nobody@example.com" }
      .joined(separator: "\n")
    var expectation = Expectation(name: "draft by \(agents[agent].name)")
    let isAllowed = agents[agent].may(.removeFactors, in: pool)
    // The error is wrapped in that of support.
    if !isAllowed { expectation.refusals = ["notAllowed"] }
    var known: Set<Int> = []
    let lines = named.enumerated().map { index, named in
      let user = named.flatMap { users[$0].isGone ? nil : $0 }
      var result: String? = user == nil ? "not-found" : nil
      if let user {
        result = obstacle(user, for: agent) ?? (users[user].factors.isEmpty ? "none" : nil)
        if !known.insert(user).inserted { result = "twice" }
      }
      return SimulatedJob.Line(
        number: index + 1, user: user,
        seen: Set(user.map { users[$0].factors.map(\.id) } ?? []), result: result)
    }
    let (author, session) = (agents[agent].author, agents[agent].session)
    let result = await attempt {
      try await identity.bulkRemovals.draft(
        try BulkList(text), in: pool, by: author, session)
    }
    if isAllowed, case .success(let id) = result {
      let drafts = jobs.indices.filter { jobs[$0].requester == agent && jobs[$0].state == .draft }
      for old in drafts.dropLast(BulkRemovals.mostDrafts - 1) { jobs[old].state = .over }
      jobs.append(
        SimulatedJob(id: id, pool: pool, requester: agent, madeAt: now, lines: lines))
    }
    try await reconcile(expectation, result)
  }

  private func obstacle(_ user: Int, for agent: Int) -> String? {
    switch refusal(of: agent, on: user, needing: .removeFactors, passingLock: false) {
    case nil: nil
    case "ownAccount": "own"
    case "protectedAccount": "protected"
    case "changesLocked": "locked"
    default: "stopped"
    }
  }

  /// Starts a draft.
  func begin() async throws {
    let drafts = jobs.indices.filter { jobs[$0].state == .draft }
    guard let index = dice.pick(drafts) else { return try await draft() }
    let job = jobs[index]
    let agent = dice.chance(85) ? job.requester : anyAgent()
    let settings = settings[job.pool.key] ?? SupportRules()
    let given = try given(by: agent, in: job.pool)
    let left = left(agent, in: job.pool)
    var expectation = Expectation(name: "begin of list \(job.id) by \(agents[agent].name)")
    let waits =
      settings.approvalOverUsers.map { job.users > $0 } ?? false || settings.approvalForLastFactor
      || job.users > left
    var isDone = false
    if agent != job.requester {
      expectation.refusals = ["notFound"]
    } else if job.users == 0 {
      expectation.refusals = ["nothingToDo"]
    } else if !agents[agent].may(.removeFactors, in: job.pool) {
      expectation.refusals = ["notAllowed"]
    } else if admit(given, by: agent, in: job.pool, &expectation) {
      isDone = true
      stepUp(given, agent, &expectation)
      let count = waits ? 1 : job.users
      for _ in 0..<count { agents[agent].acts[job.pool.key, default: []].append(now) }
      expectation.rows.append(
        "\(waits ? "approval.ask" : "bulk.start") by \(agents[agent].name) on \(job.id)")
    }
    let result = await attempt {
      try await identity.bulkRemovals.begin(job.id, in: job.pool, number: "", given.request)
    }
    if isDone, case .success(let outcome) = result {
      keep(outcome.renewed, agent)
      jobs[index].state = waits ? .waiting : .running
      jobs[index].reason = given.reason
      if waits {
        approvals.append(
          SimulatedApproval(
            id: Int64(approvals.count + 1), pool: job.pool, requester: agent, user: nil,
            isOfAll: true, factors: [], allFactors: [], job: index, reason: given.reason,
            expires: now.advanced(bySeconds: 86_400)))
      }
    }
    try await reconcile(expectation, result)
  }

  /// Continues the oldest running bulk removal, as the server does.
  func step() async throws {
    let limit = 1 + dice.below(3)
    var expectation = Expectation(name: "step of \(limit)")
    let running = jobs.indices.filter { jobs[$0].state == .running }.min {
      jobs[$0].id < jobs[$1].id
    }
    let result = await attempt { try await identity.bulkRemovals.step(limit) }
    if let running, !agents[jobs[running].requester].may(.removeFactors, in: jobs[running].pool) {
      // The agent who started it is no longer authorized.
      jobs[running].state = .over
      expectation.rows.append("bulk.stop by server on \(jobs[running].id)")
    } else if let running {
      let job = jobs[running]
      let open = job.lines.indices.filter { job.lines[$0].result == nil }.prefix(limit)
      let removals = try await openRemovals(job.pool)
      for line in open {
        guard let user = job.lines[line].user else { continue }
        let sample = users[user]
        let factors = Set(sample.factors.map(\.id))
        var outcome = "removed"
        if sample.isGone {
          outcome = "not-found"
        } else if let obstacle = obstacle(user, for: job.requester) {
          outcome = obstacle
        } else if factors.isEmpty {
          outcome = "none"
        } else if !job.lines[line].seen.isSuperset(of: factors) {
          outcome = "changed"
        } else {
          expectation.rows.append(
            "factor.remove-all by \(agents[job.requester].name) on \(sample.uid)")
          try applyRemoval(
            factors, of: user, by: job.requester, job.reason,
            hold: removals.first { $0.uid == sample.uid && !isKnown($0.id, user) }
              .map { ($0.id, $0.until) })
        }
        jobs[running].lines[line].result = outcome
      }
      if open.count < limit {
        jobs[running].state = .over
        expectation.rows.append("bulk.finish by server on \(job.id)")
      }
    }
    try await reconcile(expectation, result)
  }

  private func isKnown(_ id: ID<RemovalHold>, _ user: Int) -> Bool {
    users[user].removals.contains { $0.id == id } || users[user].purgedRemovals.contains(id)
  }

  /// Reads the removals that can be undone in a pool, because a bulk removal doesn't return IDs.
  private func openRemovals(
    _ pool: Pool
  ) async throws -> [(uid: String, id: ID<RemovalHold>, until: Instant)] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ DISTINCT a.uid, r.removal_id, r.until
        FROM removed_factor r JOIN account a USING (account_key)
        WHERE a.scope_key = \(pool.key) AND r.until > 0
        """
      ) { row in
        (
          uid: try row.next() as String, id: try row.next(),
          until: try row.next()
        )
      }
    }
  }

  func stop() async throws {
    let running = jobs.indices.filter { jobs[$0].state == .running }
    guard let index = dice.pick(running) else { return try await step() }
    let job = jobs[index]
    let agent = anyAgent { $0.may(.removeFactors, in: job.pool) }
    let expectation = Expectation(
      name: "stop of list \(job.id)", rows: ["bulk.stop by \(agents[agent].name) on \(job.id)"])
    let request = ActionRequest(agent: agents[agent].session, author: agents[agent].author)
    let result = await attempt {
      try await identity.bulkRemovals.stop(job.id, in: job.pool, request)
    }
    jobs[index].state = .over
    try await reconcile(expectation, result)
  }

  // MARK: - Approvals

  func approve() async throws {
    guard let index = anyApproval() else { return try await remove() }
    let approval = approvals[index]
    let agent = dice.chance(75) ? anyAgent() : approval.requester
    let given = try given(by: agent, in: approval.pool)
    let (object, name) = (object(of: approval), agents[agent].name)
    var expectation = Expectation(name: "approve of \(approval.id) by \(name)")
    var change = false
    var isDone = false
    if !approval.isOpen || now >= approval.expires {
      expectation.refusals = ["decided"]
    } else if approval.requester == agent {
      expectation.refusals = ["ownRequest"]
    } else if let obstacle = obstacle(agent, to: approval) {
      expectation.refusals = [obstacle]
    } else if admit(
      given, by: agent, in: approval.pool, &expectation, lookingAtForm: false)
    {
      isDone = true
      stepUp(given, agent, &expectation)
      change = !agents[approval.requester].may(.removeFactors, in: approval.pool)
      if let user = approval.user {
        let factors = Set(users[user].factors.map(\.id))
        change =
          change || users[user].isGone || factors != approval.allFactors
          || refusal(of: approval.requester, on: user, needing: .removeFactors, passingLock: false)
            != nil
        if !change {
          let action = approval.isOfAll ? "factor.remove-all" : "factor.remove"
          expectation.rows.append("\(action) by \(agents[approval.requester].name) on \(object)")
        }
      }
      expectation.rows.append("approval.\(change ? "overtake" : "approve") by \(name) on \(object)")
      if !change { agents[agent].acts[approval.pool.key, default: []].append(now) }
      if change, let job = approval.job { jobs[job].state = .over }
    }
    let result = await attempt {
      try await identity.approvals.approve(approval.id, in: approval.pool, given.request)
    }
    if isDone, case .success(let outcome) = result {
      keep(outcome.renewed, agent)
      approvals[index].isOpen = false
      switch outcome.value {
      case .done(let removal):
        guard let user = approval.user, !change else { throw Broken(what: "a removal was done") }
        try applyRemoval(
          approval.factors, of: user, by: approval.requester, approval.reason, hold: removal.hold)
      case .begun:
        guard let job = approval.job else { throw Broken(what: "a list has begun") }
        jobs[job].state = .running
      case .policyChanged, .requested: throw Broken(what: "no one requested a policy change")
      case .overtaken: guard change else { throw Broken(what: "a request was overtaken") }
      }
    }
    try await reconcile(expectation, result)
  }

  private func anyApproval() -> Int? {
    let open = approvals.indices.filter { approvals[$0].isOpen }
    return dice.chance(90)
      ? open.randomElement(using: &dice) : approvals.indices.randomElement(using: &dice)
  }

  private func obstacle(_ agent: Int, to approval: SimulatedApproval) -> String? {
    if let user = approval.user, !users[user].isGone {
      return refusal(of: agent, on: user, needing: .removeFactors, passingLock: false)
    }
    guard agents[agent].may(.removeFactors, in: approval.pool) else { return "notAllowed" }
    let lines = approval.job.map { jobs[$0].lines } ?? []
    let own = lines.contains { line in
      line.user.map { user in
        !users[user].isGone && users[user].email == agents[agent].administrator.email
      } ?? false
    }
    if own { return "ownAccount" }
    let protects = lines.contains { line in
      line.result == nil
        && line.user.map { !users[$0].isGone && users[$0].isProtected } ?? false
    }
    return protects && !agents[agent].may(.protectUsers, in: approval.pool)
      ? "protectedAccount" : nil
  }

  /// Rejects a request, or withdraws the agent's own.
  func refuse() async throws {
    guard let index = anyApproval() else { return try await remove() }
    let approval = approvals[index]
    let isRefusal = dice.chance(65)
    let agent = dice.chance(isRefusal ? 85 : 40) ? anyAgent() : approval.requester
    let given = try given(by: agent, in: approval.pool)
    var expectation = Expectation(
      name: "\(isRefusal ? "refuse" : "take-back") of \(approval.id) by \(agents[agent].name)")
    if !approval.isOpen || now >= approval.expires {
      expectation.refusals = ["decided"]
    } else if isRefusal, approval.requester == agent {
      expectation.refusals = ["ownRequest"]
    } else if !isRefusal, approval.requester != agent {
      expectation.refusals = ["othersRequest"]
    } else if isRefusal, !agents[agent].may(.removeFactors, in: approval.pool) {
      expectation.refusals = ["notAllowed"]
    } else if !isRefusal
      || admit(
        given, by: agent, in: approval.pool, &expectation, onlyCode: true)
    {
      if isRefusal { stepUp(given, agent, &expectation) }
      let action = isRefusal ? "approval.refuse" : "approval.withdraw"
      expectation.rows.append("\(action) by \(agents[agent].name) on \(object(of: approval))")
      approvals[index].isOpen = false
      if let job = approval.job { jobs[job].state = .over }
    }
    let result: Result<ActionOutcome<Void>?, any Error> = await attempt {
      if isRefusal {
        return try await identity.approvals.refuse(
          approval.id, in: approval.pool, answer: "no", given.request)
      }
      try await identity.approvals.withdraw(
        approval.id, in: approval.pool, given.request)
      return nil
    }
    if case .success(let outcome?) = result { keep(outcome.renewed, agent) }
    try await reconcile(expectation, result)
  }

  // MARK: - Owners

  /// Unblocks an agent, as an owner.
  func unblock() async throws {
    let owner = anyAgent { $0.isOwner }
    let held = agents.indices.filter { !agents[$0].heldIn.isEmpty && !agents[$0].isRemoved }
    let agent = dice.pick(held) ?? anyAgent()
    let key = dice.pick(agents[agent].heldIn.sorted()) ?? pools[0].key
    let pool = pools.first { $0.key == key } ?? pools[0]
    let isHeld = agents[agent].heldIn.contains(pool.key)
    var expectation = Expectation(name: "release of \(agents[agent].name) by \(agents[owner].name)")
    if owner == agent {
      expectation.refusals = ["notAllowed"]
    } else if isHeld {
      expectation.rows = ["support.release by \(agents[owner].name) on \(agents[agent].id)"]
      agents[agent].heldIn.remove(pool.key)
      agents[agent].acts[pool.key] = []
    }
    let (id, author) = (agents[agent].administrator.id, agents[owner].author)
    let result = await attempt {
      try await identity.support.unblock(id, in: pool, by: .program(author))
    }
    try await reconcile(expectation, result)
  }

  /// Changes a pool's support rules.
  func changeSettings() async throws {
    try await changeSettings(of: dice.pick(pools) ?? pools[0]) { settings in
      switch dice.below(8) {
      case 0: settings.undoHours = dice.pick([0, 1, 72]) ?? 72
      case 1: settings.actionsPerHour = dice.pick([2, 4, 20]) ?? 20
      case 2: settings.temporaryCodes.toggle()
      case 3: settings.recoveryCodes.toggle()
      case 4, 5: settings.approvalForLastFactor.toggle()
      case 6: settings.approvalOverUsers = dice.pick([nil, 0, 1]) ?? nil
      default:
        settings.codeCap = dice.pick([5, 6, 10]) ?? 10
        settings.identityProof = dice.chance(50) ? [] : ["passport"]
      }
    }
  }

  /// Sets random support rules at the start of a run.
  func changeSomeSettings(of pool: Pool) async throws {
    try await changeSettings(of: pool) { settings in
      settings.temporaryCodes = dice.chance(70)
      settings.recoveryCodes = dice.chance(70)
      settings.approvalForLastFactor = dice.chance(25)
    }
  }

  private func changeSettings(
    of pool: Pool, _ change: (inout SupportRules) -> Void
  ) async throws {
    let agent = anyAgent { $0.may(.editSupportRules, in: pool) }
    let old = settings[pool.key] ?? SupportRules()
    var new = old
    change(&new)
    var expectation = Expectation(name: "settings by \(agents[agent].name)")
    if new != old {
      expectation.rows = ["support.change by \(agents[agent].name) on \(pool.objectID)"]
    }
    let (settings, author) = (new, agents[agent].author)
    let result = await attempt {
      try await identity.support.change(pool, to: settings, by: .program(author))
    }
    self.settings[pool.key] = new
    try await reconcile(expectation, result)
  }
}
