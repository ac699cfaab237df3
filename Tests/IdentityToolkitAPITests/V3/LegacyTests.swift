import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

struct LegacyTests {
  private static let v3 = "/identitytoolkit/v3/relyingparty/"
  private static let host = "/www.googleapis.com/identitytoolkit/v3/relyingparty/"

  @Test func `the legacy paths sign up, sign in, change, and delete a user`() async throws {
    try await TestServer.with { server in
      let new = try await server.post(
        Self.v3 + "signupNewUser",
        ["email": "alice@example.com", "password": "correct horse", "returnSecureToken": true])
      #expect(new["kind"] == "identitytoolkit#SignupNewUserResponse")
      let signedIn = try await server.post(
        Self.host + "verifyPassword",
        ["email": "alice@example.com", "password": "correct horse", "returnSecureToken": true])
      #expect(signedIn["localId"] == new["localId"])
      let token = JSON.string(try signedIn.text("idToken"))
      let changed = try await server.post(
        Self.host + "setAccountInfo", ["idToken": token, "displayName": "Alice"])
      #expect(changed["displayName"] == "Alice")
      let found = try await server.post(Self.host + "getAccountInfo", ["idToken": token])
      #expect(found["users"]?.arrayValue?.first?["displayName"] == "Alice")
      let gone = try await server.post(Self.v3 + "deleteAccount", ["idToken": token])
      #expect(gone.json == ["kind": "identitytoolkit#DeleteAccountResponse"])
    }
  }

  @Test func `errors have the v1 format`() async throws {
    try await TestServer.with { server in
      let answer = try await server.post(Self.host + "verifyPassword", ["email": "a@example.com"])
      #expect(
        answer.json == [
          "error": [
            "code": 400, "message": "MISSING_PASSWORD",
            "errors": [
              ["message": "MISSING_PASSWORD", "domain": "global", "reason": "invalid"]
            ],
          ]
        ])
      let wrong = try await server.get(Self.v3 + "verifyPassword")
      #expect(wrong.status == 405)
      #expect(wrong.response.fields[.allow] == "POST")
    }
  }

  @Test func `an iOS app gets a receipt without a notification`() async throws {
    try await TestServer.with { server in
      let receipt: JSON = ["receipt": "not-checked", "suggestedTimeout": "1"]
      let body: JSON = ["appToken": "0a", "isSandbox": true]
      for path in [Self.host + "verifyClient", "/v1/accounts:verifyIosClient"] {
        let answer = try await server.post(path, body)
        #expect(answer.json == receipt, "\(path)")
      }
    }
  }

  @Test func `methods without a request body use GET`() async throws {
    try await TestServer.with { server in
      let config = try await server.get(Self.host + "getProjectConfig", .key)
      #expect(config["authorizedDomains"] != nil)
      let keys = try await server.get(Self.host + "publicKeys", .none)
      #expect(keys.json.objectValue?.count == 1)
      #expect(keys.response.fields[.cacheControl] == "public, max-age=3600")
    }
  }

  @Test func `users are downloaded from the project named in the body`() async throws {
    try await TestServer.with { server in
      for name in ["alice", "bob", "carol"] { _ = try await server.addPerson(name) }
      let first = try await server.post(
        Self.host + "downloadAccount", ["targetProjectId": "acme-mfa", "maxResults": 2], .owner)
      #expect(first["users"]?.arrayValue?.count == 2)
      let rest = try await server.post(
        Self.host + "downloadAccount",
        [
          "targetProjectId": "acme-mfa", "maxResults": "2",
          "nextPageToken": first["nextPageToken"] ?? nil,
        ], .owner)
      #expect(rest["users"]?.arrayValue?.count == 1)
    }
  }

  @Test func `downloading users requires a token for the project`() async throws {
    try await TestServer.with { server in
      let path = Self.v3 + "downloadAccount"
      #expect(try await server.post(path, [:], .owner).error == "INSUFFICIENT_PERMISSION")
      let empty = try await server.post(path, ["targetProjectId": ""], .owner)
      #expect(empty.error == "INSUFFICIENT_PERMISSION")
      let other = try await server.post(path, ["targetProjectId": "other"], .owner)
      #expect(other.status == 403)
      let key = try await server.post(path, ["targetProjectId": "acme-mfa"], .key)
      #expect(key.status == 401)
      let weak = try await server.token(.support)
      let refused = try await server.post(
        path, ["targetProjectId": "acme-mfa"], .bearer(weak))
      #expect(refused.status == 403)
    }
  }

  @Test func `Game Center sign-in isn't implemented`() async throws {
    try await TestServer.with { server in
      for path in [Self.v3 + "signInWithGameCenter", "/v1/accounts:signInWithGameCenter"] {
        let answer = try await server.post(path, ["playerId": "p"])
        #expect(answer.status == 501)
        #expect(answer["error"]?["status"] == "UNIMPLEMENTED")
        #expect(answer.error?.hasPrefix("NOT_IMPLEMENTED : ") == true)
      }
    }
  }
}
