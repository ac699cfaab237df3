import Crypto
import Database
import HTTP
import IdentityToolkitClient
import Testing

@testable import Console
@testable import Identity

/// States that the product's rules create.
extension World {
  /// Makes every session as if it was just re-authenticated.
  ///
  /// The rule requires a factor, advances the clock to a new code, and replaces the session's token.
  func reauthenticate() async throws {
    let now = clock.now
    try await database.write { connection in
      _ = try connection.run(
        "UPDATE /* test */ console_session SET proved_at = \(now)")
    }
  }

  /// Signs an administrator in, just re-authenticated.
  func inSupport(
    _ email: String = World.ada
  ) async throws -> (agent: ConsoleSession, author: Author) {
    let outcome = try await identity.consoleSessions.signIn(
      email: email, password: Secret(Self.password), address: "192.0.2.1", userAgent: "test")
    guard case .signedIn(let new) = outcome else { throw Missing("session of \(email)") }
    try await reauthenticate()
    return (
      new.session,
      new.session.administrator.author(address: "192.0.2.1", requestID: "00000REMOVAL")
    )
  }

  /// Turns a project into a connected one.
  func connect(_ project: ID<Project>, as kind: PoolKind = .identityPlatform) async throws {
    try await database.write { connection in
      _ = try connection.run(
        "UPDATE /* test */ project SET kind = \(kind) WHERE project_id = \(project)")
    }
  }

  /// Turns a project into a connected one whose pools were all read at a time.
  func mirror(
    _ project: ID<Project>, as kind: PoolKind = .identityPlatform,
    access: AccessLevel = .read, readAt: Instant
  ) async throws {
    try await connect(project, as: kind)
    let url = kind == .countersign ? "https://other.example.com" : ""
    let now = clock.now
    try await database.write { connection in
      _ = try connection.run(
        """
        INSERT INTO /* test */ connection (project_id, remote_project, url, access, state,
          credential_name, credential_key, credential_at, connected_at, connected_by, policies_at)
        VALUES (\(project), 'remote-app', \(url), \(access.rawValue), 'working', '', '', \(now), \(now), 'Ada',
          \(now))
        """)
      _ = try connection.run(
        """
        INSERT INTO /* test */ mirror (scope_key, state, walked_at)
        SELECT scope_key, 'present', \(readAt) FROM scope WHERE project_id = \(project)
        """)
    }
    _ = try await identity.connections.due()
  }

  /// Adds a change that the server of a connected pool was asked for, in a state in which it can be.
  func addChange(
    _ id: Int64, _ change: DirectoryChange, of account: Account? = nil, in pool: Pool,
    _ state: Intent.State = .done, _ cause: Intent.Cause? = nil, detail: String? = nil
  ) async throws {
    let (now, isOver) = (clock.now, ![.waiting, .sent].contains(state))
    let isSent = ![.waiting, .lapsed].contains(state)
    try await database.write { connection in
      _ = try connection.run(
        """
        INSERT INTO /* test */ intent (intent_id, scope_key, uid, user_name, change, requester_kind,
          requester_id, requester_name, address, request_id, reason, note, ticket, proof, state,
          cause, cause_text, sender, sender_until, requested_at, sent_at, ended_at)
        VALUES (\(id), \(pool.key), \(account?.id.text ?? ""), \(account?.label ?? ""),
          \(change.stored), 'administrator', 'a', 'Ada M.', '', '', '', '', '', '', \(state),
          \(cause?.stored), \(detail), 'test', \(now), \(now), \(isSent ? now : nil),
          \(isOver ? now : nil))
        """)
    }
  }

  static func sampleChange(ofTenant: Bool) -> Int64 { ofTenant ? 9_002 : 9_001 }

  /// Adds a change of the policy to Acme Retail and one to its tenant eu-shop.
  func addSampleChanges() async throws {
    for (pool, ofTenant) in [
      (try await identity.pools.existing(project: ID("acme-retail")), false),
      (try await euPool, true),
    ] {
      let policy = try await identity.policies.read(pool)
      var new = policy.edit
      new.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 7)
      try await addChange(
        Self.sampleChange(ofTenant: ofTenant),
        .policy(new, version: policy.version, seen: policy.edit), in: pool)
    }
  }

  /// Changes the name of a project.
  func rename(_ project: ID<Project>, to name: String) async throws {
    _ = try await identity.pools.update(project: project, by: .program(Author(actor: .commandLine)))
    {
      $0.displayName = name
    }
  }

  /// Has a user of eu-shop report a change with the link of an email, which locks their account.
  func reportChange(of uid: String = World.chiara) async throws {
    let (account, now) = (try await user(uid), clock.now)
    let (change, random) = (
      UserNotice(.factorsRemoved, ["Phone"]), identity.enrollments.store.random
    )
    let code = try await database.write { connection in
      try UserLink.insert(
        .reportedChange, about: change.stored, of: account, to: account.email ?? "",
        random: random, at: now, connection)
    }
    try await identity.reportedChanges.object(code, by: Author(actor: .visitor))
  }

  /// Has an administrator hit the hourly action limit of a pool, which blocks them.
  func block(_ email: String, in pool: Pool) async throws {
    let line = Author(actor: .commandLine)
    let rules = try await identity.support.settings(pool)
    var strict = rules
    strict.actionsPerHour = 1
    try await identity.support.change(pool, to: strict, by: .program(line))
    let (agent, author) = try await inSupport(email)
    let account = try #require(try await identity.accounts.list(pool).items.first).id
    let request = ActionRequest(agent: agent, author: author, reason: .lost)
    _ = try await identity.support.endSessions(pool, account, request)
    do {
      _ = try await identity.support.endSessions(pool, account, request)
    } catch let error as ActionDenial {
      guard case .held = error else { throw error }
    }
    try await identity.support.change(pool, to: rules, by: .program(line))
  }

  /// Adds a support agent of a pool who hit the hourly action limit, and returns their ID.
  func blockedAgent(in pool: Pool) async throws -> String {
    let email = "blocked-\(pool.key)@example.com"
    let agent = try await identity.administrators.create(
      email: email, displayName: "Blocked", password: Secret(World.password),
      grant: Grant(role: .support, project: pool.project, tenant: pool.tenant),
      by: Author(actor: .commandLine))
    try await block(email, in: pool)
    return agent.id.text
  }

  /// Signs another owner in, who is created the first time.
  func anotherOwner() async throws -> (agent: ConsoleSession, author: Author) {
    let email = "olga@example.com"
    if try await !identity.administrators.records().map(\.administrator).contains(where: {
      $0.email == email
    }) {
      _ = try await identity.administrators.create(
        email: email, displayName: "Olga", password: Secret(Self.password),
        grant: Grant(role: .owner), by: Author(actor: .commandLine))
    }
    return try await inSupport(email)
  }

  /// Has another owner remove a phone of a user, who keeps their authenticator app and begins a new
  /// session, and returns the removal.
  func removal(of account: Account, in pool: Pool) async throws -> ID<RemovalHold> {
    var change = AccountChange()
    change.factors = .replace([
      FactorEntry(id: "old-phone", displayName: "Old", phoneNumber: "+15555550100")
    ])
    try await identity.accounts.update(
      pool, account.id, change, by: Author(actor: .commandLine))
    let (agent, author) = try await anotherOwner()
    let outcome = try await identity.factorRemovals.remove(
      pool, account.id, ID("old-phone"),
      ActionRequest(agent: agent, author: author, reason: .lost))
    guard case .done(let removal) = outcome.value, let hold = removal.hold else {
      throw Missing("removal")
    }
    try await beginSessionWithBackupCode(of: account.id.text, in: pool)
    return hold.id
  }

  /// Raises an alert of each kind about twenty users of eu-shop: their codes are early and
  /// incorrect, and six of them lose their factors.
  func raiseAlerts() async throws {
    let (pool, line) = (try await euPool, Author(actor: .commandLine))
    for number in 0..<20 {
      var new = NewAccount()
      (new.localID, new.email) = ("alert-\(number)", "alert-\(number)@example.com")
      new.emailVerified = true
      let account = try await identity.accounts.create(pool, new, by: .program(line)).value
      try await enroll(account, "Phone")
      try await write([CodeFinding(.accepted, distance: 1, step: 1)], of: account.id.text)
      try await write([CodeFinding(.wrong)], of: account.id.text)
    }
    let (agent, author) = try await inSupport()
    for number in 0..<6 {
      _ = try await identity.factorRemovals.remove(
        pool, ID("alert-\(number)"), nil,
        ActionRequest(agent: agent, author: author, reason: .lost))
    }
    while try await identity.audit.file() {}
    try await identity.watchActivity()
  }
}
