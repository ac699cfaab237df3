import Testing

@testable import Identity
@testable import TestIdentity

struct ProjectListTests {
  private func administrator(_ grants: Grant...) -> Administrator {
    Administrator(id: ID("a"), email: "a@example.com", displayName: "A", grants: grants)
  }

  @Test func `administrators see the projects of their grants`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      func seen(_ administrator: Administrator) async throws -> [String] {
        try await pools.projects(visibleTo: administrator).items.map(\.id.text)
      }
      let acme = instance.acme.project
      #expect(try await seen(administrator(Grant(role: .auditor))) == ["acme-app", "globex-app"])
      #expect(try await seen(administrator(Grant(role: .support, project: acme))) == ["acme-app"])
      let east = Grant(role: .support, project: acme, tenant: instance.east.tenant)
      #expect(try await seen(administrator(east)) == ["acme-app"])
      #expect(try await seen(administrator()) == [])
      let names = try await pools.projectNames(visibleTo: administrator(east), limit: 10)
      #expect(names.map(\.displayName) == ["Acme"])
    }
  }

  @Test func `the counts cover only the pools that the administrator can see`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.enrolled(.alice, in: instance.east)
      _ = try await instance.account(.bob, in: instance.east)
      _ = try await instance.account(.bob, in: instance.west)
      func counts(_ grant: Grant) async throws -> [Int] {
        let list = try await instance.identity.pools.projects(visibleTo: administrator(grant))
        let acme = try #require(list.items.first { $0.id == instance.acme.project })
        return [acme.tenants, acme.users, acme.enrolledUsers]
      }
      let acme = instance.acme.project
      #expect(try await counts(Grant(role: .owner)) == [2, 4, 1])
      #expect(try await counts(Grant(role: .owner, project: acme)) == [2, 4, 1])
      let east = Grant(role: .owner, project: acme, tenant: instance.east.tenant)
      #expect(try await counts(east) == [1, 2, 1])
      let west = Grant(role: .owner, project: acme, tenant: instance.west.tenant)
      #expect(try await counts(west) == [1, 1, 0])
    }
  }

  @Test func `the list is paged and searchable`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      for number in 10..<35 {
        _ = try await pools.createProject(
          id: "project-\(number)", displayName: "Number \(number)", by: .program(Instance.boss))
      }
      let owner = administrator(Grant(role: .owner))
      var (seen, after): ([String], String?) = ([], nil)
      repeat {
        let page = try await pools.projects(visibleTo: owner, after: after, limit: 10)
        seen += page.items.map(\.id.text)
        after = page.next
      } while after != nil
      #expect(seen == ["acme-app", "globex-app"] + (10..<35).map { "project-\($0)" })
      let found = try await pools.projects(visibleTo: owner, search: "NUMBER 2").items
      #expect(found.count == 10)
      #expect(try await pools.projects(visibleTo: owner, search: "%_'").items.isEmpty)
    }
  }
}
