import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

struct ProjectDeletionTests {
  @Test func `a deleted project is unreachable, and its audit log is preserved`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let (acme, east) = (instance.acme.project, try #require(instance.east.tenant))
      let device = try await instance.enrolled(.alice, in: instance.east)
      let grant = try await instance.finalize(
        device, instance.pending(.alice, in: instance.east), code: device.code(at: instance.now),
        in: instance.east)
      _ = try await instance.account(.bob)
      let key = try #require(try await identity.apiKeys.list(acme).first)
      let token = try await identity.serviceTokens.create(
        project: acme, tenant: nil, role: .owner, name: "x",
        by: .program(Author(actor: .commandLine))
      ).value
      let losses = try await identity.pools.deletionImpact(project: acme)
      #expect([losses.tenants, losses.users, losses.enrolledUsers] == [2, 2, 1])
      #expect([losses.apiKeys, losses.serviceTokens] == [1, 1])
      let owner = try await instance.administrator()

      try await identity.pools.delete(project: acme, by: .program(Instance.boss))

      await expect("projectNotFound") { try await identity.pools.existingSettings(project: acme) }
      await expect("projectDeleted") { try await identity.pools.find(project: acme) }
      await expect("tenantDeleted") { try await identity.pools.find(project: acme, tenant: east) }
      await expect("tenantNotFound") {
        try await identity.pools.existingSettings(project: acme, tenant: east)
      }
      await expect("projectNotFound") {
        try await identity.pools.createTenant(
          in: acme, PoolEdit(displayName: "North"), by: .program(Instance.boss))
      }
      await expect("poolNotFound") { try await identity.policies.read(instance.acme) }
      await expect("poolDeleted") { try await instance.account(.mallory) }
      await expect("invalidRefreshToken") {
        try await identity.sessions.refresh(grant.refreshToken, project: acme)
      }
      #expect(try await identity.apiKeys.project(for: key.text) == nil)
      #expect(try await identity.serviceTokens.find(token.secret) == nil)
      let list = try await identity.pools.projects(visibleTo: owner)
      #expect(list.items.map(\.id) == [instance.globex.project])
      let names = try await identity.pools.projectNames(visibleTo: owner, limit: 9)
      #expect(names.map(\.id) == [instance.globex.project])
      await expect("projectIDTaken") {
        try await identity.pools.createProject(
          id: acme.text, displayName: "A", by: .program(Instance.boss))
      }
      await expect("projectNotFound") {
        try await identity.pools.delete(project: acme, by: .program(Instance.boss))
      }

      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .projectDelete)
      #expect(
        row.changes == [
          AuditChange(.displayName, from: .text("Acme")), AuditChange(.tenants, from: .number(2)),
          AuditChange(.users, from: .number(2)), AuditChange(.apiKeys, from: .number(1)),
          AuditChange(.serviceTokens, from: .number(1)),
        ])
      #expect(try await instance.log(instance.east).isEmpty == false)
      let rest = try await instance.contents()
      for table in ["account", "factor", "session"] {
        #expect(rest[table] == [], "\(table)")
      }
    }
  }

  @Test func `no one is created in a pool that was deleted after a call found it`() async throws {
    try await withInstance { instance in
      let (identity, east) = (instance.identity, instance.east)
      let tenant = try #require(east.tenant)
      try await identity.pools.delete(
        project: east.project, tenant: tenant, by: .program(Instance.boss))
      await expect("poolDeleted") { try await instance.account(.alice, in: east) }
      var new = NewAccount()
      (new.email, new.password) = ("alice@example.com", Secret("correct horse"))
      let mine = new
      await expect("poolDeleted") {
        try await identity.signIns.signUp(east, mine, by: Instance.visitor)
      }
      await expect("poolDeleted") {
        try await identity.imports.run(
          east, [ImportRow.user(.alice)], .factorless, by: Instance.boss)
      }
      #expect(try await instance.users(of: east) == 0)
    }
    try await withEmulator { identity in
      let pool = try await identity.pools.find(project: ID("some-app"))
      try await identity.pools.delete(
        project: pool.project, by: .program(Author(actor: .emulatorOwner)))
      await expect("poolDeleted") {
        try await identity.customTokens.signIn(
          pool, token: #"{"uid":"alice"}"#, by: Author(actor: .visitor))
      }
    }
  }

  @Test func `users are deleted in batches, and a restarted server continues`() async throws {
    try await withInstance { instance in
      // Four batches and a part of one.
      let people = 403
      try await instance.addUsers(people, in: instance.east)
      let tenant = try #require(instance.east.tenant)
      let project = instance.acme.project
      try await instance.identity.pools.delete(
        project: project, tenant: tenant, by: .program(Instance.boss))
      let first = try await instance.users(of: instance.east)
      #expect(first > 0 && first < people, "the first batch is deleted immediately, but not all")
      // Users who aren't deleted yet are unreachable.
      await expect("tenantDeleted") {
        try await instance.identity.pools.find(project: project, tenant: tenant)
      }
      let losses = try await instance.identity.pools.deletionImpact(project: project)
      #expect(losses.users == 0, "users to be deleted are not counted")
      #expect(try await instance.identity.purge())
      let second = try await instance.users(of: instance.east)
      #expect(second < first)
      let restarted = try instance.identity()
      var rounds = 0
      while try await restarted.purge() {
        rounds += 1
        #expect(rounds < 10)
      }
      #expect(try await instance.users(of: instance.east) == 0)
      #expect(try await instance.identity.purge() == false)
      #expect(try await instance.wholeLog().first?.old(.users) == .number(people))
    }
  }

  @Test func `in the emulator, a deleted project isn't created again`() async throws {
    try await withEmulator { identity in
      let project = ID<Project>("some-app")
      _ = try await identity.pools.find(project: project)
      try await identity.pools.delete(project: project, by: .program(Author(actor: .emulatorOwner)))
      await expect("projectDeleted") { try await identity.pools.find(project: project) }
    }
  }

  @Test(
    arguments: [
      ("localhost", true), ("app.example.com", true), ("127.0.0.1", true),
      ("xn--bcher-kva.de", true),
      ("", false), ("https://app.example.com", false), ("app.example.com:3000", false),
      ("a b", false), ("-a.example", false), ("a..b", false), (".example.com", false),
      ("*.example.com", false), ("büch.er", false), (String(repeating: "a", count: 64), false),
    ])
  func `an authorized domain is a valid host name`(domain: String, isOne: Bool) async throws {
    try await withInstance { instance in
      let outcome = await outcome {
        try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(Author(actor: .commandLine))
        ) {
          $0.project?.authorizedDomains.append(domain)
        }
      }
      #expect(outcome == (isOne ? "done" : "invalidDomain"))
    }
  }
}

extension Instance {
  /// Adds many accounts without passwords to a pool.
  fileprivate func addUsers(_ count: Int, in pool: Pool) async throws {
    let first = pool.key << 40 + 1_000
    let (key, last) = (pool.key, first + Int64(count) - 1)
    try await database.write { connection in
      try connection.run(
        """
        WITH RECURSIVE n (k) AS (
          VALUES (CAST(\(first) AS BIGINT)) UNION ALL SELECT k + 1 FROM n WHERE k < \(last))
        INSERT /* test */ INTO account (account_key, scope_key, uid, valid_since_s, created_at)
        SELECT k, \(key), 'crowd-' || k, 0, 0 FROM n
        """)
      try connection.run(
        "UPDATE /* test */ scope SET users = users + \(count) WHERE scope_key = \(key)")
    }
  }

  fileprivate func users(of pool: Pool) async throws -> Int {
    try await database.read { connection in
      try connection.first(
        "SELECT /* test */ users FROM scope WHERE scope_key = \(pool.key)"
      ) { try $0.next() } ?? -1
    }
  }
}
