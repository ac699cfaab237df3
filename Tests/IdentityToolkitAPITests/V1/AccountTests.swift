import HTTP
import Identity
import JSON
import Testing

struct AccountTests {
  @Test func `a correct password returns tokens`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let answer = try await server.signIn(alice)
      #expect(
        masked(answer.json)
          == (try json(
            """
            {"kind": "identitytoolkit#VerifyPasswordResponse", "localId": "<localId>",
             "email": "alice@example.com", "displayName": "", "registered": true,
             "idToken": "<idToken>", "refreshToken": "<refreshToken>", "expiresIn": "3600"}
            """)))
      #expect(answer.response.fields[.cacheControl] == "no-store")
    }
  }

  @Test(arguments: [true, false])
  func `the error for a wrong password depends on email privacy`(privacy: Bool) async throws {
    try await TestServer.with { server in
      _ = try await server.addPerson()
      _ = try await server.patch(
        TestServer.config + "?updateMask=emailPrivacyConfig",
        ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(privacy)]])
      let path = "/v1/accounts:signInWithPassword"
      let wrong = try await server.post(
        path, ["email": "alice@example.com", "password": "incorrect"])
      let unknown = try await server.post(
        path, ["email": "bob@example.com", "password": "incorrect"])
      #expect(wrong.error == (privacy ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD"))
      #expect(unknown.error == (privacy ? "INVALID_LOGIN_CREDENTIALS" : "EMAIL_NOT_FOUND"))
      if privacy { #expect(wrong.json == unknown.json) }
    }
  }

  @Test func `a tenant's email privacy setting overrides its project's`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let body: JSON = [
        "email": "bob@example.com", "password": "incorrect", "tenantId": .string(id),
      ]
      let path = "/v1/accounts:signInWithPassword"
      #expect(try await server.post(path, body).error == "INVALID_LOGIN_CREDENTIALS")
      _ = try await server.patch(
        "/v2/projects/acme-mfa/tenants/\(id)?updateMask=emailPrivacyConfig",
        ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": false]])
      #expect(try await server.post(path, body).error == "EMAIL_NOT_FOUND")
    }
  }

  @Test func `guessing is rate limited, and a disabled user gets USER_DISABLED`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let disabled = try await server.post(
        TestServer.accounts + ":update", ["localId": .string(alice.uid), "disableUser": true],
        .owner)
      #expect(disabled.status == 200)
      #expect(try await server.signIn(alice).error == "USER_DISABLED")
      let path = "/v1/accounts:signInWithPassword"
      var last: String?
      for _ in 0..<12 {
        last =
          try await server.post(
            path, ["email": .string(alice.email), "password": "incorrect"]
          ).error
      }
      #expect(
        last == "TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily "
          + "disabled due to many failed login attempts.")
    }
  }

  @Test(arguments: [
    (#"{"password":"x"}"#, "MISSING_EMAIL"), (#"{"email":"a@example.com"}"#, "MISSING_PASSWORD"),
    (#"{"email":"a@example.com","password":""}"#, "MISSING_PASSWORD"), ("", "MISSING_EMAIL"),
    (#"{"email":"","password":"x"}"#, "INVALID_EMAIL"),
  ])
  func `a sign-in requires email and password`(body: String, error: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.call(
        .post, "/v1/accounts:signInWithPassword", text: body, .key)
      #expect(answer.error == error)
    }
  }

  @Test func `a tenant with password sign-in or auth disabled refuses passwords`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let alice = try await server.addPerson(tenant: id)
      let path = "/v2/projects/acme-mfa/tenants/\(id)?updateMask="
      _ = try await server.patch(path + "allowPasswordSignup", [:])
      #expect(try await server.signIn(alice, tenant: id).error == "PASSWORD_LOGIN_DISABLED")
      _ = try await server.patch(path + "disableAuth", ["disableAuth": true])
      #expect(try await server.signIn(alice, tenant: id).error == "TENANT_DISABLED")
      let users = "/v1/projects/acme-mfa/tenants/\(id)/accounts:lookup"
      let lookup = try await server.post(users, ["localId": [.string(alice.uid)]], .owner)
      #expect(lookup.error == "TENANT_DISABLED")
      _ = try await server.patch(path + "disableAuth", [:])
      #expect(
        try await server.post(users, ["localId": [.string(alice.uid)]], .owner)["users"] != nil)
    }
  }

  @Test func `a lookup returns all fields of a user`() async throws {
    try await TestServer.with { server in
      _ = try await server.post(
        TestServer.accounts,
        [
          "localId": "alice", "email": "alice@example.com", "password": "correct horse",
          "displayName": "Alice", "photoUrl": "https://example.com/a.png",
          "phoneNumber": "+15550100", "emailVerified": true,
        ], .owner)
      let claims = try await server.post(
        TestServer.accounts + ":update",
        ["localId": "alice", "customAttributes": #"{"role":"admin"}"#], .owner)
      #expect(claims.status == 200)
      server.advance(seconds: 10)
      let session = try await server.signIn(Person(email: "alice@example.com", uid: "alice"))
      let answer = try await server.post(
        "/v1/accounts:lookup", ["idToken": session["idToken"] ?? nil])
      #expect(
        answer.json
          == (try json(
            """
            {"kind": "identitytoolkit#GetAccountInfoResponse", "users": [{
              "localId": "alice", "email": "alice@example.com", "emailVerified": true,
              "displayName": "Alice", "photoUrl": "https://example.com/a.png",
              "phoneNumber": "+15550100", "passwordHash": "UkVEQUNURUQ=",
              "passwordUpdatedAt": 1790244000123,
              "providerUserInfo": [
                {"providerId": "phone", "rawId": "+15550100", "phoneNumber": "+15550100"},
                {"providerId": "password", "displayName": "Alice",
                 "photoUrl": "https://example.com/a.png", "federatedId": "alice@example.com",
                 "email": "alice@example.com", "rawId": "alice@example.com"}],
              "validSince": "1790244000", "disabled": false, "createdAt": "1790244000123",
              "lastLoginAt": "1790244010123", "lastRefreshAt": "2026-09-24T10:00:10.123Z",
              "customAttributes": "{\\"role\\":\\"admin\\"}"}]}
            """)))
      #expect(try IdentityToolkitAPITests.claims(session["idToken"])["role"] == "admin")
    }
  }

  @Test func `an administrator can look up users by ID and email`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let bob = try await server.addPerson("bob")
      let path = TestServer.accounts + ":lookup"
      let both = try await server.post(
        path,
        [
          "localId": [.string(alice.uid), "nobody"],
          "email": ["BOB@example.com", "alice@example.com"],
        ],
        .owner)
      #expect(
        both["users"]?.arrayValue?.map { $0["localId"]?.stringValue } == [alice.uid, bob.uid])
      let none = try await server.post(path, ["localId": ["nobody"]], .owner)
      #expect(none.json == ["kind": "identitytoolkit#GetAccountInfoResponse"])
      let many = try await server.post(
        path, ["localId": .array((0...1000).map { .string("u\($0)") })], .owner)
      #expect(many.status == 400)
      for nothing: JSON in [[:], ["localId": []], ["localId": nil]] {
        #expect(try await server.post(path, nothing, .owner).error == "MISSING_ID_TOKEN")
      }
    }
  }

  @Test func `users can be deleted by themselves, by administrators, and in batches`() async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let session = try await server.signIn(alice)
      let body: JSON = ["idToken": session["idToken"] ?? nil]
      let kind: JSON = ["kind": "identitytoolkit#DeleteAccountResponse"]
      #expect(try await server.post("/v1/accounts:delete", body).json == kind)
      #expect(try await server.post("/v1/accounts:lookup", body).error == "USER_NOT_FOUND")

      let bob = try await server.addPerson("bob")
      let path = TestServer.accounts + ":delete"
      let byAdministrator: JSON = ["localId": .string(bob.uid)]
      #expect(try await server.post(path, byAdministrator, .owner).json == kind)
      #expect(try await server.post(path, byAdministrator, .owner).error == "USER_NOT_FOUND")
      #expect(try await server.post(path, [:], .owner).error == "MISSING_LOCAL_ID")

      let carol = try await server.addPerson("carol")
      let dave = try await server.addPerson("dave")
      _ = try await server.post(
        TestServer.accounts + ":update", ["localId": .string(dave.uid), "disableUser": true],
        .owner)
      let batch: JSON = ["localIds": [.string(carol.uid), .string(dave.uid), "nobody"]]
      let some = try await server.post(TestServer.accounts + ":batchDelete", batch, .owner)
      #expect(
        some.json == [
          "errors": [
            [
              "index": 0, "localId": .string(carol.uid),
              "message": "NOT_DISABLED : Disable the account before batch deletion.",
            ]
          ]
        ])
      let forced = try await server.post(
        TestServer.accounts + ":batchDelete",
        ["localIds": [.string(carol.uid)], "force": true], .owner)
      #expect(forced.json == [:])
      let many: JSON = ["localIds": .array((0...1000).map { .string("u\($0)") })]
      #expect(
        try await server.post(TestServer.accounts + ":batchDelete", many, .owner).error
          == "LOCAL_ID_LIST_EXCEEDS_LIMIT")
      #expect(
        try await server.get(TestServer.accounts + ":batchGet").json
          == ["kind": "identitytoolkit#DownloadAccountResponse"])
    }
  }

  @Test func `a download is paged by uid, and a query counts users`() async throws {
    try await TestServer.with { server in
      for uid in ["a", "b", "c"] {
        _ = try await server.post(TestServer.accounts, ["localId": .string(uid)], .owner)
      }
      let path = TestServer.accounts + ":batchGet?maxResults=2"
      let first = try await server.get(path)
      #expect(first["users"]?.arrayValue?.map { $0["localId"] } == ["a", "b"])
      let token = try first.text("nextPageToken")
      let second = try await server.get(path + "&nextPageToken=\(token)")
      #expect(second["users"]?.arrayValue?.map { $0["localId"] } == ["c"])
      #expect(second["nextPageToken"] == nil)
      // A full page has a token, even if it's the last.
      let full = try await server.get(TestServer.accounts + ":batchGet?maxResults=3")
      let end = try full.text("nextPageToken")
      #expect(end == "c")
      let rest = try await server.get(
        TestServer.accounts + ":batchGet?maxResults=3&nextPageToken=\(end)")
      #expect(rest.json == ["kind": "identitytoolkit#DownloadAccountResponse"])
      let query = TestServer.accounts + ":query"
      #expect(
        try await server.post(query, ["returnUserInfo": false], .owner).json
          == ["recordsCount": "3"])
      let all = try await server.post(query, ["limit": "2"], .owner)
      #expect(all["userInfo"]?.arrayValue?.count == 2)
      let one = try await server.post(query, ["expression": [["userId": "b"]]], .owner)
      #expect(one["recordsCount"] == "1")
      let most = try await server.post(query, ["limit": 501], .owner)
      #expect(most["userInfo"]?.arrayValue?.count == 3)
      let empty = try await server.get(TestServer.accounts + ":batchGet?maxResults=0")
      #expect(empty.json == ["kind": "identitytoolkit#DownloadAccountResponse"])
    }
  }
}
