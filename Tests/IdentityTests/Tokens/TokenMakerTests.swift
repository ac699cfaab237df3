import Crypto
import Testing

@testable import Identity

/// Tokens end with what their makers may do.
struct TokenMakerTests {
  private func make(
    _ instance: Instance, _ role: ServiceTokenRole, _ scope: Scope, by maker: Administrator? = nil
  ) async throws -> Secret {
    try await instance.identity.serviceTokens.create(
      project: scope.project, tenant: scope.tenant, role: role, name: "\(role) of \(scope.name)",
      maker: maker.map { .administrator($0, instance.author($0)) } ?? .commandLine
    ).secret
  }

  private func counts(_ instance: Instance, _ secrets: [Secret]) async throws -> [Bool] {
    var counts: [Bool] = []
    for secret in secrets {
      let token = try await instance.identity.serviceTokens.find(secret)
      counts.append(token != nil)
    }
    return counts
  }

  @Test func `the tokens of whoever is removed are refused at once`() async throws {
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
        olga.id, by: instance.author(boss))
      #expect(revoked == 2)
      #expect(try await counts(instance, secrets) == [false, false, true, true])
      #expect(try await instance.identity.serviceTokens.count(madeBy: olga.id) == 0)
      let rows = try await instance.wholeLog().filter { $0.action == .serviceTokenRevoke }
      #expect(
        rows.count == 2 && Set(rows.map { $0.old(.role) }) == [.code("owner"), .code("support")])
    }
  }

  @Test func `with a role go the tokens that do more than what is left allows`() async throws {
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
      ] { try await administrators.grant(grant, to: olga.id, by: author) }
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
        Grant(role: .owner, project: acme), from: olga.id, by: author)
      #expect(first == 2)
      #expect(
        try await counts(instance, secrets) == [false, false, true, true, true, true, true])
      let second = try await administrators.revoke(
        Grant(role: .policy, project: acme), from: olga.id, by: author)
      #expect(second == 1)
      #expect(
        try await counts(instance, secrets) == [false, false, false, true, true, true, true])
      // A role given back does not bring them back.
      try await administrators.grant(
        Grant(role: .owner, project: acme), to: olga.id, by: author)
      #expect(try await counts(instance, secrets).filter { $0 }.count == 4)
      let rows = try await instance.wholeLog().filter { $0.action == .serviceTokenRevoke }
      #expect(rows.count == 3)
    }
  }

  @Test func `what a maker may do is looked at when the token is written`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let olga = try await instance.administrator("olga", .owner)
      try await instance.identity.administrators.remove(olga.id, by: instance.author(boss))
      // Her request was admitted while she still had the role.
      await expect("exceedsMaker") {
        _ = try await make(instance, .policy, instance.acme, by: olga)
      }
    }
  }

  @Test func `a last owner who stays keeps the tokens too`() async throws {
    try await withInstance { instance in
      let last = try await instance.administrator("last", .owner)
      let secret = try await make(instance, .owner, instance.acme, by: last)
      await expect("lastOwner") {
        _ = try await instance.identity.administrators.remove(
          last.id, by: Author(actor: .commandLine))
      }
      #expect(try await counts(instance, [secret]) == [true])
    }
  }
}
