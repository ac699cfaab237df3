import Crypto
import Testing

@testable import Identity
@testable import TestIdentity

/// Tokens are revoked when their creators lose the required permissions.
struct TokenMakerTests {
  private func make(
    _ instance: Instance, _ role: ServiceTokenRole, _ pool: Pool, by maker: Administrator? = nil
  ) async throws -> Secret {
    try await instance.identity.serviceTokens.create(
      project: pool.project, tenant: pool.tenant, role: role, name: "\(role) of \(pool.name)",
      by: .program(maker.map { instance.author($0) } ?? Author(actor: .commandLine))
    ).value.secret
  }

  private func validity(_ instance: Instance, _ secrets: [Secret]) async throws -> [Bool] {
    var validity: [Bool] = []
    for secret in secrets {
      let token = try await instance.identity.serviceTokens.find(secret)
      validity.append(token != nil)
    }
    return validity
  }

  @Test func `removing an administrator revokes their tokens immediately`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      let secrets = [
        try await make(instance, .owner, instance.acme, by: olga),
        try await make(instance, .support, instance.east, by: olga),
        try await make(instance, .owner, instance.acme, by: boss),
        try await make(instance, .owner, instance.acme),
      ]
      #expect(try await instance.identity.serviceTokens.count(madeBy: olga.id) == 2)
      let revoked = try await instance.identity.administrators.remove(
        olga.id, by: .program(instance.author(boss))
      ).value
      #expect(revoked == 2)
      #expect(try await validity(instance, secrets) == [false, false, true, true])
      #expect(try await instance.identity.serviceTokens.count(madeBy: olga.id) == 0)
      let rows = try await instance.wholeLog().filter { $0.action == .serviceTokenRevoke }
      #expect(
        rows.count == 2 && Set(rows.map { $0.old(.role) }) == [.code("owner"), .code("support")])
    }
  }

  @Test func `revoking a role revokes tokens that exceed the remaining roles`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let acme = instance.acme.project
      let olga = try await instance.administrator("olga", .owner, project: acme)
      let administrators = instance.identity.administrators
      let author = instance.author(boss)
      for grant in [
        Grant(role: .policy, project: acme),
        Grant(role: .owner, project: acme, tenant: instance.east.tenant),
        Grant(role: .owner, project: instance.globex.project),
      ] { try await administrators.grant(grant, to: olga.id, by: .program(author)) }
      let secrets = [
        try await make(instance, .owner, instance.acme, by: olga),
        try await make(instance, .application, instance.west, by: olga),
        try await make(instance, .policy, instance.acme, by: olga),
        try await make(instance, .owner, instance.east, by: olga),
        try await make(instance, .owner, instance.globex, by: olga),
        try await make(instance, .owner, instance.acme, by: boss),
        try await make(instance, .owner, instance.acme),
      ]
      let first = try await administrators.revoke(
        Grant(role: .owner, project: acme), from: olga.id, by: .program(author)
      ).value
      #expect(first == 2)
      #expect(
        try await validity(instance, secrets) == [false, false, true, true, true, true, true])
      let second = try await administrators.revoke(
        Grant(role: .policy, project: acme), from: olga.id, by: .program(author)
      ).value
      #expect(second == 1)
      #expect(
        try await validity(instance, secrets) == [false, false, false, true, true, true, true])
      // Granting the role again doesn't restore the tokens.
      try await administrators.grant(
        Grant(role: .owner, project: acme), to: olga.id, by: .program(author))
      #expect(try await validity(instance, secrets).filter { $0 }.count == 4)
      let rows = try await instance.wholeLog().filter { $0.action == .serviceTokenRevoke }
      #expect(rows.count == 3)
    }
  }

  @Test func `a creator's permissions are checked when the token is stored`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      try await instance.identity.administrators.remove(
        olga.id, by: .program(instance.author(boss)))
      // The request was authorized while she still had the role.
      await expect("exceedsMaker") {
        _ = try await make(instance, .policy, instance.acme, by: olga)
      }
    }
  }

  @Test func `a refused removal of the last owner keeps their tokens`() async throws {
    try await withInstance { instance in
      let last = try await instance.administrator("last", .owner)
      let secret = try await make(instance, .owner, instance.acme, by: last)
      await expect("lastOwner") {
        _ = try await instance.identity.administrators.remove(
          last.id, by: .program(Author(actor: .commandLine)))
      }
      #expect(try await validity(instance, [secret]) == [true])
    }
  }
}
