import Crypto
import Database
import OTP
import Text

@testable import Identity
@testable import TestIdentity

/// Support actions on one user's factors.
extension StateMachine {
  /// An agent's input for an action, with the expected validation errors.
  struct Given {
    let request: ActionRequest
    let reason: SupportReason
    let isFaulty: Bool
    /// The kind of code entered, or nil if none is required.
    let code: Code?
    let step: Int64

    enum Code { case missing, wrong, right }
  }

  func given(by agent: Int, in pool: Pool, reason: SupportReason? = nil) throws -> Given {
    let sample = agents[agent]
    let settings = settings[pool.key] ?? SupportRules()
    let reason =
      reason ?? dice.pick(SupportReason.allCases.filter { $0 != .other || dice.chance(50) })
      ?? .lost
    let isDue = now.seconds - sample.provedAt.seconds >= 15 * 60
    let step = now.seconds / 30
    var code: Given.Code?
    if isDue {
      let isFree = step > sample.lastStep
      let mayFail = sample.wrongCodes < 3
      code = dice.chance(80) && isFree ? .right : mayFail && dice.chance(50) ? .wrong : .missing
    }
    let isFaulty = dice.chance(4)
    var proofs = Set(settings.identityProof)
    if isFaulty, !proofs.isEmpty { proofs = [] }
    let lacksReason = isFaulty && settings.identityProof.isEmpty
    let typed =
      switch code {
      case .right: try sample.code(step: step)
      case .wrong: try sample.code(step: step - 40)
      case .missing, nil: ""
      }
    return Given(
      request: ActionRequest(
        agent: sample.session, author: sample.author, reason: lacksReason ? nil : reason,
        note: "because", ticket: dice.chance(30) ? "T-1" : "",
        proofs: Set(proofs.map { UntrustedText($0) }), proof: .code(TypedCode(typed))),
      reason: reason, isFaulty: isFaulty, code: code, step: step)
  }

  /// Returns why an agent can't act on a user, whatever their input.
  func refusal(
    of agent: Int, on user: Int, needing permission: Permission, passingLock: Bool
  ) -> String? {
    let (agent, user) = (agents[agent], users[user])
    if user.isGone { return "accountNotFound" }
    guard agent.may(permission, in: user.pool) else { return "notAllowed" }
    if agent.administrator.email == user.email { return "ownAccount" }
    if user.isProtected, !agent.may(.protectUsers, in: user.pool) { return "protectedAccount" }
    return user.isLocked && !passingLock ? "changesLocked" : nil
  }

  /// Returns the number of actions that an agent has left in a pool.
  func left(_ agent: Int, in pool: Pool) -> Int {
    if agents[agent].heldIn.contains(pool.key) { return 0 }
    let since = now.advanced(bySeconds: -3_600)
    let done = (agents[agent].acts[pool.key] ?? []).count { $0 > since }
    return max(0, (settings[pool.key] ?? SupportRules()).actionsPerHour - done)
  }

  /// Sets the expected results of the checks on blocks, input, and code; returns true if all pass.
  func admit(
    _ given: Given, by agent: Int, in pool: Pool, _ expectation: inout Expectation,
    lookingAtForm: Bool = true, onlyCode: Bool = false, fault: String? = nil
  ) -> Bool {
    let id = agents[agent].id
    if !onlyCode, left(agent, in: pool) == 0 {
      expectation.refusals = ["held"]
      if agents[agent].heldIn.insert(pool.key).inserted {
        expectation.rows = ["support.hold by server on \(id)"]
        expectation.changes = ["support_hold", "audit"]
      }
      return false
    }
    let isFaulty = given.isFaulty && lookingAtForm && !onlyCode
    if isFaulty || fault != nil {
      let form = isFaulty ? ["reasonRequired", "proofMissing"] : [nil]
      let code: String? =
        switch given.code {
        case nil: nil
        case .missing: "codeRequired"
        // The code is neither used up nor counted as wrong.
        case .wrong, .right: "codeNotLookedAt"
        }
      expectation.refusals = form.map { own in
        [fault, own, code].compactMap { $0 }.joined(separator: "+")
      }
      return false
    }
    switch given.code {
    case nil, .right: return true
    case .missing:
      expectation.refusals = ["codeRequired"]
      return false
    case .wrong:
      expectation.refusals = ["wrongCode"]
      expectation.rows = ["administrator.code-refused by \(agents[agent].name) on \(id)"]
      expectation.changes = ["audit"]
      agents[agent].wrongCodes += 1
      return false
    }
  }

  /// Expects the audit row of an agent's code and the renewed session.
  func stepUp(_ given: Given, _ agent: Int, _ expectation: inout Expectation) {
    guard case .right = given.code else { return }
    expectation.rows.append("administrator.step-up by \(agents[agent].name) on \(agents[agent].id)")
    agents[agent].provedAt = now
    agents[agent].lastStep = given.step
    agents[agent].wrongCodes = 0
  }

  /// Returns the audit log's resource of a request.
  func object(of approval: SimulatedApproval) -> String {
    approval.user.map { users[$0].uid } ?? approval.job.map { String(jobs[$0].id) } ?? ""
  }

  func keep(_ renewed: NewConsoleSession?, _ agent: Int) {
    if let renewed { agents[agent].session = renewed.session }
  }

  /// Acts on a user and compares the result with the model.
  ///
  /// `row` is the expected audit row without the actor and the user, `fault` the validation error
  /// of the action's own fields, and `obstacle` why the action itself is refused. `then` applies
  /// the action to the model.
  func act<T>(
    _ name: String, row: String, by agent: Int, on user: Int,
    needing permission: Permission = .removeFactors, passingLock: Bool = false,
    reason: SupportReason? = nil, fault: String? = nil, obstacle: (Given) -> String? = { _ in nil },
    _ body: (ActionRequest) async throws -> ActionOutcome<T>,
    then: (T, Given) throws -> Void = { _, _ in }
  ) async throws {
    let pool = users[user].pool
    let given = try given(by: agent, in: pool, reason: reason)
    var expectation = Expectation(name: "\(name) of \(users[user].uid) by \(agents[agent].name)")
    let mayNot = refusal(of: agent, on: user, needing: permission, passingLock: passingLock)
    let obstacle = obstacle(given)
    var isDone = false
    if let mayNot {
      expectation.refusals = [mayNot]
    } else if admit(given, by: agent, in: pool, &expectation, fault: fault) {
      if let obstacle {
        expectation.refusals = [obstacle]
      } else {
        stepUp(given, agent, &expectation)
        expectation.rows.append("\(row) by \(agents[agent].name) on \(users[user].uid)")
        agents[agent].acts[pool.key, default: []].append(now)
        isDone = true
      }
    }
    let result = await attempt { try await body(given.request) }
    if isDone, case .success(let outcome) = result {
      keep(outcome.renewed, agent)
      try then(outcome.value, given)
    }
    try await reconcile(expectation, result)
  }

  // MARK: - Removal and undo

  /// Applies an agent's removal to the model of its user.
  func applyRemoval(
    _ ids: Set<String>, of user: Int, by agent: Int, _ reason: SupportReason?,
    hold: (id: ID<RemovalHold>, until: Instant)?
  ) throws {
    let hours = (settings[users[user].pool.key] ?? SupportRules()).undoHours
    let isKept = hours > 0 && reason?.isHostile != true
    if let hold {
      guard isKept, hold.until == now.advanced(bySeconds: Int64(hours) * 3_600) else {
        throw Broken(what: "a removal for \(reason?.rawValue ?? "") can be undone")
      }
      let gone = users[user].drop(ids, heldForUndo: true)
      users[user].removals.append(
        SimulatedRemoval(
          id: hold.id, remover: agents[agent].name, until: hold.until, factors: gone))
    } else {
      guard !isKept else { throw Broken(what: "a removal can't be undone") }
      users[user].endRemovals()
      users[user].drop(ids)
    }
    users[user].endSessions()
  }

  func remove() async throws {
    let user = anyUser()
    let agent = anyAgent(.removeFactors, on: user)
    let isOfAll = dice.chance(35)
    let sample = users[user]
    let one = dice.pick(dice.chance(90) ? sample.factors : sample.purged)?.id ?? "none"
    let going = isOfAll ? sample.factors : sample.factors.filter { $0.id == one }
    let settings = settings[sample.pool.key] ?? SupportRules()
    let waits = settings.approvalForLastFactor && going.count == sample.factors.count
    let isAsked = approvals.contains {
      $0.user == user && $0.isOpen && now < $0.expires
    }
    try await act(
      isOfAll ? "remove-all" : "remove",
      row: waits ? "approval.ask" : isOfAll ? "factor.remove-all" : "factor.remove", by: agent,
      on: user,
      obstacle: { _ in
        going.isEmpty ? "factorNotFound" : waits && isAsked ? "alreadyAsked" : nil
      },
      { request in
        try await identity.factorRemovals.remove(
          sample.pool, sample.id, isOfAll ? nil : ID(one), request)
      },
      then: { outcome, given in
        switch outcome {
        case .waits(_, let until):
          guard waits else { throw Broken(what: "a removal unexpectedly requires approval") }
          approvals.append(
            SimulatedApproval(
              id: Int64(approvals.count + 1), pool: sample.pool, requester: agent, user: user,
              isOfAll: isOfAll, factors: Set(going.map(\.id)),
              allFactors: Set(sample.factors.map(\.id)), job: nil, reason: given.reason,
              expires: until))
        case .done(let removal):
          guard !waits else { throw Broken(what: "a removal requires no approval") }
          try applyRemoval(
            Set(going.map(\.id)), of: user, by: agent, given.reason, hold: removal.hold)
        case .requested: throw Broken(what: "a pool is connected")
        }
      })
  }

  func undo(
    of user: Int? = nil, by agent: Int? = nil, _ removal: ID<RemovalHold>? = nil
  ) async throws {
    let user = user ?? anyUser { !$0.removals.isEmpty || !$0.purgedRemovals.isEmpty }
    let agent = agent ?? anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let held = dice.chance(80) ? dice.pick(sample.removals) : nil
    let id = removal ?? held?.id ?? dice.pick(sample.purgedRemovals) ?? ID("none")
    let known = sample.removals.first { $0.id == id }
    try await act(
      "undo", row: "factor.restore", by: agent, on: user, reason: .mistake,
      obstacle: { _ in
        guard let known, now < known.until else { return "factorNotFound" }
        return known.remover == agents[agent].name ? "ownRemoval" : nil
      },
      { try await identity.factorRemovals.undo(sample.pool, sample.id, id, $0) },
      then: { _, _ in
        guard let known else { return }
        users[user].removals.removeAll { $0.id == id }
        users[user].factors += known.factors
        users[user].reconcile()
        users[user].endSessions()
      })
  }

  /// Deletes removed factors permanently before their time, which the remover may do too.
  func purgeNow() async throws {
    let user = anyUser { !$0.removals.isEmpty }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let held = dice.chance(90) ? dice.pick(sample.removals) : nil
    let id = held?.id ?? dice.pick(sample.purgedRemovals) ?? ID("none")
    try await act(
      "purge-now", row: "factor.purge-now", by: agent, on: user,
      obstacle: { _ in held.map { now < $0.until } ?? false ? nil : "factorNotFound" },
      { try await identity.factorRemovals.purge(sample.pool, sample.id, id, $0) },
      then: { _, _ in
        users[user].removals.removeAll { $0.id == id }
        users[user].purged += held?.factors ?? []
        users[user].purgedRemovals.append(id)
      })
  }

  // MARK: - Suspension

  func suspend() async throws {
    let user = anyUser { !$0.factors.isEmpty }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let factor = dice.pick(sample.factors)?.id ?? "none"
    let seconds = dice.pick([60, 3_600, 86_400, 20 * 86_400, -5, 31 * 86_400] as [Int64]) ?? 60
    let until = now.advanced(bySeconds: seconds)
    try await act(
      "suspend", row: "factor.suspend", by: agent, on: user,
      fault: seconds < 0 || seconds > 30 * 86_400 ? "untilOutOfRange" : nil,
      obstacle: { _ in factor == "none" ? "factorNotFound" : nil },
      {
        try await identity.support.suspend(sample.pool, sample.id, ID(factor), until: until, $0)
      },
      then: { _, _ in setSuspension(until, of: factor, user) })
  }

  func resume() async throws {
    let user = anyUser { $0.factors.contains { $0.suspendedUntil != nil } }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let factor = dice.pick(sample.factors.filter { $0.suspendedUntil != nil })
    let id = factor?.id ?? "none"
    try await act(
      "resume", row: "factor.resume", by: agent, on: user,
      obstacle: { _ in
        guard let factor else { return "factorNotFound" }
        return factor.isSuspended(at: now) ? nil : "nothingToDo"
      },
      { try await identity.support.resume(sample.pool, sample.id, ID(id), $0) },
      then: { _, _ in setSuspension(nil, of: id, user) })
  }

  func rename() async throws {
    let user = anyUser { !$0.factors.isEmpty }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let factor = dice.pick(sample.factors)
    let id = factor?.id ?? "none"
    let name = dice.chance(90) ? "device \(dice.below(4))" : " "
    try await act(
      "rename to \(name)", row: "factor.rename", by: agent, on: user,
      fault: name == " " ? "nameRequired" : nil,
      obstacle: { _ in
        guard let factor else { return "factorNotFound" }
        return factor.name == name ? "nothingToDo" : nil
      },
      { try await identity.support.rename(sample.pool, sample.id, ID(id), to: name, $0) },
      then: { _, _ in
        for index in users[user].factors.indices where users[user].factors[index].id == id {
          users[user].factors[index].name = name
        }
      })
  }

  private func setSuspension(_ until: Instant?, of factor: String, _ user: Int) {
    for index in users[user].factors.indices where users[user].factors[index].id == factor {
      users[user].factors[index].suspendedUntil = until
    }
  }
}
