import Database
import Identity
import Testing

@testable import TestIdentity

struct AuditTests {
  @Test func `a project's log doesn't include entries of its tenants`() async throws {
    try await withInstance { instance in
      for pool in [instance.acme, instance.east, instance.globex] {
        try await instance.setWindow(2, in: pool)
      }
      for pool in [instance.acme, instance.east, instance.globex] {
        let rows = try await instance.log(pool)
        #expect(rows.contains { $0.new(.adjacentIntervals) == .number(2) })
        #expect(rows.allSatisfy { $0.project == pool.project && $0.tenant == pool.tenant })
      }
      #expect(try await instance.log(instance.west).count == 1)
    }
  }

  @Test func `L3: a user's history includes changes to the account and its factors`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      _ = try await instance.enrolled(.bob)
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, alice.account.id, alice.factor, agent.request())
      let filter = AuditFilter(
        pool: instance.acme, object: .account, objectID: alice.account.id.text)
      let rows = try await instance.identity.audit.list(filter).items
      #expect(rows.map(\.action) == [.factorRemove, .factorEnroll, .accountCreate])
    }
  }

  @Test func `a filter also applies without a pool`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.administrator()
      let filter = AuditFilter(object: .administrator)
      let rows = try await instance.identity.audit.list(filter).items
      #expect(rows.map(\.action) == [.administratorCreate])
    }
  }

  @Test func `paging isn't shifted by new entries`() async throws {
    try await withInstance { instance in
      for number in 0..<25 { try await instance.setWindow(number % 11) }
      let all = try await instance.log().map(\.id)
      var (seen, after): ([Int64], String?) = ([], nil)
      repeat {
        let page = try await instance.identity.audit.list(
          AuditFilter(pool: instance.acme), after: after, limit: 4)
        seen += page.items.map(\.id)
        after = page.next
        try await instance.setWindow(seen.count % 2 == 0 ? 9 : 8)
      } while after != nil
      #expect(seen == all)
      #expect(seen == seen.sorted(by: >))
    }
  }

  @Test(arguments: ["", "x", "0", "-1", "9223372036854775807", "9223372036854775808"])
  func `any cursor is accepted`(after: String) async throws {
    try await withInstance { instance in
      let page = try await instance.identity.audit.list(
        AuditFilter(pool: instance.acme), after: after)
      #expect(page.items.allSatisfy { $0.project == instance.acme.project })
    }
  }

  @Test func `entry IDs are never reused`() async throws {
    try await withInstance { instance in
      let last = try #require(try await instance.wholeLog().first).id
      try await instance.database.write { connection in
        _ = try connection.run("DELETE /* test */ FROM audit WHERE audit_id = \(last)")
      }
      try await instance.setWindow(4)
      #expect(try #require(try await instance.wholeLog().first).id > last)
    }
  }
}
