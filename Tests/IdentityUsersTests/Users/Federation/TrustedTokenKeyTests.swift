import Crypto
import Identity
import Testing

@testable import TestIdentity

struct SignerTests {
  private static let issuer = "backend@acme.example"

  private func add(
    _ instance: Instance, issuer: String = issuer, keyID: String? = nil, key: String? = nil
  ) async throws -> TrustedTokenKey {
    try await instance.identity.trustedTokenKeys.add(
      to: instance.acme.project, issuer: issuer, keyID: keyID,
      key: try key ?? TestTokenIssuer.back.pem(),
      by: .program(Instance.boss)
    ).value
  }

  @Test func `a key is registered once, listed, and revoked`() async throws {
    try await withInstance { instance in
      let signer = try await add(instance, keyID: "key-1")
      #expect(signer.issuer == Self.issuer)
      #expect(signer.fingerprint.count == 64)
      #expect(signer.createdBy == "Bo the boss")
      await expect("exists") { try await add(instance) }
      let listed = try await instance.identity.trustedTokenKeys.list(instance.acme.project)
      #expect(listed.map(\.id) == [signer.id])
      #expect(listed.first?.keyID == "key-1")
      try await instance.identity.trustedTokenKeys.revoke(
        signer.id, of: instance.acme.project, by: .program(Instance.boss))
      #expect(
        try await instance.identity.trustedTokenKeys.list(instance.acme.project).first?.revokedAt
          != nil)
      await expect("notFound") {
        try await instance.identity.trustedTokenKeys.revoke(
          signer.id, of: instance.acme.project, by: .program(Instance.boss))
      }
      // After revocation, the same key can be registered again.
      _ = try await add(instance)
      let log = try await instance.log().prefix(3).map(\.action)
      #expect(log == [.trustedTokenKeyAdd, .trustedTokenKeyRevoke, .trustedTokenKeyAdd])
    }
  }

  @Test func `a project's keys belong to that project only`() async throws {
    try await withInstance { instance in
      let signer = try await add(instance)
      await expect("notFound") {
        try await instance.identity.trustedTokenKeys.revoke(
          signer.id, of: instance.globex.project, by: .program(Instance.boss))
      }
      #expect(try await instance.identity.trustedTokenKeys.list(instance.globex.project).isEmpty)
      await expect("projectNotFound") {
        try await instance.identity.trustedTokenKeys.add(
          to: ID("nobody"), issuer: Self.issuer, keyID: nil, key: TestTokenIssuer.back.pem(),
          by: .program(Instance.boss))
      }
    }
  }

  @Test func `deleting a project deletes its keys`() async throws {
    try await withInstance { instance in
      _ = try await add(instance)
      try await instance.identity.pools.delete(
        project: instance.acme.project, by: .program(Instance.boss))
      let left = try await instance.identity.trustedTokenKeys.list(instance.acme.project)
      #expect(left.isEmpty)
    }
  }

  @Test func `a project has at most 20 keys`() async throws {
    try await withInstance { instance in
      for number in 0..<TrustedTokenKeys.most {
        _ = try await add(instance, issuer: "backend-\(number)@acme.example")
      }
      await expect("tooMany") { try await add(instance) }
    }
  }

  @Test func `revoked keys don't hide or replace older valid ones`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.trustedTokenKeys
      let project = instance.acme.project
      let first = try await add(instance, issuer: "first@acme.example")
      for number in 0..<201 {
        let key = try await add(instance, issuer: "backend-\(number)@acme.example")
        try await keys.revoke(key.id, of: project, by: .program(Instance.boss))
      }
      #expect(try await keys.list(project).first?.id == first.id)
      for number in 1..<TrustedTokenKeys.most {
        _ = try await add(instance, issuer: "backend-\(number)@acme.example", keyID: "valid")
      }
      await expect("tooMany") { try await add(instance, keyID: "one-more") }
    }
  }

  @Test(
    arguments: [
      ("nobody", nil, nil, "invalidIssuer"), ("", nil, nil, "invalidIssuer"),
      (issuer, "two words", nil, "invalidKeyID"),
      (issuer, String(repeating: "k", count: 129), nil, "invalidKeyID"),
      (issuer, nil, "-----BEGIN PRIVATE KEY-----", "invalidKey.isPrivate"),
      (issuer, nil, "", "invalidKey.unreadable"),
    ] as [(String, String?, String?, String)])
  func `an invalid issuer, key ID, or key is rejected`(
    issuer: String, keyID: String?, key: String?, result: String
  ) async throws {
    try await withInstance { instance in
      await expect(result) { try await add(instance, issuer: issuer, keyID: keyID, key: key) }
    }
  }
}
