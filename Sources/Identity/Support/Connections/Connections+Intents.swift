import Database
import IdentityToolkitClient
import Text

extension Connections {
  /// How often a change whose answer was lost is read, and the pause before each time.
  private static let readings = 3
  static let rereadPause = Duration.seconds(8)
  /// How long someone waits for the outcome of their change.
  static let longestWait = Duration.seconds(10)
  /// For how many days a change whose outcome is unknown needs attention.
  private static let daysUnknown = 7

  /// - Throws: ``CallError/notFound`` if the pool has no such change, and database errors.
  public func change(_ id: Int64, in pool: Pool) async throws -> Intent {
    try await store.read { connection in
      let found = try Intent.all(
        "i.intent_id = \(id) AND i.scope_key = \(pool.key)", connection
      ).first
      guard let found else { throw CallError.notFound }
      return found
    }
  }

  /// Returns the change of a user, or of a pool's policy if it's nil, that's on its way or whose outcome
  /// is unknown, unless a later one is done.
  public func openChange(of account: ID<Account>?, in pool: Pool) async throws -> Intent? {
    let newest = try await store.read { connection in
      try Intent.all(
        "i.scope_key = \(pool.key) AND i.uid = \(account?.text ?? "")",
        order: "ORDER BY i.intent_id DESC LIMIT 1", connection
      ).first
    }
    return newest.flatMap { $0.state == .unknown || $0.endedAt == nil ? $0 : nil }
  }

  /// Returns the changes of some projects whose outcome has been unknown since this week, newest first.
  public func unknownChanges(of known: [ProjectConnection]) async throws -> [Intent] {
    guard !known.isEmpty else { return [] }
    return try await store.read { now, connection in
      let oldest = now.advanced(bySeconds: -Int64(Self.daysUnknown) * 86_400)
      return try Intent.all(
        """
        i.state = 'unknown' AND i.ended_at > \(oldest) AND s.deleted_at IS NULL
          AND s.project_id IN (\(list: known.map(\.project)))
        """, order: "ORDER BY i.ended_at DESC LIMIT 100", connection)
    }
  }

  /// Sends a change that was just requested here, and returns when it's over, or after ten seconds: then
  /// it goes on.
  public func settle(_ id: Int64) async {
    await wait(Self.longestWait) { [self] in try? await carryOut(id) }
  }

  /// Finishes the changes whose senders didn't; the holder of the tasks' lease calls it.
  ///
  /// What wasn't sent lapses; what was sent is read.
  public func finishChanges() async throws {
    let late = try await store.read { now, connection in
      try Intent.all(
        "i.ended_at IS NULL AND i.sender_until > 0 AND i.sender_until < \(now)", connection)
    }
    for intent in late {
      guard intent.state == .sent else {
        try await end(IntentRun(intent: intent), .lapsed)
        continue
      }
      guard try await take(intent, from: intent.sender) else { continue }
      try await confirm(intent, tries: 1)
    }
  }

  /// Reads a change again whose outcome is unknown, and returns after two seconds at most.
  public func reread(_ id: Int64, in pool: Pool) async {
    await wait(Self.pageWait) { [self] in
      guard let intent = try? await change(id, in: pool), intent.state == .unknown else { return }
      try? await confirm(intent, tries: 1)
    }
  }
}

// MARK: - Sending

/// An intent, and what's known of it while it's carried out.
struct IntentRun: Sendable {
  var intent: Intent
  var known: ProjectConnection?
  /// What the remote had when it was asked, and when that was.
  var seen: Seen?
  var askedAt: Instant?
  /// The names of the user's factors here.
  var labels: [ID<Factor>: String] = [:]

  enum Seen: Sendable {
    case user(RemoteUser?, date: Int64)
    case policy(RemoteMFA)
  }
}

extension Connections {
  /// Carries out an intent of this process: reads, compares, stores that it's sent, sends it once, reads
  /// again, and stores the outcome.
  func carryOut(_ id: Int64) async throws {
    let process = store.process
    let waiting = try await store.read { connection in
      try Intent.all(
        "i.intent_id = \(id) AND i.state = 'waiting' AND i.sender = \(process)", connection
      ).first
    }
    guard let intent = waiting, let change = intent.change else { return }
    var run = IntentRun(intent: intent)
    do {
      let known = try await find(intent.pool.project)
      run.known = known
      run.labels = try await store.read { connection in
        let account = try intent.account.flatMap {
          try AccountRecord.find(intent.pool, $0, connection)
        }
        return Dictionary(
          account?.factors.map { ($0.id, $0.label) } ?? [], uniquingKeysWith: { $1 })
      }
      guard known.isRead else { return try await end(run, .refused, .connection) }
      let client = try await client(of: known)
      try await look(&run, client)
      if let cause = try obstacle(to: change, run) {
        return try await end(run, .refused, cause)
      }
      guard try await markSent(&run) else { return }
      do {
        try await send(change, &run, client)
      } catch let fault as RemoteFault {
        guard fault.isRefusal else {
          return try await confirm(run.intent, tries: Self.readings, after: fault)
        }
        return try await end(run, .refused, .remote(fault.cause), fault.detail)
      }
      if intent.account == nil { return try await conclude(run) }
      try await confirm(run.intent, tries: Self.readings)
    } catch let fault as RemoteFault {
      try await end(run, .refused, .remote(fault.cause), fault.detail)
    } catch is UnreadableSecret {
      try await end(run, .refused, .connection)
    }
  }

  /// Asks the remote for what the change is about.
  private func look(_ run: inout IntentRun, _ client: ToolkitClient) async throws {
    let (pool, now) = (run.intent.pool, store.clock.now())
    if let account = run.intent.account {
      let (user, date) = try await client.datedUser(
        account.text, of: pool.tenant?.text, for: .person)
      run.seen = .user(user, date: date)
    } else if let tenant = pool.tenant {
      run.seen = .policy(try await client.tenant(tenant.text, for: .person).mfa)
    } else {
      run.seen = .policy(try await client.config(for: .person).mfa)
    }
    run.askedAt = now
  }

  /// Returns why a change isn't sent: what the remote has isn't what the administrator saw.
  private func obstacle(
    to change: DirectoryChange, _ run: IntentRun
  ) throws -> Intent.Cause? {
    switch (change, run.seen) {
    case (.policy(_, _, let seen), .policy(let mfa)):
      let now = MFAConfiguration(mfa)
      guard let seen, !seen.configuration.isSaid(as: now) else { return nil }
      var other = seen
      other.configuration = now
      return .policyChanged(DirectoryChange.policy(other, version: 0, seen: nil).stored)
    case (_, .user(nil, _)): return .gone
    case (.factorsRemoved(let factor, let seen), .user(let user?, _)):
      let now = MirroredUser(user).factors
      if let new = now.first(where: { !seen.contains($0.id) }) {
        return .factorEnrolled(new.displayName ?? new.id.text)
      }
      if let old = seen.first(where: { id in !now.contains { $0.id == id } }) {
        return .factorGone(run.labels[old] ?? old.text)
      }
      return factor != nil && user.factors.contains { $0.kind == .other } ? .unknownFactor : nil
    case (.disabled(_, let seen), .user(let user?, _)):
      return user.isDisabled == seen ? nil : .isDisabled(user.isDisabled)
    case (.sessionsEnded(let seen), .user(let user?, _)):
      return MirroredUser(user).user.validSince == seen ? nil : .sessionsEnded
    default: throw Failure("a change of another kind of object")
    }
  }

  /// Stores that an intent is sent now, unless someone else finished it, or the connection isn't what it
  /// was.
  ///
  /// - Returns: Whether it may be sent; a write whose outcome isn't known throws, so nothing is sent.
  private func markSent(_ run: inout IntentRun) async throws -> Bool {
    let (intent, process) = (run.intent, store.process)
    let credentialAt = run.known?.credentialAt
    let validSince = run.validSince
    let isMarked = try await store.write { now, connection in
      try connection.run(
        """
        UPDATE intent SET state = 'sent', sent_at = \(now), valid_since_s = \(validSince),
          sender_until = \(now.advanced(bySeconds: Intent.step))
        WHERE scope_key = \(intent.pool.key) AND intent_id = \(intent.id) AND state = 'waiting'
          AND sender = \(process) AND sender_until >= \(now)
          AND \(MirroredPool.isRead(intent.pool, with: credentialAt))
        """) > 0
    }
    if !isMarked { try await end(run, .refused, .connection) }
    run.intent.validSince = validSince
    return isMarked
  }

  /// Makes this process the one that finishes an intent that was sent, in place of another one, or for
  /// the next step.
  ///
  /// - Returns: False if someone else does.
  private func take(_ intent: Intent, from sender: String) async throws -> Bool {
    let process = store.process
    return try await store.write { now, connection in
      // Another process may do the same.
      let isLeft: SQL = sender == process ? "" : "AND sender_until = \(intent.until)"
      return try connection.run(
        """
        UPDATE intent SET sender = \(process),
          sender_until = \(now.advanced(bySeconds: Intent.step))
        WHERE scope_key = \(intent.pool.key) AND intent_id = \(intent.id) AND ended_at IS NULL
          AND sender = \(sender) \(isLeft)
        """) > 0
    }
  }

  private func send(
    _ change: DirectoryChange, _ run: inout IntentRun, _ client: ToolkitClient
  ) async throws {
    let tenant = run.intent.pool.tenant?.text
    switch (change, run.seen) {
    case (.policy(let new, _, let seen?), .policy(let mfa)):
      guard let part = try new.written(over: seen).change else { return }
      run.askedAt = store.clock.now()
      run.seen = .policy(try await client.change(part, over: mfa, of: tenant))
    case (_, .user(let user?, _)):
      var edit = RemoteUserChange(validSince: run.validSince)
      switch change {
      case .factorsRemoved(let factor, _):
        edit.factors = user.factors.filter { one in
          factor.map { !$0.text.isSameBytes(as: one.id) } ?? false
        }
      case .disabled(let new, _): edit.isDisabled = new
      case .sessionsEnded, .policy: break
      }
      try await client.change(edit, of: user.id, in: tenant)
    default: throw Failure("a change of another kind of object")
    }
  }

  /// Reads what a change led to, and stores the outcome; again if it isn't what was wanted, since the
  /// remote may not have got it yet.
  private func confirm(
    _ intent: Intent, tries: Int, after lost: RemoteFault? = nil
  ) async throws {
    var run = IntentRun(intent: intent)
    var fault = lost
    for number in 1...tries {
      // An answer that came is believed at once.
      if lost != nil || number > 1 {
        guard try await take(intent, from: store.process) else { return }
        await patience(Self.rereadPause)
      }
      do {
        let known = try await find(intent.pool.project)
        run.known = known
        guard known.isRead else { break }
        try await look(&run, try await client(of: known))
        if run.isDone { return try await conclude(run) }
        fault = nil
      } catch let error as RemoteFault { fault = error } catch is UnreadableSecret { break }
    }
    let cause = fault.map { Intent.Cause.remote($0.cause) } ?? .unconfirmed
    try await end(run, .unknown, cause, fault?.detail)
  }

  /// Stores the outcome of a change by what the remote has now.
  private func conclude(_ run: IntentRun) async throws {
    guard run.isDone else { return try await end(run, .unknown, .unconfirmed) }
    try await end(run, .done)
  }
}

extension IntentRun {
  /// From when sessions stay valid, by the remote's clock: a second later, since a token of the same
  /// second would stay.
  fileprivate var validSince: Int64? {
    guard case .user(_, let date) = seen else { return nil }
    if case .disabled(false, _) = intent.change { return nil }
    return date + 1
  }

  /// Whether the remote has what the change wants.
  fileprivate var isDone: Bool {
    switch (intent.change, seen) {
    case (.policy(let new, _, _), .policy(let mfa)):
      return new.configuration.isSaid(as: MFAConfiguration(mfa))
    case (.factorsRemoved(let factor, let old), .user(let user?, _)):
      let left = Set(user.factors.map { ID<Factor>($0.id) })
      guard let factor else { return left.isEmpty }
      return !left.contains(factor) && left.isSuperset(of: old.filter { $0 != factor })
    case (.disabled(let new, _), .user(let user?, _)): return user.isDisabled == new
    case (.sessionsEnded, .user(let user?, _)):
      // A Countersign stores no time to come.
      return user.validSince ?? 0 >= (intent.validSince ?? .max) - 1
    default: return false
    }
  }
}
