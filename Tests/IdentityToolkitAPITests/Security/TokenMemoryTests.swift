import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Tests for the cache of verified tokens: signatures are cached, but account state is checked
/// on every use.
struct TokenMemoryTests {
  private static let lookup = "/v1/accounts:lookup"
  private static let update = TestServer.accounts + ":update"

  /// Returns a token that has been verified once, so it's in the cache.
  private func shown(_ server: TestServer, _ person: Person) async throws -> JSON {
    let token = try await server.signIn(person)["idToken"] ?? nil
    let answer = try await server.post(Self.lookup, ["idToken": token])
    #expect(answer.status == 200)
    return token
  }

  @Test func `revoking, disabling, and deleting take effect immediately on a cached token`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      var token = try await shown(server, alice)
      server.advance(seconds: 5)
      let now = JSON.string(String(server.now.seconds))
      _ = try await server.post(
        Self.update, ["localId": .string(alice.uid), "validSince": now], .owner)
      #expect(try await server.post(Self.lookup, ["idToken": token]).error == "TOKEN_EXPIRED")
      token = try await shown(server, alice)
      _ = try await server.post(
        Self.update, ["localId": .string(alice.uid), "displayName": "Alice"], .owner)
      let user = try await server.post(Self.lookup, ["idToken": token])
      #expect(user["users"]?.arrayValue?.first?["displayName"] == "Alice")
      _ = try await server.post(
        Self.update, ["localId": .string(alice.uid), "disableUser": true], .owner)
      #expect(try await server.post(Self.lookup, ["idToken": token]).error == "USER_DISABLED")
      _ = try await server.post(
        TestServer.accounts + ":delete", ["localId": .string(alice.uid)], .owner)
      #expect(try await server.post(Self.lookup, ["idToken": token]).error == "USER_NOT_FOUND")
    }
  }

  @Test func `a cached token expires on time, and is refused in other projects and tenants`()
    async throws
  {
    try await TestServer.with { server in
      let token = try await shown(server, try await server.addPerson())
      let other = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine))
      ).value
      let key = try await server.identity.apiKeys.list(other.pool.project).first?.text ?? ""
      let answer = try await server.post(Self.lookup + "?key=\(key)", ["idToken": token], .none)
      #expect(answer.error == "INVALID_ID_TOKEN")
      let mismatch = try await server.post(
        Self.lookup, ["idToken": token, "tenantId": "never-12345"])
      #expect(mismatch.error?.hasPrefix("TENANT_ID_MISMATCH") == true)
      server.advance(seconds: 3_899)
      #expect(try await server.post(Self.lookup, ["idToken": token]).status == 200)
      server.advance(seconds: 1)
      #expect(try await server.post(Self.lookup, ["idToken": token]).error == "INVALID_ID_TOKEN")
    }
  }

  @Test func `cached tokens signed with a retired key are refused`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await shown(server, alice)
      let keys = server.identity.signingKeys
      let old = try keys.currentID()
      try await keys.rotate(immediately: true, by: Author(actor: .commandLine))
      #expect(try await server.post(Self.lookup, ["idToken": token]).status == 200)
      try await keys.retire(old, by: Author(actor: .commandLine))
      #expect(try await server.post(Self.lookup, ["idToken": token]).error == "INVALID_ID_TOKEN")
      _ = try await shown(server, alice)
    }
  }

  @Test func `a token that differs in any byte isn't found in the cache`() async throws {
    try await TestServer.with { server in
      let token = try #require(
        try await shown(server, try await server.addPerson()).stringValue)
      let parts = token.split(separator: ".").map(String.init)
      let swapped = parts[2].hasPrefix("A") ? "B" : "A"
      let changed = "\(parts[0]).\(parts[1]).\(swapped)\(parts[2].dropFirst())"
      for other in [changed, token + "A", token + "=", " " + token] {
        let answer = try await server.post(Self.lookup, ["idToken": .string(other)])
        #expect(answer.error == "INVALID_ID_TOKEN", "\(other.suffix(5))")
      }
    }
  }

  @Test func `the cache has a maximum size and keeps recently used tokens`() throws {
    let memory = VerifiedTokens()
    let payload = try json(
      """
      {"iss":"i","aud":"a","sub":"s","iat":1,"exp":2,"auth_time":1,
       "firebase":{"sign_in_provider":"password"}}
      """)
    let claims = try #require(payload.objectValue.flatMap { Claims($0) })
    let entry = VerifiedTokens.Entry(claims: claims, keyID: "k")
    func digest(_ number: Int) -> [UInt8] {
      [UInt8(truncatingIfNeeded: number >> 16), UInt8(truncatingIfNeeded: number >> 8)]
        + [UInt8(truncatingIfNeeded: number)]
    }
    for number in 0..<30_000 {
      memory.add(digest(number), entry)
      #expect(memory.find(digest(7)) != nil || number < 7)
    }
    #expect(memory.count <= 2 * VerifiedTokens.most)
    #expect(memory.find(digest(29_999)) != nil)
    #expect(memory.find(digest(100)) == nil)
  }
}
