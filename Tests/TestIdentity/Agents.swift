import Database
@testable import Identity
import OTP
import Testing
import Text

/// A support agent with a console session.
struct Agent: Sendable {
  let session: ConsoleSession
  /// Their authenticator app, or nil if re-authentication is simulated.
  var device: OwnDevice?

  var administrator: Administrator { session.administrator }
  var author: Author { administrator.author(address: "198.51.100.7", requestID: "request-1") }

  /// Returns a request for an action with the agent's input.
  func request(
    _ reason: SupportReason? = .lost, note: String = "", ticket: String = "",
    proofs: Set<String> = [], callerCode: String = "", code: String = "", typed: String = ""
  ) -> ActionRequest {
    ActionRequest(
      agent: session, author: author, reason: reason, note: note, ticket: ticket,
      proofs: Set(proofs.map { UntrustedText($0) }), callerCode: TypedCode(callerCode),
      proof: .code(TypedCode(code)), typed: typed)
  }
}

extension Instance {
  /// Adds an authenticator app to an account, suspended until a time, without an action.
  func addSuspendedFactor(to account: Account, in pool: Pool, until: Instant) async throws {
    let enrolledAt = now
    try await database.write { connection in
      var new = NewFactor(
        id: ID("suspended"), kind: .totp, displayName: nil, enrolledAt: enrolledAt)
      new.suspendedUntil = until
      try FactorRecord.insert(new, for: account, in: pool, connection)
      try FactorRecord.settleSuspension(account.key, connection)
    }
  }

  /// Signs in a support agent as just re-authenticated, so that no code is required for 15 minutes.
  ///
  /// The same name is the same administrator, in a new session.
  func agent(
    _ name: String = "dora", role: Role = .support, project: ID<Project>? = nil
  ) async throws -> Agent {
    let email = "\(name)@desk.example.com"
    if try await thrown(
      CallError.self, { try await identity.administrators.record(email: email) })
      != nil
    {
      _ = try await identity.administrators.create(
        email: email, displayName: name == "dora" ? "Dora Support" : name,
        password: Self.consolePassword, grant: Grant(role: role, project: project),
        by: Author(actor: .commandLine))
    }
    let new = try await identity.consoleSessions.signIn(
      email: email, password: Self.consolePassword, address: "a", userAgent: "Browser"
    ).session
    try await reauthenticate(new.session)
    return Agent(session: new.session)
  }

  /// Signs in a support agent with a code from an authenticator app; the clock advances by 30
  /// seconds twice.
  func agentWithDevice(_ name: String = "dev", role: Role = .support) async throws -> Agent {
    let device = try await enroll(try await administrator(name, role))
    let new = try await signIn(device)
    clock.advance(30)
    return Agent(session: new.session, device: device)
  }

  /// Something that needs attention in a pool, or else in the project.
  func attention(
    _ kind: AttentionKind, at: Instant? = nil, number: Int64 = 2, in pool: Pool? = nil
  ) -> AttentionMark {
    let pool = pool ?? acme
    var mark = AttentionMark(kind, project: pool.project, tenant: pool.tenant)
    mark.add(at: at, number: number)
    return mark
  }

  /// Makes a session as if it was just re-authenticated, and the open ones of its administrator; one
  /// that expired is opened again.
  ///
  /// The rule requires a factor, advances the clock to a new code, and replaces the session's token.
  func reauthenticate(_ session: ConsoleSession) async throws {
    let now = now
    let id = session.administrator.id.text
    try await database.write { connection in
      try connection.run(
        """
        UPDATE /* test */ console_session
        SET created_at = \(now), last_seen_at = \(now)
        WHERE token_digest = \(session.digest)
        """)
      try connection.run(
        """
        UPDATE /* test */ console_session SET proved_at = \(now)
        WHERE administrator_id = \(id)
        """)
    }
  }

  /// Returns whether a renewed session is open under a new token only.
  func isReplaced(_ old: ConsoleSession, by new: ConsoleSession) async throws -> Bool {
    let now = now
    return try await database.read { connection in
      try old.digest != new.digest
        && ConsoleSessions.find(old.digest, at: now, connection) == nil
        && ConsoleSessions.find(new.digest, at: now, connection) != nil
    }
  }

  /// Has an agent hit the hourly action limit of Acme, which blocks them.
  func block(_ agent: Agent) async throws {
    let rules = try await identity.support.settings(acme)
    try await setSupportRules { $0.actionsPerHour = 1 }
    var new = NewAccount()
    new.email = "\(agent.administrator.id.text)@blocked.example.com"
    let account = try await identity.accounts.create(acme, new, by: .program(Self.boss)).value.id
    _ = try await identity.support.endSessions(acme, account, agent.request())
    await expect("held") {
      try await identity.support.endSessions(acme, account, agent.request())
    }
    try await identity.support.change(acme, to: rules, by: .program(Self.boss))
  }

  /// Purges one batch of removed factors that can't be restored, as the server does.
  ///
  /// - Returns: Whether there may be more.
  func purgeBatch() async throws -> Bool {
    let now = now
    return try await identity.store.write { try RemovedFactors.purge(at: now, $0) }
  }
}
