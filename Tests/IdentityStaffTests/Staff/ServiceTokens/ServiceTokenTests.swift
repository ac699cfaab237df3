import Crypto
import Testing

@testable import Identity
@testable import TestIdentity

struct ServiceTokenTests {
  /// The permissions of a token of each role.
  static let table: [ServiceTokenRole: Set<Permission>] = [
    .owner: [
      .seePool, .readPolicy, .changePolicy, .changePool, .manageTenants, .manageKeys,
      .manageTrust, .changeLinks, .findUsers,
      .changeUsers, .exportUsers, .removeFactors, .endSessions, .readAudit, .seeAdministrators,
    ],
    .policy: [.seePool, .readPolicy, .changePolicy, .changePool, .manageTenants],
    .support: [.seePool, .findUsers],
    .auditor: [.seePool, .readPolicy, .findUsers],
    .application: [.seePool, .findUsers, .changeUsers, .exportUsers, .endSessions],
    .connectionRead: [.seePool, .readPolicy, .findUsers, .exportUsers],
    .connectionSupport: [
      .seePool, .readPolicy, .findUsers, .exportUsers, .changeUsers, .endSessions,
    ],
    .connectionPolicy: [
      .seePool, .readPolicy, .findUsers, .exportUsers, .changeUsers, .endSessions, .changePolicy,
      .changePool,
    ],
  ]

  private func make(
    _ instance: Instance, _ role: ServiceTokenRole, tenant: ID<Tenant>? = nil,
    maker: Author = Author(actor: .commandLine)
  ) async throws -> (token: ServiceToken, secret: Secret) {
    try await instance.identity.serviceTokens.create(
      project: instance.acme.project, tenant: tenant, role: role, name: "backend",
      by: .program(maker)
    ).value
  }

  @Test(arguments: ServiceTokenRole.allCases)
  func `a token has the permissions in the table`(role: ServiceTokenRole) async throws {
    try await withInstance { instance in
      let created = try await make(instance, role)
      let token = try #require(try await instance.identity.serviceTokens.find(created.secret))
      for permission in Permission.allCases {
        let allowed = Self.table[role]?.contains(permission)
        for pool in [instance.acme, instance.east] {
          #expect(token.may(permission, in: pool) == allowed, "\(role) \(permission)")
        }
        #expect(!token.may(permission, in: instance.globex))
      }
    }
  }

  @Test func `a tenant's token has no access to the project or another tenant`() async throws {
    try await withInstance { instance in
      let created = try await make(instance, .owner, tenant: instance.east.tenant)
      let token = try #require(try await instance.identity.serviceTokens.find(created.secret))
      for permission in Permission.allCases {
        let allowed = Self.table[.owner]?.contains(permission)
        #expect(token.may(permission, in: instance.east) == allowed)
        for pool in [instance.acme, instance.west, instance.globex] {
          #expect(!token.may(permission, in: pool))
        }
        let acme = instance.acme.project
        #expect(!token.may(permission, project: acme, tenant: ID("")))
        #expect(!token.may(permission, project: ID(""), tenant: instance.east.tenant))
        let globex = instance.globex.project
        #expect(!token.may(permission, project: globex, tenant: instance.east.tenant))
      }
    }
  }

  @Test func `a token is found by its text until it's revoked`() async throws {
    try await withInstance { instance in
      let tokens = instance.identity.serviceTokens
      let created = try await make(instance, .application)
      let text = created.secret.revealedText
      #expect(text.wholeMatch(of: /cst_[A-Za-z0-9_-]{43}/) != nil)
      let found = try #require(try await tokens.find(created.secret))
      #expect((found.id, found.name, found.role) == (created.token.id, "backend", .application))
      #expect(found.createdBy == "command line")
      for other in ["", "cst_", text + "x", String(text.dropLast()), text.lowercased()] {
        #expect(try await tokens.find(Secret(other)) == nil)
      }
      await expect("notFound") {
        try await tokens.revoke(
          created.token.id, of: instance.globex.project, by: .program(Instance.boss))
      }
      #expect(try await tokens.find(created.secret) != nil)
      try await tokens.revoke(
        created.token.id, of: instance.acme.project, by: .program(Instance.boss))
      #expect(try await tokens.find(created.secret) == nil)
      #expect(try await tokens.list(instance.acme.project).map(\.revokedAt) == [instance.now])
      #expect(try await tokens.list(instance.globex.project).isEmpty)
      await expect("notFound") {
        try await tokens.revoke(
          created.token.id, of: instance.acme.project, by: .program(Instance.boss))
      }
      let rows = try await instance.log().prefix(2)
      #expect(rows.map(\.action) == [.serviceTokenRevoke, .serviceTokenCreate])
    }
  }

  @Test func `a token that is revoked during a request changes no more users`() async throws {
    try await withInstance { instance in
      let (accounts, acme) = (instance.identity.accounts, instance.acme)
      let program = try await instance.program()
      let alice = try await instance.account(.alice)
      let bob = try await instance.account(.bob)
      try await accounts.delete(acme, alice.id, by: program)
      try await instance.identity.serviceTokens.revoke(
        ID(program.actor.id), of: acme.project, by: .program(Instance.boss))
      await expect("tokenRevoked") { try await accounts.delete(acme, bob.id, by: program) }
      await expect("tokenRevoked") {
        try await accounts.update(acme, bob.id, AccountChange(), by: program)
      }
      await expect("tokenRevoked") {
        try await accounts.create(acme, NewAccount(), by: .program(program))
      }
      await expect("tokenRevoked") {
        try await instance.identity.imports.run(
          acme, [ImportRow.user(.mallory)], ImportOptions(existing: .replace), by: program)
      }
      let left = try await accounts.export(acme, after: nil, limit: 10)
      #expect(left.items.map(\.account.id) == [bob.id])
    }
  }

  @Test func `a token can't exceed its creator's permissions`() async throws {
    try await withInstance { instance in
      let acme = instance.acme.project
      let east = instance.east.tenant
      let grants: [(Grant, Set<ServiceTokenRole>, Set<ServiceTokenRole>)] = [
        (Grant(role: .owner), Set(ServiceTokenRole.allCases), Set(ServiceTokenRole.allCases)),
        (
          Grant(role: .owner, project: acme), Set(ServiceTokenRole.allCases),
          Set(ServiceTokenRole.allCases)
        ),
        (Grant(role: .owner, project: acme, tenant: east), [], Set(ServiceTokenRole.allCases)),
        (Grant(role: .owner, project: instance.globex.project), [], []),
        (Grant(role: .policy), [.policy], [.policy]),
        (Grant(role: .policy, project: acme, tenant: east), [], [.policy]),
        (Grant(role: .support), [], []), (Grant(role: .auditor), [], []),
      ]
      for (number, (grant, inProject, inTenant)) in grants.enumerated() {
        let maker = try await instance.identity.administrators.create(
          email: "m\(number)@example.com", displayName: "M", password: Instance.consolePassword,
          grant: grant, by: Author(actor: .commandLine))
        let author = maker.author(address: "a", requestID: "r")
        for role in ServiceTokenRole.allCases {
          for (tenant, allowed) in [(nil, inProject), (east, inTenant)] {
            await expect(allowed.contains(role) ? "done" : "exceedsMaker") {
              try await make(
                instance, role, tenant: tenant, maker: author)
            }
          }
        }
      }
    }
  }

  @Test func `a token requires an existing pool and a name`() async throws {
    try await withInstance { instance in
      let tokens = instance.identity.serviceTokens
      let pools: [(ID<Project>, ID<Tenant>?)] = [
        (ID("nowhere"), nil), (instance.acme.project, ID("nowhere")),
        (instance.acme.project, ID("")), (instance.globex.project, instance.east.tenant),
      ]
      for (project, tenant) in pools {
        await expect(tenant == nil ? "projectNotFound" : "tenantNotFound") {
          try await tokens.create(
            project: project, tenant: tenant, role: .owner, name: "x",
            by: .program(Author(actor: .commandLine)))
        }
      }
      await expect("invalidName") {
        try await tokens.create(
          project: instance.acme.project, tenant: nil, role: .owner, name: " ",
          by: .program(Author(actor: .commandLine)))
      }
    }
  }
}
