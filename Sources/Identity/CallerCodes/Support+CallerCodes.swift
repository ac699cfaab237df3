import Database

extension Support {
  /// The number of codes sent to one user in an hour.
  static let callerCodesPerUser = 5
  /// The number of codes that one agent sends in an hour.
  static let callerCodesPerAgent = 30

  /// Sends a code to the account's verified email address, which the user reads back to the agent.
  ///
  /// It replaces the agent's former code for the account.
  ///
  /// - Returns: The email address.
  public func sendCallerCode(
    to id: ID<Account>, in pool: Pool, _ request: ActionRequest
  ) async throws -> ActionOutcome<String> {
    let now = store.clock.now()
    let agent = request.agent.administrator
    let outcome: Result<ActionOutcome<String>, ActionDenial> = try await store.write { connection in
      guard let account = try AccountRecord.find(pool, id, connection) else {
        throw ActionDenial.accountNotFound
      }
      let settings = try SupportRules.find(pool, connection)
      let holder = try ActionAuthorization.holder(
        of: ConsoleAction.sendCallerCode.requirements.permission, request.agent,
        in: ActionTarget(pool), at: now, connection
      ).get()
      if let denial = holder.denial(of: .sendCallerCode, on: account, in: pool) { throw denial }
      guard settings.callerVerification != .off else { throw ActionDenial.switchedOff }
      guard let email = account.verifiedEmail else { throw ActionDenial.callerUnverifiable }
      let renewed: NewConsoleSession?
      switch try authorization.admit(
        .sendCallerCode, request, by: holder, settings, in: pool, at: now, connection)
      {
      case .failure(let denial): return .failure(denial)
      case .success(let session): renewed = session
      }
      let quotas = [
        (CounterName.callerCodes(to: account.key), Self.callerCodesPerUser),
        (CounterName.callerCodes(of: agent.id), Self.callerCodesPerAgent),
      ]
      for (name, limit) in quotas {
        if let until = try HourlyQuota.take(name, limit: limit, at: now, connection) {
          throw ActionDenial.tooManyCallerCodes(until: until)
        }
      }
      try send(to: account, at: email, in: pool, by: request, at: now, connection)
      return .success(ActionOutcome(value: email, renewed: renewed))
    }
    return try outcome.get()
  }

  private func send(
    to account: Account, at email: String, in pool: Pool, by request: ActionRequest,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let agent = request.agent.administrator
    let expires = now.advanced(bySeconds: CallerCode.lifetime)
    let code = try CallerCode.make(
      for: account, at: email, by: agent.id, random: store.random, until: expires, at: now,
      connection)
    let mail = CallerCodeMail(
      pool: pool, email: email, code: code, agent: agent.displayName)
    try store.outbox.add(
      OutboxMessage(
        purpose: MessagePurpose.callerCode.rawValue, recipient: email,
        text: store.outbox.written(.callerCode(mail)),
        from: try PoolEmailSettings.read(pool, connection).sender(of: .callerCode),
        expiresAt: expires),
      to: account, in: pool, at: now, connection)
    var entry = AuditEntry(.accountSendCallerCode, of: account, in: pool)
    entry.add(.linkEmail, .text(email))
    entry.add(.expiresAt, .instant(expires))
    try entry.record(by: request.author, at: now, connection)
  }
}
