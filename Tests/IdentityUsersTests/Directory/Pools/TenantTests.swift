import OTP
import Testing

@testable import Identity
@testable import TestIdentity

struct TenantTests {
  @Test func `a tenant ID is the name and five random characters`() async throws {
    try await withInstance { instance in
      let tenant = try await instance.identity.pools.createTenant(
        in: instance.acme.project, PoolEdit(displayName: "North-1"), by: .program(Instance.boss)
      ).value
      #expect(tenant.pool.objectID.wholeMatch(of: /North-1-[a-z0-9]{5}/) != nil)
      #expect(tenant.displayName == "North-1")
      #expect(tenant.pool.project == instance.acme.project)
      let off = SignInMethods(password: false, emailLink: false, anonymous: false)
      #expect(tenant.signIn == off)
      #expect(tenant.policy.configuration == MFAConfiguration())
      #expect(!tenant.policy.configuration.isTOTPOn)
    }
  }

  @Test(
    arguments: [
      ("", "missingTenantName"), ("abc", "invalidTenantName"), ("1abc", "invalidTenantName"),
      ("-abc", "invalidTenantName"), ("with space", "invalidTenantName"),
      ("abcdefghijklmnopqrstu", "invalidTenantName"), ("näme", "invalidTenantName"),
      ("abc[", "invalidTenantName"), ("abc@", "invalidTenantName"),
      ("abc`", "invalidTenantName"), ("abc{", "invalidTenantName"),
      ("abcd", "done"), ("A-9-", "done"), ("abcdefghijklmnopqrst", "done"),
    ])
  func `a name is a letter followed by 3 to 19 letters, digits, and hyphens`(
    name: String, expected: String
  ) async throws {
    try await withInstance { instance in
      await expect(expected) {
        try await instance.identity.pools.createTenant(
          in: instance.acme.project, PoolEdit(displayName: name), by: .program(Instance.boss))
      }
    }
  }

  @Test func `a tenant inherits nothing from its project's policy`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let east = try await instance.identity.policies.read(instance.east)
      #expect(east.configuration.window.adjacentIntervals == 5)
      #expect(east.version == 0)
    }
  }

  @Test func `a project that doesn't allow tenants can't have any`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.pools.update(
        project: instance.globex.project, by: .program(Instance.boss)
      ) { $0.project?.allowTenants = false }
      await expect("multiTenancyOff") {
        try await instance.identity.pools.createTenant(
          in: instance.globex.project, PoolEdit(displayName: "North"), by: .program(Instance.boss))
      }
      await expect("projectNotFound") {
        try await instance.identity.pools.createTenant(
          in: ID("nowhere"), PoolEdit(displayName: "North"), by: .program(Instance.boss))
      }
    }
  }

  @Test func `a tenant of another project isn't found`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      let east = try #require(instance.east.tenant)
      let globex = instance.globex.project
      await expect("tenantNotFound") {
        try await pools.existingSettings(project: globex, tenant: east)
      }
      await expect("tenantNotFound") {
        try await pools.existingSettings(project: globex, tenant: ID(""))
      }
      await expect("tenantNotFound") {
        try await pools.update(project: globex, tenant: east, by: .program(Instance.boss)) {
          $0.disableAuth = true
        }
      }
      await expect("tenantNotFound") {
        try await pools.delete(project: globex, tenant: east, by: .program(Instance.boss))
      }
      _ = try await pools.existingSettings(project: instance.acme.project, tenant: east)
    }
  }

  @Test func `a change writes audit rows, and a change without effect writes none`() async throws {
    try await withInstance { instance in
      let east = try #require(instance.east.tenant)
      for _ in 0..<2 {
        let tenant = try await instance.identity.pools.update(
          project: instance.acme.project, tenant: east, by: .program(Instance.boss)
        ) { edit in
          edit.displayName = "Far-East"
          edit.signIn.anonymous = true
          edit.configuration.totp?.state = .disabled
        }.value
        #expect(tenant.displayName == "Far-East")
        #expect(!tenant.policy.configuration.isTOTPOn)
      }
      let rows = try await instance.log(instance.east)
      #expect(rows.map(\.action) == [.policyChange, .tenantChange, .tenantCreate])
      #expect(rows[1].old(.displayName) == .text("East"))
      #expect(rows[1].new(.anonymousSignIn) == .flag(true) && rows[1].fields.count == 2)
      #expect(rows[0].fields.first == .totp)
    }
  }

  @Test func `deleting a tenant deletes users, sessions, and tokens, and retires its ID`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let device = try await instance.enrolled(.alice, in: instance.east)
      let grant = try await instance.finalize(
        device, instance.pending(.alice, in: instance.east), code: device.code(at: instance.now),
        in: instance.east)
      let pending = try await instance.pending(.alice, in: instance.east)
      let bob = try await instance.account(.bob, in: instance.west)
      let token = try await identity.serviceTokens.create(
        project: instance.acme.project, tenant: instance.east.tenant, role: .application,
        name: "backend", by: .program(Author(actor: .commandLine))
      ).value
      let east = try #require(instance.east.tenant)
      try await identity.pools.delete(
        project: instance.acme.project, tenant: east, by: .program(Instance.boss))

      await expect("tenantDeleted") {
        try await identity.pools.find(project: instance.acme.project, tenant: east)
      }
      await expect("userNotFound") { try await identity.sessions.check(grant.session) }
      await expect("tenantDeleted") {
        try await identity.sessions.refresh(grant.refreshToken, project: instance.acme.project)
      }
      let code = try device.code(at: instance.now, steps: 1)
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, pending, code: code, in: instance.east)
      }
      #expect(try await identity.serviceTokens.find(token.secret) == nil)
      #expect(try await identity.accounts.find(instance.west, bob.id) != nil)
      await expect("tenantNotFound") {
        try await identity.pools.delete(
          project: instance.acme.project, tenant: east, by: .program(Instance.boss))
      }
      await expect("poolDeleted") { try await instance.account(.mallory, in: instance.east) }
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .tenantDelete)
      #expect(row.old(.users) == .number(1))
    }
  }

  @Test func `the tenants of a project are listed by ID, page by page`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      for number in 100..<125 {
        _ = try await pools.createTenant(
          in: instance.globex.project, PoolEdit(displayName: "T-\(number)"),
          by: .program(Instance.boss))
      }
      let owner = Administrator(
        id: ID("o"), email: "o@example.com", displayName: "Olga", grants: [Grant(role: .owner)])
      var (seen, after): ([String], String?) = ([], nil)
      repeat {
        let page = try await pools.tenants(
          project: instance.globex.project, after: after, limit: 7)
        #expect(page.items.count <= 7)
        seen += page.items.map(\.displayName)
        after = page.next
      } while after != nil
      #expect(seen == (100..<125).map { "T-\($0)" })
      let found = try await instance.identity.policies.review(
        instance.globex.project, visibleTo: owner, PolicyReviewQuery(search: "t-11"))
      #expect(found.tenants.items.count == 10)
    }
  }

  @Test func `an administrator of one tenant sees only that tenant`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      let acme = instance.acme.project
      let grant = Grant(role: .support, project: acme, tenant: instance.east.tenant)
      let dora = Administrator(
        id: ID("d"), email: "d@example.com", displayName: "Dora", grants: [grant])
      let policies = instance.identity.policies
      let list = try await policies.review(acme, visibleTo: dora).tenants.items
      #expect(list.map(\.tenant) == [instance.east.tenant])
      let names = try await pools.tenantNames(project: acme, visibleTo: dora, limit: 10)
      #expect(names.map(\.displayName) == ["East"])
      let globex = try await policies.review(instance.globex.project, visibleTo: dora).tenants
      #expect(globex.items.isEmpty)
    }
  }
}
