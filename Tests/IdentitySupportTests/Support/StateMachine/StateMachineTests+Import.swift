import Crypto
import Database
import OTP

@testable import Identity
@testable import TestIdentity

/// Creation and deletion of users, and changes of administrators' roles.
extension StateMachine {
  // MARK: - Users

  /// Deletes a user, as support or on the command line.
  func delete() async throws {
    guard users.count(where: { !$0.isGone }) > 3 else { return try await importUsers() }
    let user = anyUser()
    let before = users[user]
    if dice.chance(60) {
      let agent = anyAgent(.changeUsers, on: user)
      let needsApproval = settings[before.pool.key]?.approvalForLastFactor ?? false
      try await act(
        "delete", row: "account.delete", by: agent, on: user, needing: .changeUsers,
        obstacle: { _ in
          needsApproval && !before.factors.isEmpty ? "factorsNeedApproval" : nil
        },
        { request in
          var request = request
          request.typed = before.uid
          return try await identity.support.delete(before.pool, before.id, request)
        },
        then: { _, _ in users[user].delete() })
    } else {
      let author = Author(actor: .commandLine)
      let expectation = Expectation(
        name: "command-line-deletes of \(before.uid)",
        rows: ["account.delete by \(author.actor.name) on \(before.uid)"])
      let result = await attempt {
        try await identity.accounts.delete(before.pool, before.id, by: author)
      }
      if case .success = result { users[user].delete() }
      try await reconcile(expectation, result)
    }
    guard users[user].isGone else { return }
    for pending in before.pending.suffix(2) { try await usePending(pending, of: before) }
    // Another user with this UID must not be created within the same second.
    clock.advance(1 + before.pending.reduce(0) { max($0, $1.at.seconds - now.seconds) } + 60)
    try await keepAwake()
  }

  /// Continues the sign-in of a deleted user.
  private func usePending(_ pending: SimulatedPending, of user: SimulatedUser) async throws {
    guard let app = user.app else { return }
    let expectation = Expectation(
      name: "pending-of-deleted of \(user.uid)", refusals: ["userNotFound", "pendingExpired"])
    let result = await attempt {
      try await identity.signIns.finalize(
        project: user.pool.project, tenant: user.pool.tenant,
        pendingCredential: pending.credential, enrollment: app.id,
        code: try TypedCode(app.code(step: now.seconds / 30 + 2)))
    }
    try await reconcile(expectation, result)
  }

  /// Imports users: new, existing, and deleted ones.
  func importUsers() async throws {
    let pool = dice.pick(pools) ?? pools[0]
    var options = ImportOptions(existing: .replace)
    options.existing = dice.pick([.refuse, .keep, .replace, .replace]) ?? .replace
    var chosen = users.indices.filter { users[$0].pool.key == pool.key }
    chosen = Array(chosen.shuffled(using: &dice).prefix(dice.below(3)))
    if users.count < 11, dice.chance(50) || chosen.isEmpty {
      var new = SimulatedUser(uid: "new\(users.count)", pool: pool)
      new.isGone = true
      users.append(new)
      chosen.append(users.count - 1)
    }
    let brought = chosen.map { (user: $0, row: row(of: users[$0])) }
    var expectation = Expectation(name: "import of \(brought.map { users[$0.user].uid })")
    var expected = ImportOutcome()
    for (user, row) in brought {
      let sample = users[user]
      let kinds = Set(row.factors.map(\.isApp))
      let kept = sample.factors.count { !kinds.contains($0.secret != nil) }
      if sample.isGone {
        expected.created += 1
      } else if options.existing == .keep {
        expected.kept += 1
      } else if options.existing == .refuse || kept + row.factors.count > 5
        || sample.isLocked
      {
        expected.refusals.append(.init(index: 0, fault: .localIDExists))
        continue
      } else {
        expected.replaced += 1
        expectation.rows.append("account.change by \(Instance.boss.actor.name) on \(sample.uid)")
      }
      if sample.isGone || options.existing == .replace { applyImport(row, user) }
    }
    if expected.created + expected.replaced > 0 {
      expectation.rows.append(
        "account.import by \(Instance.boss.actor.name) on \(pool.objectID)")
    } else if brought.isEmpty {
      expectation.refusals = ["empty"]
    }
    let rows = brought.map { $0.row.row }
    let result = await attempt {
      try await identity.imports.run(pool, rows, options, by: Instance.boss)
    }
    if case .success(let outcome) = result {
      let numbers = [outcome.created, outcome.replaced, outcome.kept, outcome.refusals.count]
      let others = [expected.created, expected.replaced, expected.kept, expected.refusals.count]
      guard numbers == others else {
        throw Broken(
          what: "\(expectation.name): created, replaced, kept, refused \(numbers), not \(others)")
      }
    }
    try await reconcile(expectation, result)
  }

  /// A row of an import, with the expected factors of its user.
  private struct ImportedUserRow {
    struct NewFactor {
      let factor: SimulatedFactor
      var isApp: Bool { factor.secret != nil }
    }

    let row: ImportRow
    let isDisabled: Bool
    let factors: [NewFactor]
  }

  private func row(of user: SimulatedUser) -> ImportedUserRow {
    var row = ImportedUser()
    (row.localID, row.email, row.emailVerified) = (user.uid, user.email, true)
    row.password = .plain(user.password)
    row.disabled = user.isDisabled ? dice.chance(70) : dice.chance(10)
    var factors: [SimulatedFactor] = []
    // Imported factors get new IDs, so that a restored factor can't be mistaken for one of them.
    if dice.chance(40) {
      let secret = Secret((0..<20).map { _ in UInt8(dice.below(256)) })
      factors.append(
        SimulatedFactor(id: "app\(trail.count)-\(user.uid)", secret: secret, enrolledAt: now))
    }
    if dice.chance(30) {
      for number in StateMachineModel.numbers.shuffled(using: &dice).prefix(1 + dice.below(3)) {
        factors.append(
          SimulatedFactor(
            id: "phone\(trail.count)-\(user.uid)-\(number.suffix(1))", number: number,
            enrolledAt: now))
      }
    }
    row.factors = factors.map { factor in
      ImportedFactor(
        factor.number.map { .phone($0) } ?? .totp(factor.secret), id: factor.id)
    }
    return ImportedUserRow(
      row: .success(row), isDisabled: row.disabled,
      factors: factors.map { ImportedUserRow.NewFactor(factor: $0) })
  }

  /// Applies a row to the model of its user.
  private func applyImport(_ row: ImportedUserRow, _ user: Int) {
    if users[user].isGone {
      users[user].isGone = false
    } else {
      let kinds = Set(row.factors.map(\.isApp))
      let replaced = users[user].factors.filter { kinds.contains($0.secret != nil) }.map(\.id)
      if !replaced.isEmpty { users[user].drop(Set(replaced)) }
      users[user].endSessions()
    }
    for new in row.factors { users[user].add(new.factor) }
    users[user].isDisabled = row.isDisabled
  }

  // MARK: - Administrators

  /// Grants or revokes a role, as an owner.
  func changeGrants() async throws {
    let owner = dice.chance(85) ? anyAgent { $0.isOwner } : anyAgent()
    let agent = anyAgent()
    let sample = agents[agent]
    let east = pools[1]
    let places: [(ID<Project>?, ID<Tenant>?)] = [
      (nil, nil), (nil, nil), (east.project, nil), (east.project, east.tenant),
    ]
    let place = dice.pick(places) ?? (nil, nil)
    let role = dice.pick([.support, .support, .owner, .policy, .auditor] as [Role]) ?? .support
    let new = Grant(role: role, project: place.0, tenant: place.1)
    // Sorted, because the order of a set differs between runs.
    let held = sample.grants.sorted { "\($0)" < "\($1)" }
    let isGiven = held.isEmpty || dice.chance(60)
    let grant = isGiven ? new : dice.chance(90) ? dice.pick(held) ?? new : new
    var expectation = Expectation(
      name: "\(isGiven ? "grant" : "revoke") of \(sample.name) by \(agents[owner].name)")
    expectation.refusals = mayNotManage(agent, by: owner)
    var isDone = false
    if expectation.refusals.isEmpty {
      isDone = sample.grants.contains(grant) != isGiven
      if !isDone, !isGiven { expectation.refusals = ["notFound"] }
      if isDone {
        let action = isGiven ? "administrator.grant" : "administrator.revoke"
        expectation.rows = ["\(action) by \(agents[owner].name) on \(sample.id)"]
      }
    }
    let (id, author) = (sample.administrator.id, agents[owner].author)
    let result = await attempt {
      if isGiven {
        _ = try await identity.administrators.grant(grant, to: id, by: .program(author))
      } else {
        _ = try await identity.administrators.revoke(grant, from: id, by: .program(author))
      }
    }
    if isDone, case .success = result {
      if isGiven { agents[agent].grants.insert(grant) } else { agents[agent].grants.remove(grant) }
    }
    try await reconcile(expectation, result)
  }

  /// Removes an administrator, as an owner, even with pending requests or running bulk removals.
  func removeAgent() async throws {
    let owner = dice.chance(85) ? anyAgent { $0.isOwner } : anyAgent()
    let agent = anyAgent()
    var expectation = Expectation(
      name: "remove-administrator \(agents[agent].name) by \(agents[owner].name)")
    expectation.refusals = mayNotManage(agent, by: owner)
    if expectation.refusals.isEmpty {
      expectation.rows = ["administrator.remove by \(agents[owner].name) on \(agents[agent].id)"]
    }
    let (id, author) = (agents[agent].administrator.id, agents[owner].author)
    let result = await attempt {
      try await identity.administrators.remove(id, by: .program(author))
    }
    if expectation.refusals.isEmpty, case .success = result {
      agents[agent].isRemoved = true
      agents[agent].grants = []
      agents[agent].heldIn = []
    }
    try await reconcile(expectation, result)
  }

  private func mayNotManage(_ agent: Int, by owner: Int) -> [String] {
    guard agents[owner].isOwner else { return ["notAllowed"] }
    if agent == owner { return ["oneself"] }
    return agents[agent].isRemoved ? ["notFound"] : []
  }
}
