import Crypto
import Database
import Testing

@testable import Identity

extension Instance {
  /// Permits imports of TOTP secrets in a project.
  func allowTOTPImport(in pool: Pool? = nil) async throws {
    _ = try await identity.pools.update(project: (pool ?? acme).project, by: .program(Self.boss)) {
      $0.project?.importsTOTP = true
    }
  }

  /// Imports users with an authenticator app each.
  func importApps(
    _ apps: [(Person, Secret)], in pool: Pool? = nil, by identity: Identity? = nil
  ) async throws {
    let (pool, identity) = (pool ?? acme, identity ?? self.identity)
    try await allowTOTPImport(in: pool)
    let rows = apps.map { person, secret in
      ImportRow.user(person) { $0.factors = [ImportedFactor(.totp(secret), id: "app")] }
    }
    let outcome = try await identity.imports.run(
      pool, rows, .factorless, by: Self.boss)
    #expect(outcome.refusals.isEmpty)
  }

  /// Imports users `user-0@example.com` and so on with the UIDs `u0` and so on, each with an app
  /// with the enrollment ID `f0` and so on.
  func addUsers(_ count: Int, in pool: Pool? = nil, from first: Int = 0) async throws {
    let pool = pool ?? acme
    try await allowTOTPImport(in: pool)
    var rows: [ImportRow] = []
    for number in first..<(first + count) {
      var user = ImportedUser()
      user.localID = "u\(number)"
      user.email = "user-\(number)@example.com"
      user.emailVerified = true
      var factor = ImportedFactor(.totp(ImportedFactor.secret), id: "f\(number)")
      factor.displayName = "app of \(number)"
      user.factors = [factor]
      rows.append(.success(user))
    }
    while !rows.isEmpty {
      let outcome = try await identity.imports.run(
        pool, Array(rows.prefix(500)), .factorless, by: Self.boss)
      #expect(outcome.refusals.isEmpty)
      rows.removeFirst(min(500, rows.count))
    }
  }

  /// Creates a draft of a bulk removal.
  func draft(_ text: String, by agent: Agent, in pool: Pool? = nil) async throws -> Int64 {
    try await identity.bulkRemovals.draft(
      try BulkList(text), in: pool ?? acme, by: agent.author, agent.session)
  }

  /// Returns the addresses of imported users, one per line.
  func addresses(_ range: Range<Int>) -> String {
    range.map { "user-\($0)@example.com" }.joined(separator: "\n")
  }

  /// Starts a draft.
  @discardableResult
  func begin(
    _ job: Int64, by agent: Agent, number: String = "", _ reason: SupportReason = .lost,
    code: String = "", terms: CampaignTerms? = nil, in pool: Pool? = nil
  ) async throws -> BulkJob {
    try await identity.bulkRemovals.begin(
      job, in: pool ?? acme, number: number, terms: terms,
      agent.request(reason, note: "theft", code: code)
    ).value
  }

  /// Runs all bulk removals to the end, as the server does.
  func runAll(_ limit: Int = BulkRemovals.part) async throws {
    while try await identity.bulkRemovals.step(limit) {}
  }

  func job(_ id: Int64, by agent: Agent, in pool: Pool? = nil) async throws -> BulkJob {
    try await identity.bulkRemovals.find(id, in: pool ?? acme, for: agent.administrator.id)
  }

  /// Returns the results of a job's lines, in order.
  func results(_ job: BulkJob) async throws -> [String] {
    try await identity.bulkRemovals.items(of: job, limit: 100_000).items.map {
      $0.result?.rawValue ?? "open"
    }
  }

  /// Changes the support rules of a pool.
  func setSupportRules(in pool: Pool? = nil, _ change: (inout SupportRules) -> Void) async throws {
    let pool = pool ?? acme
    var settings = try await identity.support.settings(pool)
    change(&settings)
    try await identity.support.change(pool, to: settings, by: .program(Self.boss))
  }

  /// Has an owner protect an account, or the user report a change, which locks their factors.
  func mark(
    _ uid: String, isProtected: Bool = false, isLocked: Bool = false, in pool: Pool? = nil
  ) async throws {
    let pool = pool ?? acme
    if isLocked { try await reportChange(of: ID(uid), in: pool) }
    guard isProtected else { return }
    let owner = try await agent("olga", role: .owner)
    _ = try await identity.support.protect(pool, ID(uid), true, owner.request())
  }

  /// Has a user report a change with the link of an email to an address, by default the account's, which
  /// locks the account.
  func reportChange(
    of uid: ID<Account>, from address: String? = nil, in pool: Pool? = nil
  ) async throws {
    let account = try #require(try await identity.accounts.find(pool ?? acme, uid))
    let (now, random) = (now, identity.enrollments.store.random)
    let change = UserNotice(.factorsRemoved, ["phone"])
    let code = try await database.write { connection in
      try UserLink.insert(
        .reportedChange, about: change.stored, of: account, to: address ?? account.email ?? "",
        random: random, at: now, connection)
    }
    try await identity.reportedChanges.object(code, by: Self.visitor)
  }
}

extension Instance {
  /// Has the server enforce enrollment under a mandatory pattern; nil turns that off.
  func enforce(
    _ mode: Enforcement.Mode?, from: String = "2026-03-01", grace: Int = 0
  ) async throws {
    let day = try #require(Day(from))
    let enforcement = mode.flatMap { Enforcement($0, from: day, graceDays: grace) }
    _ = try await identity.policies.change(acme, by: .program(Self.boss)) {
      edit throws(PolicyError) in
      edit.pattern = .mandatory
      edit.enforcement = enforcement
    }
  }
}
