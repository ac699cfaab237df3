import Crypto
import Testing

@testable import Identity

struct ServiceTokenTests {
  /// What a token of each role may do in its scope.
  static let table: [ServiceTokenRole: Set<Permission>] = [
    .owner: [
      .seeScope, .readPolicy, .changePolicy, .changeScope, .manageTenants, .manageKeys,
      .manageTrust, .changeLinks, .findUsers,
      .changeUsers, .exportUsers, .removeFactors, .endSessions, .readAudit, .seeAdministrators,
    ],
    .policy: [.seeScope, .readPolicy, .changePolicy, .changeScope, .manageTenants],
    .support: [.seeScope, .findUsers],
    .auditor: [.seeScope, .readPolicy, .findUsers],
    .application: [.seeScope, .findUsers, .changeUsers, .exportUsers, .endSessions],
  ]

  private func make(
    _ instance: Instance, _ role: ServiceTokenRole, tenant: ID<Tenant>? = nil,
    maker: ServiceTokens.Maker = .commandLine
  ) async throws -> (token: ServiceToken, secret: Secret) {
    try await instance.identity.serviceTokens.create(
      project: instance.acme.project, tenant: tenant, role: role, name: "back end", maker: maker)
  }

  @Test(arguments: ServiceTokenRole.allCases)
  func `a token may do what the table says`(role: ServiceTokenRole) async throws {
    try await withInstance { instance in
      let made = try await make(instance, role)
      let token = try #require(try await instance.identity.serviceTokens.find(made.secret))
      for permission in Permission.allCases {
        let allowed = Self.table[role]?.contains(permission)
        for scope in [instance.acme, instance.east] {
          #expect(token.may(permission, in: scope) == allowed, "\(role) \(permission)")
        }
        #expect(!token.may(permission, in: instance.globex))
      }
    }
  }

  @Test func `a tenant's token reaches neither the project nor another tenant`() async throws {
    try await withInstance { instance in
      let made = try await make(instance, .owner, tenant: instance.east.tenant)
      let token = try #require(try await instance.identity.serviceTokens.find(made.secret))
      for permission in Permission.allCases {
        let allowed = Self.table[.owner]?.contains(permission)
        #expect(token.may(permission, in: instance.east) == allowed)
        for scope in [instance.acme, instance.west, instance.globex] {
          #expect(!token.may(permission, in: scope))
        }
        let acme = instance.acme.project
        #expect(!token.may(permission, project: acme, tenant: ID("")))
        #expect(!token.may(permission, project: ID(""), tenant: instance.east.tenant))
        let globex = instance.globex.project
        #expect(!token.may(permission, project: globex, tenant: instance.east.tenant))
      }
    }
  }

  @Test func `the text is shown once and found, kept as a digest, and gone when revoked`()
    async throws
  {
    try await withInstance { instance in
      let tokens = instance.identity.serviceTokens
      let made = try await make(instance, .application)
      let text = made.secret.revealedText
      #expect(text.wholeMatch(of: /cst_[A-Za-z0-9_-]{43}/) != nil)
      let found = try #require(try await tokens.find(made.secret))
      #expect((found.id, found.name, found.role) == (made.token.id, "back end", .application))
      #expect(found.createdBy == "command line")
      for other in ["", "cst_", text + "x", String(text.dropLast()), text.lowercased()] {
        #expect(try await tokens.find(Secret(other)) == nil)
      }
      await expect("notFound") {
        try await tokens.revoke(made.token.id, of: instance.globex.project, by: Instance.boss)
      }
      #expect(try await tokens.find(made.secret) != nil)
      try await tokens.revoke(made.token.id, of: instance.acme.project, by: Instance.boss)
      #expect(try await tokens.find(made.secret) == nil)
      #expect(try await tokens.list(instance.acme.project).map(\.revokedAt) == [instance.now])
      #expect(try await tokens.list(instance.globex.project).isEmpty)
      await expect("notFound") {
        try await tokens.revoke(made.token.id, of: instance.acme.project, by: Instance.boss)
      }
      let rows = try await instance.log().prefix(2)
      #expect(rows.map(\.action) == [.serviceTokenRevoke, .serviceTokenCreate])
    }
  }

  @Test func `a token never exceeds its maker`() async throws {
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
                instance, role, tenant: tenant, maker: .administrator(maker, author))
            }
          }
        }
      }
    }
  }

  @Test func `a token is for a pool that is there`() async throws {
    try await withInstance { instance in
      let tokens = instance.identity.serviceTokens
      let pools: [(ID<Project>, ID<Tenant>?)] = [
        (ID("nowhere"), nil), (instance.acme.project, ID("nowhere")),
        (instance.acme.project, ID("")), (instance.globex.project, instance.east.tenant),
      ]
      for (project, tenant) in pools {
        await expect("scopeNotFound") {
          try await tokens.create(
            project: project, tenant: tenant, role: .owner, name: "x", maker: .commandLine)
        }
      }
      await expect("invalidName") {
        try await tokens.create(
          project: instance.acme.project, tenant: nil, role: .owner, name: " ",
          maker: .commandLine)
      }
    }
  }
}
