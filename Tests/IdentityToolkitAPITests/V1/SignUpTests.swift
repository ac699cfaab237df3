import HTTP
import Identity
import JSON
import Testing

struct SignUpTests {
  @Test func `signing up with a password returns tokens`() async throws {
    try await TestServer.with { server in
      let answer = try await server.post(
        "/v1/accounts:signUp",
        [
          "email": "alice@example.com", "password": "correct horse", "displayName": "Alice",
          "returnSecureToken": true, "clientType": "CLIENT_TYPE_WEB", "somethingNew": [1],
        ])
      #expect(
        masked(answer.json)
          == (try json(
            """
            {"kind": "identitytoolkit#SignupNewUserResponse", "localId": "<localId>",
             "email": "alice@example.com", "displayName": "Alice", "idToken": "<idToken>",
             "refreshToken": "<refreshToken>", "expiresIn": "3600"}
            """)))
      #expect(
        masked(try claims(answer["idToken"]))
          == (try json(
            """
            {"iss": "https://securetoken.google.com/acme-mfa", "aud": "acme-mfa",
             "auth_time": 1790244000, "user_id": "<user_id>", "sub": "<sub>", "iat": 1790244000,
             "exp": 1790247600, "email": "alice@example.com", "email_verified": false,
             "name": "<name>", "firebase": {"identities": {"email": ["alice@example.com"]},
             "sign_in_provider": "password"}}
            """)))
    }
  }

  @Test func `signing up without credentials creates an anonymous user`() async throws {
    try await TestServer.with { server in
      let answer = try await server.post("/v1/accounts:signUp", ["returnSecureToken": true])
      #expect(
        masked(answer.json)
          == (try json(
            """
            {"kind": "identitytoolkit#SignupNewUserResponse", "localId": "<localId>",
             "idToken": "<idToken>", "refreshToken": "<refreshToken>", "expiresIn": "3600"}
            """)))
      let token = try claims(answer["idToken"])
      #expect(token["provider_id"] == "anonymous")
      #expect(token["firebase"] == ["identities": [:], "sign_in_provider": "anonymous"])
      #expect(token["email_verified"] == nil)
    }
  }

  @Test func `an anonymous user can link an email and password`() async throws {
    try await TestServer.with { server in
      let anonymous = try await server.post("/v1/accounts:signUp", [:])
      let answer = try await server.post(
        "/v1/accounts:signUp",
        [
          "idToken": anonymous["idToken"] ?? nil, "email": "alice@example.com",
          "password": "correct horse",
        ])
      #expect(answer.status == 200)
      #expect(answer["localId"] == anonymous["localId"])
      let user = try await server.post(
        "/v1/accounts:lookup", ["idToken": answer["idToken"] ?? nil])
      let providers = user["users"]?.arrayValue?.first?["providerUserInfo"]?.arrayValue
      #expect(providers?.first?["providerId"] == "password")
      #expect(
        try await server.post(
          "/v1/accounts:lookup", ["idToken": anonymous["idToken"] ?? nil]
        ).error == "TOKEN_EXPIRED")
    }
  }

  @Test(arguments: [
    (#"{"email":"alice@example.com","password":"correct horse"}"#, "EMAIL_EXISTS"),
    (#"{"email":"no address","password":"correct horse"}"#, "INVALID_EMAIL"),
    (#"{"email":"bob@example.com"}"#, "MISSING_PASSWORD"),
    (#"{"password":"correct horse"}"#, "MISSING_EMAIL"),
    (#"{"email":"bob@example.com","password":""}"#, "MISSING_PASSWORD"),
    (#"{"email":"","password":"correct horse"}"#, "MISSING_EMAIL"),
    (
      #"{"email":"bob@example.com","password":"short"}"#,
      "WEAK_PASSWORD : Password should be at least 6 characters"
    ),
    (#"{"localId":"bob"}"#, "UNEXPECTED_PARAMETER : User ID"),
    (#"{"email":7}"#, "MISSING_PASSWORD"),
    (#"{"email":true}"#, "Invalid value at 'email' (TYPE_STRING), true"),
    (
      #"{"targetProjectId":"acme-mfa"}"#,
      "INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id."
    ),
    (#"{"idToken":"x"}"#, "INVALID_ID_TOKEN"),
  ])
  func `invalid sign-up requests are refused`(body: String, error: String) async throws {
    try await TestServer.with { server in
      _ = try await server.addPerson()
      let answer = try await server.call(.post, "/v1/accounts:signUp", text: body, .key)
      #expect(answer.status == 400)
      #expect(answer.error == error)
      #expect(
        answer["error"]?["errors"]?.arrayValue?.first?["message"]?.stringValue == error)
    }
  }

  @Test func `disabled sign-in methods are refused`() async throws {
    try await TestServer.with { server in
      let anonymous = try await server.post("/v1/accounts:signUp", [:])
      let token = try #require(anonymous["idToken"] ?? nil)
      _ = try await server.patch(TestServer.config + "?updateMask=signIn", [:])
      #expect(try await server.post("/v1/accounts:signUp", [:]).error == "ADMIN_ONLY_OPERATION")
      var body: JSON.Object = ["email": "bob@example.com", "password": "correct horse"]
      #expect(
        try await server.post("/v1/accounts:signUp", .object(body)).error
          == "OPERATION_NOT_ALLOWED")
      body["idToken"] = token
      let link = try await server.post("/v1/accounts:signUp", .object(body))
      #expect(link.status == 400 && link.error == "OPERATION_NOT_ALLOWED")
      let shown = try await server.post("/v1/accounts:lookup", ["idToken": token])
      let user = try #require(shown["users"]?.arrayValue?.first)
      #expect(user["localId"] == anonymous["localId"] && user["email"] == nil)
      #expect(user["passwordHash"] == nil)
    }
  }

  @Test func `with email enumeration protection, linking a password doesn't replace an email`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try #require(try await server.signIn(alice)["idToken"] ?? nil)
      let answer = try await server.post(
        "/v1/accounts:signUp",
        ["idToken": token, "email": "new@example.com", "password": "correct horse"])
      #expect(
        answer.error
          == "OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
      let invalid = try await server.post(
        "/v1/accounts:signUp",
        ["idToken": token, "email": "no address", "password": "correct horse"])
      #expect(invalid.error == "INVALID_EMAIL")
    }
  }

  @Test func `with email enumeration protection, the user's own email in other case isn't new`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try #require(try await server.signIn(alice)["idToken"] ?? nil)
      let updated = try await server.post(
        "/v1/accounts:update", ["idToken": token, "email": "Alice@Example.com"])
      #expect(updated.status == 200 && updated["email"]?.stringValue == alice.email)
      let linked = try await server.post(
        "/v1/accounts:signUp",
        ["idToken": token, "email": "Alice@Example.com", "password": "correct horse"])
      #expect(linked.status == 200 && linked["email"]?.stringValue == alice.email)
    }
  }

  @Test func `a user created by an administrator has the given fields and no tokens`() async throws
  {
    try await TestServer.with { server in
      let body: JSON = [
        "localId": "alice", "email": "alice@example.com", "password": "correct horse",
        "displayName": "Alice", "photoUrl": "https://example.com/a.png",
        "phoneNumber": "+15550100", "emailVerified": true, "disabled": true,
      ]
      let answer = try await server.post(TestServer.accounts, body, .owner)
      #expect(
        answer.json == [
          "kind": "identitytoolkit#SignupNewUserResponse", "localId": "alice",
          "email": "alice@example.com",
        ])
      let again = try await server.post(TestServer.accounts, ["localId": "alice"], .owner)
      #expect(again.error == "DUPLICATE_LOCAL_ID")
      let phone = try await server.post(
        "/v1/accounts:signUp", ["phoneNumber": "+15550100"], .owner)
      #expect(phone.error == "PHONE_NUMBER_EXISTS")
      let bad = try await server.post(TestServer.accounts, ["phoneNumber": "555"], .owner)
      #expect(bad.error == "INVALID_PHONE_NUMBER : Invalid format.")
      let sms = try await server.post(
        TestServer.accounts, ["mfaInfo": [["phoneInfo": "15550101"]]], .owner)
      #expect(sms.error == "INVALID_PHONE_NUMBER : Invalid format.")
    }
  }

  @Test func `an empty string is treated as absent`() async throws {
    try await TestServer.with { server in
      let anonymous = try await server.post(
        "/v1/accounts:signUp", ["email": "", "password": "", "idToken": "", "localId": ""])
      #expect(anonymous.status == 200 && anonymous["email"] == nil)
      let created = try await server.post(
        TestServer.accounts,
        ["localId": "", "email": "bob@example.com", "phoneNumber": "", "password": ""], .owner)
      #expect(created.status == 200 && created["localId"]?.stringValue?.utf8.count == 28)
      let looked = try await server.post(
        "/v1/accounts:lookup", ["idToken": "", "email": ["bob@example.com"]], .owner)
      #expect(looked["users"]?.arrayValue?.first?["localId"] == created["localId"])
    }
  }
}
