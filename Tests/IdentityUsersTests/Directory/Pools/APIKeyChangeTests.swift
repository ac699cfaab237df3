import Identity
import Testing

@testable import TestIdentity

struct APIKeyChangeTests {
  @Test func `a created key identifies its project, and a revoked one doesn't`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.apiKeys
      let acme = instance.acme.project
      let first = try #require(try await keys.list(acme).first)
      let second = try await keys.create(for: acme, by: .program(Instance.boss)).value
      #expect(try await keys.list(acme).map(\.text).sorted() == [first.text, second.text].sorted())
      #expect(first.id != second.id)
      #expect(!first.text.contains(first.id.text))
      try await keys.revoke(first.id, of: acme, by: .program(Instance.boss))
      #expect(try await keys.project(for: first.text) == nil)
      #expect(try await keys.project(for: second.text) == acme)
      let rows = try await instance.log().prefix(2)
      #expect(rows.map(\.action) == [.apiKeyRevoke, .apiKeyCreate])
      #expect(rows.map(\.objectName) == [first.label, second.label])
      #expect(!rows.contains { $0.old(.keyLabel) == .text(first.text) })
      await expect("notFound") {
        try await keys.revoke(first.id, of: acme, by: .program(Instance.boss))
      }
      await expect("notFound") {
        try await keys.revoke(second.id, of: instance.globex.project, by: .program(Instance.boss))
      }
      await expect("projectNotFound") {
        try await keys.create(for: ID("none"), by: .program(Instance.boss))
      }
    }
  }
}
