import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// ID tokens of users with many linked identities.
struct LongTokenTests {
  private static let update = TestServer.accounts + ":update"

  /// Links identities of the maximum length, as backend calls can.
  private func link(
    _ count: Int, of character: Character, to uid: String, _ server: TestServer
  ) async throws {
    let (provider, rawID) = (
      String(repeating: character, count: ProviderLink.longestProvider - 8),
      String(repeating: character, count: ProviderLink.longestRawID - 3)
    )
    let pool = try await server.identity.pools.find(project: ID(TestServer.project))
    for number in 100..<100 + count {
      var change = AccountChange()
      change.link = ProviderLink(
        provider: "oidc.\(number)\(provider)", rawID: "\(number)\(rawID)")
      try await server.identity.accounts.update(
        pool, ID(uid), change, by: Author(actor: .commandLine))
    }
  }

  @Test(arguments: [("x", 60, 60), ("\"", 100, 51)] as [(Character, Int, Int)])
  func `every token that's issued is accepted, whatever the user's identities are`(
    character: Character, count: Int, listed: Int
  ) async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      func long(_ count: Int) -> JSON { .string(String(repeating: character, count: count)) }
      let attributes = #"{"a":""# + String(repeating: "語", count: 990) + #""}"#
      let changed = try await server.post(
        Self.update,
        [
          "localId": .string(alice.uid), "displayName": long(256), "photoUrl": long(2_048),
          "customAttributes": .string(attributes),
        ], .owner)
      #expect(changed.status == 200)
      try await link(count, of: character, to: alice.uid, server)
      let token = try await server.signIn(alice).text("idToken")
      #expect(token.utf8.count > 16_384 && token.utf8.count < IDTokens.longest)
      let identities = try claims(.string(token))["firebase"]?["identities"]?.objectValue
      // The email address is one of them.
      #expect(identities.map { Array($0.names).count } == listed + 1)
      let found = try await server.post("/v1/accounts:lookup", ["idToken": .string(token)])
      #expect(found.status == 200)
      // The lookup has all of them, and the password.
      let user = found["users"]?.arrayValue?.first
      #expect(user?["providerUserInfo"]?.arrayValue?.count == count + 1)
      let cookie = try await server.post(
        "/v1/projects/acme-mfa:createSessionCookie", ["idToken": .string(token)], .owner)
      #expect(cookie.status == 200)
    }
  }

  @Test func `a longer token isn't read`() async throws {
    try await TestServer.with(.emulator) { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let padded = token + String(repeating: "A", count: IDTokens.longest - token.utf8.count)
      let answer = try await server.post("/v1/accounts:lookup", ["idToken": .string(padded)])
      #expect(answer.error == "INVALID_ID_TOKEN")
    }
  }
}
