import Database

/// An agent who has to wait for an owner.
public struct HeldAgent: Sendable {
  /// Who.
  public let agent: ID<Administrator>
  /// The name.
  public let name: String
  /// Where.
  public let scope: Scope
  /// Since when.
  public let since: Instant
}

/// How it stands with an agent who is about to act.
public struct DeskStanding: Sendable {
  /// What the pool asks for.
  public let settings: DeskSettings
  /// Whether a code of their own is due.
  public let asksForCode: Bool
  /// How many actions are left in this hour.
  public let actionsLeft: Int
  /// True when an owner has to release them first.
  public let isHeld: Bool
  /// Why they may not act on the account, whatever they give; nil when they may.
  public let refusal: DeskError?
}

/// The rules of the desk: what a pool asks of those who act for its users.
public struct Desk: Sendable {
  let store: Store
  let gate: DeskGate

  static let hour: Int64 = 3_600
  /// How long an agent's own code counts, in minutes, unless the instance says otherwise.
  public static let usualStepUp = 15
  /// What the instance may say, in minutes.
  public static let stepUpRange = 1...240

  /// The settings of a pool.
  ///
  /// - Throws: ``DeskSettingsError/unavailable(_:)``.
  public func settings(_ scope: Scope) async throws(DeskSettingsError) -> DeskSettings {
    try await store.read(DeskSettingsError.self) { try DeskSettings.find(scope, $0) }
  }

  /// Changes the settings of a pool.
  ///
  /// - Returns: False when they were so before.
  /// - Throws: ``DeskSettingsError``.
  @discardableResult
  public func change(
    _ scope: Scope, to new: DeskSettings, by author: Author
  ) async throws(DeskSettingsError) -> Bool {
    let new = try new.checked()
    let now = store.clock.now()
    return try await store.write(DeskSettingsError.self) { connection in
      do { _ = try Policies.find(scope.key, connection) } catch PolicyError.scopeNotFound {
        throw DeskSettingsError.scopeNotFound
      }
      let old = try DeskSettings.find(scope, connection)
      guard old != new else { return false }
      try new.store(scope, connection)
      var entry = AuditEntry(
        "desk.change", "scope", Policies.objectID(scope), name: scope.name, in: scope)
      (entry.from, entry.to) = Words.difference(old.words, new.words)
      try entry.record(by: author, at: now, connection)
      return true
    }
  }

  /// How it stands with an agent before they act on an account, for the page that asks.
  ///
  /// - Throws: ``DeskError``.
  public func standing(
    _ agent: ConsoleSession, on id: ID<Account>, in scope: Scope,
    needing permission: Permission = .removeFactors, passingLock: Bool = false
  ) async throws(DeskError) -> DeskStanding {
    let now = store.clock.now()
    return try await store.read(DeskError.self) { connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw DeskError.accountNotFound
      }
      let refusal = try gate.refusal(
        of: agent.administrator.id, on: account, in: scope, needing: permission,
        passingLock: passingLock, connection)
      return try gate.standing(agent, in: scope, refusal, at: now, connection)
    }
  }

  /// Sees that an agent may act on an account, for what needs neither a reason nor a code.
  ///
  /// - Throws: ``DeskError``, why they may not.
  public func check(
    _ agent: ConsoleSession, on id: ID<Account>, in scope: Scope,
    needing permission: Permission, passingLock: Bool = false
  ) async throws(DeskError) {
    let refusal = try await store.read(DeskError.self) { connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw DeskError.accountNotFound
      }
      return try gate.refusal(
        of: agent.administrator.id, on: account, in: scope, needing: permission,
        passingLock: passingLock, connection)
    }
    if let refusal { throw refusal }
  }

  /// How long an agent's own code counts, in minutes.
  static func stepUpMinutes(_ connection: borrowing Connection) throws -> Int {
    try connection.first("SELECT value FROM instance WHERE name = 'step_up_minutes'") { row in
      Int(try row.value(0) as String)
    }.flatMap { $0 } ?? usualStepUp
  }

  /// How long an agent's own code counts, in minutes.
  ///
  /// - Throws: ``DeskSettingsError/unavailable(_:)``.
  public func stepUpMinutes() async throws(DeskSettingsError) -> Int {
    try await store.read(DeskSettingsError.self) { try Self.stepUpMinutes($0) }
  }

  /// Changes for how long an agent's own code counts.
  ///
  /// - Returns: False when it was so before.
  /// - Throws: ``DeskSettingsError``.
  @discardableResult
  public func setStepUp(
    minutes: Int, by author: Author
  ) async throws(DeskSettingsError) -> Bool {
    guard Self.stepUpRange.contains(minutes) else { throw .outOfRange(.stepUp) }
    let now = store.clock.now()
    return try await store.write(DeskSettingsError.self) { connection in
      let old = try Self.stepUpMinutes(connection)
      guard old != minutes else { return false }
      try connection.run(
        """
        INSERT INTO instance (name, value) VALUES ('step_up_minutes', \(String(minutes)))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """)
      var entry = AuditEntry("desk.step-up", "instance", "step-up", name: "own codes at the desk")
      entry.from = "asked for after \(old) min"
      entry.to = "asked for after \(minutes) min"
      try entry.record(by: author, at: now, connection)
      return true
    }
  }

  /// Takes an hour's hold back, so that the agent may act again.
  ///
  /// Nobody releases themselves; who is only held begins a new hour.
  ///
  /// - Returns: False when the agent was not held.
  /// - Throws: ``DeskError``.
  @discardableResult
  public func release(
    _ agent: ID<Administrator>, in scope: Scope, by author: Author
  ) async throws(DeskError) -> Bool {
    let now = store.clock.now()
    return try await store.write(DeskError.self) { connection in
      if case .administrator(let own, _) = author.actor, own == agent {
        throw DeskError.notAllowed
      }
      guard let since = try DeskGate.hold(of: agent, in: scope, connection) else { return false }
      let record = try Administrators.record(agent, connection)
      try connection.run(
        """
        DELETE FROM desk_hold
        WHERE administrator_id = \(agent.text) AND scope_key = \(scope.key)
        """)
      try connection.run(
        """
        DELETE FROM desk_act
        WHERE administrator_id = \(agent.text) AND scope_key = \(scope.key)
        """)
      var entry = AuditEntry(
        "desk.release", "administrator", agent.text, name: record.administrator.displayName,
        in: scope)
      entry.from = "held since \(since.inWords)"
      try entry.record(by: author, at: now, connection)
      return true
    }
  }

  /// The agents that wait for an owner, the longest waiting first, at most fifty.
  ///
  /// - Throws: ``DeskError/unavailable(_:)``.
  public func held() async throws(DeskError) -> [HeldAgent] {
    try await store.read(DeskError.self) { connection in
      let rows = try connection.all(
        """
        SELECT h.administrator_id, a.display_name, h.scope_key, h.held_at
        FROM desk_hold h CROSS JOIN administrator a USING (administrator_id)
        ORDER BY h.administrator_id, h.scope_key LIMIT 50
        """
      ) { row in
        (
          id: try row.value(0) as String, name: try row.value(1) as String,
          key: try row.value(2) as Int64, at: Instant(microseconds: try row.value(3))
        )
      }
      var held: [HeldAgent] = []
      for row in rows {
        do {
          let scope = try Policies.find(row.key, connection).scope
          held.append(
            HeldAgent(agent: ID(row.id), name: row.name, scope: scope, since: row.at))
        } catch PolicyError.scopeNotFound { continue }
      }
      return held.sorted { $0.since < $1.since }
    }
  }

  /// Forgets actions that no hour counts any more.
  static func tidy(at now: Instant, _ connection: borrowing Connection) throws {
    let oldest = now.advanced(bySeconds: -hour)
    try connection.run("DELETE FROM desk_act WHERE at < \(oldest.microseconds)")
  }
}
