import HTTP
import Identity
import Testing

@testable import Console

/// Custom token signing keys in the console.
@Suite struct SignerPageTests {
  private static let list = "/projects/globex/settings/custom-token-keys"

  @Test func `a key is registered and revoked`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let empty = try await ada.get(Self.list)
      #expect(empty.says("No custom token signing keys"))
      let added = try await ada.submit(
        Self.list + "/new",
        ["issuer": "back-end@globex.example", "key": World.publicKey, "key-id": "k-1"])
      #expect(added.location == Self.list)
      let page = try await ada.get(Self.list)
      #expect(page.says("Key for back-end@globex.example registered."))
      let signer = try #require(try await world.identity.trustedTokenKeys.list(ID("globex")).first)
      let revocation = "\(Self.list)/\(signer.id)/revocation"
      #expect(page.values(of: "href").contains(revocation))
      #expect(try await ada.get(revocation).says(signer.fingerprint))
      let revoked = try await ada.submit(revocation, [:])
      #expect(revoked.location == Self.list)
      let after = try await ada.get(Self.list)
      #expect(after.says("1 revoked key"))
      #expect(try await ada.get(revocation).status == .notFound)
    }
  }

  @Test(arguments: [
    ("nobody", World.publicKey, "", "issuer"), ("a@b.example", "nonsense", "", "key"),
    ("a@b.example", World.publicKey, "two words", "key-id"),
  ])
  func `errors are shown next to their fields, and values stay in the form`(
    issuer: String, key: String, keyID: String, field: String
  ) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let wrong = try await ada.submit(
        Self.list + "/new", ["issuer": issuer, "key": key, "key-id": keyID])
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("id=\"\(field)-error\""))
      #expect(wrong.value(of: "key-id") == nil || wrong.says("value=\"\(keyID)\""))
      #expect(wrong.says("value=\"\(issuer)\""))
      Markup.check(wrong)
    }
  }

  @Test func `a rejected private key isn't shown on the page`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let wrong = try await ada.submit(
        Self.list + "/new",
        [
          "issuer": "a@b.example", "key-id": "",
          "key": "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----",
        ])
      #expect(wrong.says("This is a private key."))
      #expect(!wrong.says("c2VjcmV0"))
    }
  }

  @Test func `roles that can't register keys don't see the links for it`() async throws {
    try await World.withSampleData { world in
      let list = "/projects/acme-retail/settings/custom-token-keys"
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let page = try await tomas.get(list)
      #expect(page.status == .ok)
      #expect(
        !page.values(of: "href").contains { $0.contains("/new") || $0.contains("revocation") })
      #expect(try await tomas.get(list + "/new").status == .forbidden)
      // A role in one tenant is not enough.
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get(list).status == .forbidden)
    }
  }
}
