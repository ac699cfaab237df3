import Database
import IdentityToolkitClient

extension Connections {
  /// Stores how a change ended, what the remote has, and the entry.
  func end(
    _ run: IntentRun, _ state: Intent.State, _ cause: Intent.Cause? = nil, _ detail: String? = nil
  ) async throws {
    let intent = run.intent
    // An unknown outcome that stays so is no news.
    guard intent.state != .unknown || state == .done else { return }
    try await store.write { [self] now, connection in
      let from: SQL = intent.state == .unknown ? "state = 'unknown'" : "ended_at IS NULL"
      let isEnded = try connection.run(
        """
        UPDATE intent SET state = \(state), cause = \(cause?.stored), cause_text = \(detail),
          ended_at = \(now)
        WHERE scope_key = \(intent.pool.key) AND intent_id = \(intent.id) AND \(from)
        """)
      guard isEnded > 0 else { return }
      if state == .done {
        return try record(run, at: now, connection)
      }
      try mirror(run, [], at: now, connection)
      try intent.record(state, cause, at: now, connection)
    }
  }

  /// Stores what the remote has of a user; a policy is stored by ``RemotePolicies``.
  private func mirror(
    _ run: IntentRun, _ fields: Set<AuditFieldName>, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let pool = run.intent.pool
    guard let known = run.known, let asked = run.askedAt, case .user(let user?, _) = run.seen,
      let account = try AccountRecord.find(pool, ID(user.id), connection)
    else { return }
    let batch = MirrorBatch(
      pool: pool, author: known.author, askedAt: asked, isRecorded: true, now: now, known: fields)
    try batch.apply([.user(MirroredUser(user), account.key)], ofWalk: 0, connection)
  }

  /// Records a change that's done as the action's own entry, and tells the user.
  private func record(
    _ run: IntentRun, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let (intent, pool) = (run.intent, run.intent.pool)
    guard let account = intent.account else {
      guard case .policy(let new, _, _) = intent.change else { return }
      let policy = try Policies.find(pool.key, connection)
      var edit = policy.edit
      edit.configuration = new.configuration
      var context = store.context(intent.author, at: now, because: intent.note)
      (context.approver, context.intent) = (intent.approver, intent.id)
      _ = try Policies.store(edit, over: policy, context, connection)
      try connection.run(
        "UPDATE mirror SET policy_at = \(run.askedAt) WHERE scope_key = \(pool.key)")
      return
    }
    guard let old = try AccountRecord.find(pool, account, connection) else { return }
    var entry: AuditEntry
    var fields: Set<AuditFieldName> = []
    switch intent.change {
    case .factorsRemoved(let factor, _):
      let lost = old.factors.filter { factor == nil || $0.id == factor }
      fields = [.factors]
      entry = .removal(
        of: lost, from: old, isOfAll: factor == nil, left: old.factors.count - lost.count,
        sessionsEnded: 0, in: pool)
      // A walk may have stored it meanwhile.
      if !lost.isEmpty {
        try store.outbox.notify(
          UserNotice(.factorsRemoved, lost.map(\.label)), old, in: pool, at: now, connection)
      }
    case .disabled(let new, let seen):
      fields = [.disabled]
      entry = AuditEntry(.accountChange, of: old, in: pool)
      entry.add(.disabled, from: .flag(seen), to: .flag(new))
    default:
      entry = AuditEntry(.sessionsEnd, of: old, in: pool)
      try store.outbox.notify(UserNotice(.sessionsEnded), old, in: pool, at: now, connection)
    }
    try intent.justify(&entry)
    try entry.record(by: intent.author, at: now, connection)
    try mirror(run, fields, at: now, connection)
  }

  /// Ends the changes that aren't over, since another copy of the database may send them, too: those
  /// that were sent are unknown.
  static func dropChanges(
    because cause: Intent.Cause, at now: Instant, _ connection: borrowing Connection
  ) throws {
    for intent in try Intent.all("i.ended_at IS NULL AND i.sender_until > 0", connection) {
      let state = intent.state == .sent ? Intent.State.unknown : .lapsed
      try connection.run(
        """
        UPDATE intent SET state = \(state), cause = \(cause.stored), ended_at = \(now)
        WHERE scope_key = \(intent.pool.key) AND intent_id = \(intent.id)
        """)
      try intent.record(state, cause, at: now, connection)
    }
  }
}

extension Intent {
  /// Adds the requester's reason to an entry, and the number of the entry of the request.
  fileprivate func justify(_ entry: inout AuditEntry) throws {
    entry.justify(reason, note: note, ticket: ticket, proof: proof)
    if let callerVerification {
      entry.add(.callerVerification, .code(callerVerification))
    }
    if let approver { entry.add(.approver, .text(approver)) }
    entry.add(.changeRequest, .number(Int(id)))
  }

  /// Records that it isn't done, or that this isn't known.
  fileprivate func record(
    _ state: State, _ cause: Cause?, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let action: AuditAction =
      switch state {
      case .refused: .changeRefuse
      case .unknown: .changeUnknown
      case .waiting, .sent, .done, .lapsed: .changeLapse
      }
    let object = account.map { try? AccountRecord.find(pool, $0, connection) } ?? nil
    var entry =
      object.map { AuditEntry(action, of: $0, in: pool) }
      ?? AuditEntry(
        action, account == nil ? .policy : .account, account?.text ?? pool.objectID,
        name: account == nil ? pool.name : accountName, in: pool)
    if let cause { entry.add(.outcome, .code(cause.code)) }
    entry.add(.changeRequest, .number(Int(id)))
    try entry.record(by: author, at: now, connection)
  }
}

extension Intent.Cause {
  /// The stable identifier in the audit log.
  var code: String {
    switch self {
    case .factorEnrolled: "factor-enrolled"
    case .factorGone: "factor-gone"
    case .isDisabled: "user-changed"
    case .sessionsEnded: "sessions-ended"
    case .policyChanged: "policy-changed"
    case .gone: "gone"
    case .unknownFactor: "unknown-factor"
    case .connection: "connection"
    case .remote(.quota): "quota"
    case .remote(.permissionMissing): "permission"
    case .remote(.factorRefused): "factor-refused"
    case .remote: "remote"
    case .unconfirmed: "unconfirmed"
    case .restored: "restored"
    case .moved: "moved"
    }
  }
}
