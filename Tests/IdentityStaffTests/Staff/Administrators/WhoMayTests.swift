import Identity
import Testing

@testable import TestIdentity

struct WhoMayTests {
  private func administrator(
    _ name: String, _ grant: Grant, _ instance: Instance
  ) async throws -> Administrator {
    try await instance.identity.administrators.create(
      email: "\(name)@example.com", displayName: name, password: Instance.consolePassword,
      grant: grant, by: Instance.boss)
  }

  @Test
  func `administrators see who has a permission, as far as their own grants reach`() async throws {
    try await withInstance { instance in
      let (acme, east) = (instance.acme.project, instance.east.tenant)
      _ = try await administrator("Olga", Grant(role: .owner), instance)
      _ = try await administrator("Pia", Grant(role: .policy, project: acme), instance)
      _ = try await administrator("Tim", Grant(role: .owner, project: acme, tenant: east), instance)
      _ = try await administrator(
        "Zoe", Grant(role: .owner, project: instance.globex.project), instance)
      let support = try await administrator(
        "Dan", Grant(role: .support, project: acme, tenant: east), instance)
      let reviewer = try await administrator("Rik", Grant(role: .support, project: acme), instance)
      let auditor = try await administrator("Ann", Grant(role: .auditor), instance)
      let administrators = instance.identity.administrators
      func names(
        _ permission: Permission, _ pool: Pool?, _ requester: Administrator
      ) async throws -> [String] {
        try await administrators.namesOfThose(with: permission, in: pool, for: requester)
      }
      #expect(try await names(.changePolicy, instance.east, support) == ["Tim"])
      #expect(try await names(.changePolicy, instance.east, reviewer) == ["Tim", "Pia"])
      #expect(try await names(.changePolicy, instance.east, auditor) == ["Tim", "Pia", "Olga"])
      #expect(try await names(.changeUsers, instance.acme, reviewer) == [])
      #expect(try await names(.createProject, nil, auditor) == ["Olga"])
      #expect(try await names(.createProject, nil, support) == [])
    }
  }

  @Test func `other administrators are counted once each and named only where visible`()
    async throws
  {
    try await withInstance { instance in
      let (acme, east) = (instance.acme.project, instance.east.tenant)
      let support = try await administrator(
        "Dan", Grant(role: .support, project: acme, tenant: east), instance)
      let administrators = instance.identity.administrators
      func otherAdministrators(_ requester: Administrator) async throws -> OtherAdministrators {
        try await administrators.otherAdministrators(
          with: .removeFactors, in: instance.east, of: requester)
      }
      let none = try await otherAdministrators(support)
      #expect(none.names.isEmpty && none.count == 0)
      let tim = try await administrator(
        "Tim", Grant(role: .support, project: acme, tenant: east), instance)
      try await administrators.grant(
        Grant(role: .owner, project: acme), to: tim.id, by: .program(Author(actor: .commandLine)))
      let olga = try await administrator("Olga", Grant(role: .owner), instance)
      _ = try await administrator("Pia", Grant(role: .policy, project: acme), instance)
      _ = try await administrator(
        "Zoe", Grant(role: .owner, project: instance.globex.project), instance)
      let seen = try await otherAdministrators(support)
      #expect(seen.names == ["Tim"] && seen.count == 2)
      let both = try await otherAdministrators(olga)
      #expect(both.names.sorted() == ["Dan", "Tim"] && both.count == 2)
      for name in ["Una", "Vic"] {
        _ = try await administrator(name, Grant(role: .support, project: acme), instance)
      }
      let found = try await otherAdministrators(olga)
      #expect(found.count == 4 && found.names.count == 3)
    }
  }
}
