import Database

extension Approval.Cause {
  init?(of removal: Removal, _ policy: StoredPolicy, at now: Instant) {
    let rules = removal.rules
    if rules.approvalForLastFactor, removal.factorsRequired == 0, policy.isMandatory(at: now) {
      self = .lastFactor
    } else if rules.callerVerification == .required, removal.account.verifiedEmail == nil {
      self = .unverifiedCaller
    } else {
      return nil
    }
  }

  init?(
    users: Int, left: Int, _ settings: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    if let most = settings.approvalOverUsers, users > most {
      self = .many
    } else if settings.approvalForLastFactor,
      try Policies.stored(pool.key, connection).isMandatory(at: now)
    {
      self = .lastFactor
    } else if users > left {
      self = .hour
    } else if settings.callerVerification == .required {
      self = .unverifiedCaller
    } else {
      return nil
    }
  }
}

extension StoredPolicy {
  /// Returns true if users must currently have a second factor: a factor type is enabled, and the
  /// configuration or the pattern makes enrollment mandatory.
  func isMandatory(at now: Instant) -> Bool {
    guard configuration.isTOTPOn || configuration.isSMSOn else { return false }
    if inForce.isTOTPMandatory { return true }
    return pattern == .mandatory && (mandatoryFrom?.start ?? now) <= now
  }
}

extension Approvals {
  /// - Returns: The audit entry, without author and reason, and the time the request expires.
  static func ask(
    for removal: Removal, _ cause: Approval.Cause, _ request: ActionRequest,
    _ settings: SupportRules, caller: CallerProof?, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> (entry: AuditEntry, expiresAt: Instant) {
    let account = removal.account
    guard try waiting(for: account.id, in: pool, at: now, connection) == nil else {
      throw ActionDenial.alreadyAsked
    }
    let names = removal.factors.map {
      $0.label.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
    let (_, expiry) = try store(
      kind: removal.isOfAll ? .factors : .factor, account: account, factors: removal.factors,
      names: names, job: nil, users: 1, cause, request, settings, in: pool, at: now, connection,
      caller: caller)
    var entry = AuditEntry(.approvalAsk, of: account, in: pool)
    entry.add(.factors, .of(removal.factors))
    entry.add(.approvalCause, .code(cause.rawValue))
    entry.add(.expiresAt, .instant(expiry))
    return (entry, expiry)
  }

  /// - Returns: The time the request expires.
  static func ask(
    for job: BulkJob, _ cause: Approval.Cause, _ request: ActionRequest, _ settings: SupportRules,
    in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant {
    try store(
      kind: .job, account: nil, factors: [], names: [], job: job.id, users: job.users, cause,
      request, settings, in: pool, at: now, connection
    ).expiry
  }

  static func store(
    kind: Approval.Kind, account: Account?, factors: [Factor], names: [String], job: Int64?,
    users: Int, _ cause: Approval.Cause, _ request: ActionRequest, _ settings: SupportRules,
    in pool: Pool, at now: Instant, _ connection: borrowing Connection,
    caller: CallerProof? = nil
  ) throws -> (id: Int64, expiry: Instant) {
    let expiry = now.advanced(bySeconds: Approval.lifetime)
    let agent = request.agent.administrator
    let going = EnrollmentIDs.text(of: factors)
    let all = EnrollmentIDs.text(of: account?.factors ?? [])
    let id: Int64? = try connection.first(
      """
      INSERT INTO approval (approval_id, scope_key, kind, uid, user_name, factors, factor_names,
        all_factors, job_id, users, cause, requester_id, requester_name, address, request_id, reason, note,
        ticket, proof, caller_verification, requested_at, expires_at, state)
      VALUES (\(SQL.nextNumber("approval_id", of: "approval")), \(pool.key), \(kind),
        \(account?.id.text ?? ""), \(account?.label ?? ""),
        \(going), \(names.joined(separator: "\n")), \(all), \(job), \(users), \(cause),
        \(agent.id), \(agent.displayName), \(request.author.address),
        \(request.author.requestID), \(request.reason?.rawValue ?? ""), \(request.note),
        \(request.ticket), \(settings.identityProof.joined(separator: "\n")),
        \(caller),
        \(now), \(expiry), 'waiting')
      RETURNING approval_id
      """
    ) { try $0.next() }
    guard let id else { throw Failure("a request without a number") }
    return (id, expiry)
  }
}
