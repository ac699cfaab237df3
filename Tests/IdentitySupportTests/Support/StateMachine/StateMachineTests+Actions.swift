import Database

@testable import Identity
@testable import TestIdentity

/// The choice of actions, actors, and times.
extension StateMachine {
  private enum Action: CaseIterable {
    case remove, undo, suspend, resume, unlock, endSessions, protect, allowChanges, disable, enable
    case makeTemporaryCode, revokeBackupCodes, sendLink
    case signIn, giveCode, giveSMS, useSession
    case enrollApp, enrollPhone, withdraw, makeRecoveryCodes, useLink, revert, object
    case delete, importUsers, changeGrants, removeAgent, seeSuspensionEnd, purgeNow
    case rename, change, draft, begin, step, stop, approve, refuse, unblock, changeSettings,
      purgeExpired

    var weight: Int {
      switch self {
      case .remove: 16
      case .undo, .giveCode: 12
      case .approve: 10
      case .enrollApp, .useSession, .changeSettings, .purgeExpired: 8
      case .makeTemporaryCode, .giveSMS, .suspend: 7
      case .enrollPhone, .begin, .step, .object, .change: 6
      case .makeRecoveryCodes, .sendLink, .useLink, .withdraw, .draft, .unblock, .refuse: 5
      case .protect, .allowChanges, .unlock, .signIn, .endSessions, .revert: 4
      case .changeGrants, .seeSuspensionEnd, .purgeNow, .rename: 4
      case .resume, .revokeBackupCodes, .delete, .importUsers: 3
      case .disable, .enable, .stop: 2
      case .removeAgent: 1
      }
    }

    static let weighted = allCases.map { ($0, $0.weight) }
  }

  /// Performs a random action.
  func act() async throws {
    switch dice.pick(weighted: Action.weighted) ?? .purgeExpired {
    case .remove: try await remove()
    case .undo: try await undo()
    case .suspend: try await suspend()
    case .resume: try await resume()
    case .rename: try await rename()
    case .unlock: try await unlock()
    case .endSessions: try await endSessions()
    case .protect: try await protect()
    case .allowChanges: try await allowChanges()
    case .disable: try await disable()
    case .enable: try await enable()
    case .makeTemporaryCode: try await makeTemporaryCode()
    case .revokeBackupCodes: try await revokeBackupCodes()
    case .sendLink: try await sendLink()
    case .signIn: try await signIn(anyUser())
    case .giveCode: try await giveCode(anyUser { $0.app != nil })
    case .giveSMS: try await giveSMS(anyUser { $0.factors.contains { $0.number != nil } })
    case .useSession: try await useSession(anyUser { !$0.sessions.isEmpty })
    case .enrollApp: try await enrollApp(anyUser { $0.app == nil })
    case .enrollPhone: try await enrollPhone(anyUser())
    case .withdraw: try await withdraw(anyUser { !$0.factors.isEmpty })
    case .makeRecoveryCodes: try await makeRecoveryCodes(anyUser { $0.app != nil })
    case .useLink: try await useLink(anyUser { $0.link != nil })
    case .revert: try await revert(anyUser { !$0.reverts.isEmpty })
    case .object: try await object(anyUser())
    case .delete: try await delete()
    case .importUsers: try await importUsers()
    case .changeGrants: try await changeGrants()
    case .removeAgent: try await removeAgent()
    case .purgeNow: try await purgeNow()
    case .seeSuspensionEnd: try await seeSuspensionEnd()
    case .change: try await change()
    case .draft: try await draft()
    case .begin: try await begin()
    case .step: try await step()
    case .stop: try await stop()
    case .approve: try await approve()
    case .refuse: try await refuse()
    case .unblock: try await unblock()
    case .changeSettings: try await changeSettings()
    case .purgeExpired: try await purgeExpired()
    }
  }

  /// Returns an agent, usually one with the permission on the user's pool.
  func anyAgent(_ permission: Permission, on user: Int) -> Int {
    let isWise = dice.chance(60)
    let pool = users[user].pool
    return anyAgent { !isWise || $0.may(permission, in: pool) }
  }

  /// Returns an agent, usually one who meets the condition.
  func anyAgent(_ isMeant: (SimulatedAgent) -> Bool = { _ in true }) -> Int {
    let weights = ["dora": 25, "erik": 20, "olga": 14, "bob": 12, "otto": 9, "tess": 8]
    // Sometimes a removed administrator whose page is still open.
    let isStale = dice.chance(6)
    let some = agents.indices.filter { isMeant(agents[$0]) && (isStale || !agents[$0].isRemoved) }
    guard !some.isEmpty else { return agents.indices.first { !agents[$0].isRemoved } ?? 0 }
    return dice.pick(weighted: some.map { ($0, weights[agents[$0].name] ?? 5) }) ?? 0
  }

  /// Returns a user, usually one who meets the condition, and often one of the favorites.
  func anyUser(_ isMeant: (SimulatedUser) -> Bool = { _ in true }) -> Int {
    let there = users.indices.filter { !users[$0].isGone }
    let meant = dice.chance(85) ? there.filter { isMeant(users[$0]) } : []
    let some = meant.isEmpty ? there : meant
    let hot = some.filter { favorites.contains($0) }
    return (dice.chance(65) ? dice.pick(hot) : nil) ?? dice.pick(some) ?? 0
  }

  /// Advances the clock: by a little, past the re-authentication interval, or to the end of a
  /// removal's undo period.
  func passTime() async throws {
    let ends = users.flatMap(\.removals).map { $0.until.seconds - now.seconds }.filter { $0 > 1 }
    if dice.chance(15), let end = dice.pick(ends) {
      clock.advance(end - Int64(dice.below(2)))
    } else {
      let seconds =
        dice.pick(
          weighted: [
            (1, 6), (30, 20), (61, 10), (301, 8), (840, 8), (901, 8), (3_600, 10), (18_000, 4),
            (90_000, 4), (260_000, 3),
          ] as [(Int64, Int)]) ?? 1
      clock.advance(seconds)
    }
    trail.append("it is \(now.rfc3339)")
    try await keepAwake()
  }

  /// Keeps the agents' sessions alive, because they don't sign in again during a run.
  func keepAwake() async throws {
    let moment = now.microseconds
    try await database.write { connection in
      _ = try connection.run(
        """
        UPDATE /* test */ console_session SET created_at = \(moment), last_seen_at = \(moment)
        """)
    }
  }

  /// Retries everything that has ended, including after its expiration.
  func tryWhatIsOver() async throws {
    for user in users.indices {
      for place in users[user].sessions.indices where !users[user].sessions[place].isAlive {
        try await useSession(user, place)
      }
      guard !users[user].isGone else { continue }
      for factor in users[user].purged.suffix(3) { try await givePurged(factor, user) }
    }
    clock.advance(31 * 86_400)
    try await keepAwake()
    try await purgeExpired()
    for user in users.indices {
      guard users[user].removals.isEmpty else {
        throw Broken(what: "a removed factor is never purged")
      }
      for removal in users[user].purgedRemovals.suffix(3) {
        clock.advance(30)
        for agent in agents.indices where agents[agent].isOwner {
          try await undo(of: user, by: agent, removal)
        }
      }
    }
  }
}
