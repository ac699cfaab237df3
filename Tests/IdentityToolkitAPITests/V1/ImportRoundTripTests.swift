import Crypto
import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import Testing

/// Imports what was exported.
struct ImportRoundTripTests {
  private static let create = TestServer.accounts + ":batchCreate"

  private func users(_ server: TestServer) async throws -> [JSON] {
    try await server.get(TestServer.accounts + ":batchGet")["users"]?.arrayValue ?? []
  }

  @Test func `an import keeps that a user signs in with email links`() async throws {
    try await TestServer.with { server in
      try await server.configure()
      let email = "new@example.com"
      let code = try await server.code("EMAIL_SIGNIN", email)["oobCode"] ?? nil
      let done = try await server.post(
        TestServer.emailLink, ["oobCode": code, "email": .string(email)])
      let id = try #require(done["localId"] ?? nil)
      let before = try #require(try await users(server).first)
      #expect(before["emailLinkSignin"] == true)
      let pool = try await server.identity.pools.find(
        project: ID(TestServer.project), tenant: nil)
      let page = try await server.identity.accounts.export(pool, after: nil, limit: 1)
      let item = try #require(page.items.first)
      #expect(UserFile.json(item)["emailLinkSignin"] == true)

      _ = try await server.post(TestServer.accounts + ":delete", ["localId": id], .owner)
      #expect(try await users(server).isEmpty)
      let imported = try await server.post(Self.create, ["users": [before]], .owner)
      #expect(imported.json == ["kind": "identitytoolkit#UploadAccountResponse"])
      let after = try #require(try await users(server).first)
      for name in ["localId", "email", "emailLinkSignin", "providerUserInfo"] {
        #expect(after[name] != nil && after[name] == before[name], "\(name)")
      }

      let without: JSON = ["localId": id, "email": .string(email), "emailVerified": true]
      let replaced = try await server.post(
        Self.create, ["users": [without], "allowOverwrite": true], .owner)
      #expect(replaced.json == ["kind": "identitytoolkit#UploadAccountResponse"])
      let last = try #require(try await users(server).first)
      #expect(last["emailLinkSignin"] == nil && last["providerUserInfo"] == nil)
      _ = try await server.post(
        Self.create, ["users": [before], "allowOverwrite": true], .owner)
      #expect(try await users(server).first?["emailLinkSignin"] == true)
    }
  }

  @Test func `a page with both kinds of hashes can be imported in one call`() async throws {
    try await TestServer.with { server in
      let hashed = try #require(BatchCreateTests.hashes.first { $0.testDescription == "SCRYPT" })
      var body = try #require(hashed.members.objectValue)
      func signIn(_ email: String) async throws -> Int {
        try await server.post(
          "/v1/accounts:signInWithPassword", ["email": .string(email), "password": "password"]
        ).status
      }
      body["users"] = .array(
        ["a", "b"].map { name in
          [
            "localId": .string(name), "email": .string("\(name)@example.com"),
            "passwordHash": .string(Base64URL.encodePadded(hashed.hash)),
            "salt": .string(Base64URL.encodePadded(hashed.salt)),
          ]
        })
      _ = try await server.post(Self.create, .object(body), .owner)
      // The first sign-in replaces the hash.
      #expect(try await signIn("a@example.com") == 200)
      let page = try await users(server)
      // Admin SDKs expect both of each hash.
      #expect(page.allSatisfy { $0["version"] == 0 && $0["salt"] != nil })

      body["users"] = .array(
        try page.map { user in
          var again = try #require(user.objectValue)
          let name = try #require(again["localId"]?.stringValue)
          again["localId"] = .string("new-\(name)")
          again["email"] = .string("new-\(name)@example.com")
          return .object(again)
        })
      let answer = try await server.post(Self.create, .object(body), .owner)
      #expect(answer.json == ["kind": "identitytoolkit#UploadAccountResponse"])
      for name in ["new-a", "new-b"] {
        #expect(try await signIn("\(name)@example.com") == 200, "\(name)")
      }
    }
  }
}
