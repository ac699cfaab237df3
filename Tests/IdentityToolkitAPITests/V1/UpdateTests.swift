import HTTP
import Identity
import JSON
import Testing

struct UpdateTests {
  private static let path = "/v1/accounts:update"
  private static let admin = TestServer.accounts + ":update"

  @Test func `changing a display name doesn't return new tokens`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      let named = try await server.post(
        Self.path,
        [
          "idToken": token, "displayName": "Alice", "photoUrl": "https://example.com/a.png",
          "returnSecureToken": true,
        ])
      #expect(
        masked(named.json)
          == (try json(
            """
            {"kind": "identitytoolkit#SetAccountInfoResponse", "localId": "<localId>",
             "email": "alice@example.com", "displayName": "Alice",
             "photoUrl": "https://example.com/a.png", "providerUserInfo": [
               {"providerId": "password", "displayName": "Alice",
                "photoUrl": "https://example.com/a.png", "federatedId": "alice@example.com",
                "email": "alice@example.com", "rawId": "alice@example.com"}],
             "passwordHash": "UkVEQUNURUQ=", "emailVerified": true}
            """)))
      let cleared = try await server.post(
        Self.path, ["idToken": token, "displayName": "", "deleteAttribute": ["PHOTO_URL"]])
      #expect(cleared["displayName"] == "")
      #expect(cleared["photoUrl"] == nil)
      let kept = try await server.post(Self.path, ["idToken": token, "displayName": nil])
      #expect(kept.status == 200)
    }
  }

  @Test func `display names have a maximum length`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      for (length, error) in [
        (256, nil), (257, "INVALID_PROFILE_ATTRIBUTE : Display name too long."),
      ] as [(Int, String?)] {
        let name = JSON.string(String(repeating: "ü", count: length))
        let own = try await server.post(Self.path, ["idToken": token, "displayName": name])
        #expect(own.error == error)
        let new = try await server.post(
          TestServer.accounts, ["email": "bob\(length)@example.com", "displayName": name], .owner)
        #expect(new.error == error)
      }
    }
  }

  @Test func `changing the password revokes sessions and starts a new one`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      server.advance(seconds: 5)
      let old = try await server.signIn(alice)
      let changed = try await server.post(
        Self.path,
        [
          "idToken": old["idToken"] ?? nil, "password": "battery staple",
          "returnSecureToken": true,
        ])
      #expect(changed.status == 200)
      #expect(changed["expiresIn"] == "3600")
      let lookup = "/v1/accounts:lookup"
      #expect(
        try await server.post(lookup, ["idToken": old["idToken"] ?? nil]).error == "TOKEN_EXPIRED")
      #expect(
        try await server.post(lookup, ["idToken": changed["idToken"] ?? nil]).status == 200)
      #expect(try await server.signIn(alice).error == "INVALID_LOGIN_CREDENTIALS")
    }
  }

  @Test func `a session keeps its second factor after a password change`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      let enrolled = try await server.enroll(try await server.signIn(alice).text("idToken"))
      let changed = try await server.post(
        Self.path, ["idToken": enrolled.answer["idToken"] ?? nil, "password": "battery staple"])
      #expect(try claims(changed["idToken"])["firebase"]?["sign_in_second_factor"] == "totp")
    }
  }

  @Test(arguments: [
    (
      #""email":"new@example.com""#,
      "OPERATION_NOT_ALLOWED : Please verify the new email before changing email."
    ),
    (#""disableUser":true"#, "OPERATION_NOT_ALLOWED"),
    (#""customAttributes":"{}""#, "INSUFFICIENT_PERMISSION"),
    (#""mfa":{}"#, "INSUFFICIENT_PERMISSION"),
    (#""validSince":"1""#, "INSUFFICIENT_PERMISSION"),
    (#""phoneNumber":"+15550100""#, "INSUFFICIENT_PERMISSION"),
    (#""email":"no address""#, "INVALID_EMAIL"),
    (#""password":"short""#, "WEAK_PASSWORD : Password should be at least 6 characters"),
    (#""oobCode":"abc""#, "INVALID_OOB_CODE"),
    (
      #""displayName":{}"#,
      "Invalid value at 'display_name' (TYPE_STRING), Starting an object on a scalar field"
    ),
    (
      #""deleteAttribute":["NAME"]"#,
      #"Invalid value at 'delete_attribute[0]' (type.googleapis.com/google.cloud.identitytoolkit.v1.SetAccountInfoRequest.UserAttributeName), "NAME""#
    ),
  ])
  func `users can't change protected fields`(member: String, error: String) async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let text = #"{"idToken":"\#(token)",\#(member)}"#
      #expect(try await server.call(.post, Self.path, text: text, .key).error == error)
    }
  }

  @Test func `unlinking the password keeps the session and revokes the others`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let session = try await server.signIn(alice)
      let other = try await server.signIn(alice)
      server.advance(seconds: 10)
      let unlinked = try await server.post(
        Self.path, ["idToken": session["idToken"] ?? nil, "deleteProvider": ["password"]])
      // SDKs ignore the tokens in this response and keep the ones they have.
      for name in ["idToken", "refreshToken", "expiresIn"] { #expect(unlinked[name] == nil) }
      let looked = try await server.post(
        "/v1/accounts:lookup", ["idToken": session["idToken"] ?? nil])
      #expect(looked.status == 200)
      let user = looked["users"]?.arrayValue?.first
      #expect(user?["providerUserInfo"] == nil)
      #expect(user?["validSince"] == "1790244000")
      let again = try await server.post(
        Self.path, ["idToken": session["idToken"] ?? nil, "deleteProvider": ["facebook.com"]])
      #expect(again.status == 200)
      #expect(
        try await server.post("/v1/accounts:lookup", ["idToken": other["idToken"] ?? nil]).error
          == "TOKEN_EXPIRED")
    }
  }

  @Test func `repeated changes of a name are rate limited, and passwords still change`()
    async throws
  {
    for (profile, count) in [(Profile.standalone, 30), (.emulator, 60)] {
      try await TestServer.with(profile) { server in
        let alice = try await server.addPerson()
        let token = try await server.signIn(alice)["idToken"] ?? nil
        for number in 0..<count {
          let changed = try await server.post(
            Self.path, ["idToken": token, "displayName": .string("Name \(number)")])
          #expect(changed.status == 200)
        }
        guard profile == .standalone else { return }
        let refused = try await server.post(
          Self.path, ["idToken": token, "displayName": "One more"])
        #expect(refused.status == 400)
        #expect(
          refused.error
            == "TOO_MANY_ATTEMPTS_TRY_LATER : Too many changes to this account. Try again later.")
        let password = try await server.post(Self.path, ["idToken": token, "password": "another"])
        #expect(password.status == 200)
      }
    }
  }

  @Test func `service tokens are limited in changing and removing factors`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let uid = JSON.string(alice.uid)
      let phones: JSON = ["enrollments": [["phoneInfo": "+15555550101"]]]
      let pool = try await server.identity.pools.find(project: ID(TestServer.project))
      var settings = try await server.identity.support.settings(pool)
      settings.tokenChangesPerHour = 1
      settings.tokensRemoveFactors = false
      try await server.identity.support.change(
        pool, to: settings, by: .program(Author(actor: .commandLine)))
      #expect(
        try await server.post(Self.admin, ["localId": uid, "mfa": phones], .owner).status == 200)
      let removal = try await server.post(Self.admin, ["localId": uid, "mfa": [:]], .owner)
      #expect(removal.status == 400)
      #expect(
        removal.error == "OPERATION_NOT_ALLOWED : Service tokens can't remove second factors here.")
      let refused = "OPERATION_NOT_ALLOWED : Service tokens can't remove second factors here."
      let deletion = try await server.post(
        TestServer.accounts + ":delete", ["localId": uid], .owner)
      #expect(deletion.status == 400 && deletion.error == refused)
      let batch = try await server.post(
        TestServer.accounts + ":batchDelete", ["localIds": [uid], "force": true], .owner)
      #expect(
        batch.json == ["errors": [["index": 0, "localId": uid, "message": .string(refused)]]])
      let more: JSON = [
        "enrollments": [["phoneInfo": "+15555550101"], ["phoneInfo": "+15555550102"]]
      ]
      settings.tokensRemoveFactors = true
      try await server.identity.support.change(
        pool, to: settings, by: .program(Author(actor: .commandLine)))
      let often = try await server.post(Self.admin, ["localId": uid, "mfa": more], .owner)
      #expect(often.status == 429)
      #expect(often.error?.hasPrefix("QUOTA_EXCEEDED : ") == true)
    }
  }

  @Test func `unlinking returns the remaining providers`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      _ = try await server.post(
        Self.admin, ["localId": .string(alice.uid), "phoneNumber": "+15550100"], .owner)
      let token = try await server.signIn(alice)["idToken"] ?? nil
      let unlinked = try await server.post(
        Self.path, ["idToken": token, "deleteProvider": ["phone"]])
      #expect(
        unlinked["providerUserInfo"]?.arrayValue?.map { $0["providerId"] } == ["password"])
    }
  }

  @Test func `an administrator can change any field`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let uid = JSON.string(alice.uid)
      let changed = try await server.post(
        Self.admin,
        [
          "localId": uid, "email": "new@example.com", "emailVerified": true,
          "validSince": "1790244100", "createdAt": "1000", "lastLoginAt": 2000,
          "linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "x"],
        ], .owner)
      #expect(changed["email"] == "new@example.com")
      #expect(changed["emailVerified"] == true)
      #expect(changed["idToken"] == nil)
      let user = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [uid]], .owner)["users"]?.arrayValue?.first
      // A time in the future is replaced with the current time.
      #expect(user?["validSince"] == "1790244000")
      #expect(user?["createdAt"] == "1000")
      #expect(user?["lastLoginAt"] == "2000")
      #expect(try await server.post(Self.admin, [:], .owner).error == "MISSING_LOCAL_ID")
      #expect(
        try await server.post(Self.admin, ["localId": "nobody"], .owner).error == "USER_NOT_FOUND")
    }
  }

  @Test func `times written back as a lookup returned them change nothing`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      server.advance(seconds: 60)
      _ = try await server.signIn(alice)
      server.advance(seconds: 60)
      let pool = try await server.identity.pools.find(project: ID(TestServer.project))
      let before = try #require(try await server.identity.accounts.find(pool, ID(alice.uid)))
      #expect(before.createdAt.microseconds % 1_000 != 0)
      let filter = AuditFilter(object: .account)
      let entries = try await server.identity.audit.list(filter, after: nil, limit: 9).items.count
      let path = TestServer.accounts + ":lookup"
      let found = try await server.post(path, ["localId": [.string(alice.uid)]], .owner)
      let user = try #require(found["users"]?.arrayValue?.first)
      var change: JSON.Object = ["localId": .string(alice.uid)]
      for name in ["createdAt", "lastLoginAt"] { change[name] = user[name] }
      #expect(try await server.post(Self.admin, .object(change), .owner).status == 200)
      let after = try #require(try await server.identity.accounts.find(pool, ID(alice.uid)))
      #expect(after.createdAt == before.createdAt)
      #expect(after.lastLoginAt == before.lastLoginAt)
      let rows = try await server.identity.audit.list(filter, after: nil, limit: 9).items
      #expect(rows.count == entries, "\(rows.first.map { "\($0)" } ?? "")")
    }
  }

  @Test(arguments: [
    (#"{"role":"admin"}"#, nil), ("{}", nil), ("", nil),
    ("[ 1, 2 ]", "INVALID_CLAIMS : Not a JSON Object: [1,2]"),
    ("null", "INVALID_CLAIMS : Not a JSON Object: null"),
    ("{", "INVALID_CLAIMS : The text is not JSON."), (#"{"sub":"x"}"#, "FORBIDDEN_CLAIM : sub"),
    (#"{"firebase":{}}"#, "FORBIDDEN_CLAIM : firebase"), ("long", "CLAIMS_TOO_LARGE"),
  ])
  func `custom claims are an object without reserved names`(text: String, error: String?)
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let claims = text == "long" ? #"{"a":"\#(String(repeating: "x", count: 1000))"}"# : text
      let answer = try await server.post(
        Self.admin, ["localId": .string(alice.uid), "customAttributes": .string(claims)], .owner)
      #expect(answer.error == error)
    }
  }

  @Test func `fields copied into tokens are limited by encoded length, not visible characters`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      let marks = String(
        repeating: "a" + String(repeating: "\u{301}", count: 20), count: 100)
      let photo = "INVALID_PROFILE_ATTRIBUTE : Photo URL too long."
      let own = try await server.post(Self.path, ["idToken": token, "photoUrl": .string(marks)])
      #expect(own.error == photo)
      let new = try await server.post(
        TestServer.accounts, ["photoUrl": .string(marks)], .owner)
      #expect(new.error == photo)
      let claims = #"{"x":"\#(marks)"}"#
      let tooLarge = try await server.post(
        Self.admin, ["localId": .string(alice.uid), "customAttributes": .string(claims)], .owner)
      #expect(tooLarge.error == "CLAIMS_TOO_LARGE")
      let longest = String(repeating: "x", count: 1_000 - #"{"x":""}"#.count)
      let kept = try await server.post(
        Self.admin,
        ["localId": .string(alice.uid), "customAttributes": .string(#"{"x":"\#(longest)"}"#)],
        .owner)
      #expect(kept.status == 200)
    }
  }
}
