import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import Testing

extension TestServer {
  static let sendOobCode = "/v1/accounts:sendOobCode"
  static let resetPassword = "/v1/accounts:resetPassword"
  static let emailLink = "/v1/accounts:signInWithEmailLink"

  /// Sets email privacy and email link sign-in.
  func configure(privacy: Bool = true, emailLink: Bool = true) async throws {
    let answer = try await patch(
      Self.config,
      [
        "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(privacy)],
        "signIn": ["email": ["enabled": true, "passwordRequired": .bool(!emailLink)]],
      ])
    #expect(answer.status == 200)
  }

  /// Requests an out-of-band code as a backend.
  func code(_ type: String, _ email: String, _ more: JSON.Object = [:], tenant: String? = nil)
    async throws -> Answer
  {
    var body: JSON.Object = [
      "requestType": .string(type), "email": .string(email), "returnOobLink": true,
    ]
    for member in more.members { body[member.name] = member.value }
    let place = tenant.map { "/tenants/\($0)" } ?? ""
    let answer = try await post(
      "/v1/projects/acme-mfa\(place)/accounts:sendOobCode", .object(body), .owner)
    #expect(answer.status == 200, "\(answer.json)")
    return answer
  }
}

struct OobCodeTests {
  @Test func `a reset code can be checked and then used once`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let code = try await server.code("PASSWORD_RESET", alice.email)["oobCode"] ?? nil
      let seen = try await server.post(TestServer.resetPassword, ["oobCode": code])
      #expect(
        seen.json == [
          "kind": "identitytoolkit#ResetPasswordResponse", "email": "alice@example.com",
          "requestType": "PASSWORD_RESET",
        ])
      let weak = try await server.post(
        TestServer.resetPassword, ["oobCode": code, "newPassword": "short"])
      let empty = try await server.post(
        TestServer.resetPassword, ["oobCode": code, "newPassword": ""])
      #expect(empty.error == weak.error)
      #expect(weak.error == "WEAK_PASSWORD : Password should be at least 6 characters")
      let done = try await server.post(
        TestServer.resetPassword, ["oobCode": code, "newPassword": "battery staple"])
      #expect(done.json == seen.json)
      #expect(try await server.signIn(alice).error == "INVALID_LOGIN_CREDENTIALS")
      for body in [["oobCode": code], ["oobCode": code, "newPassword": "battery staple"]] as [JSON]
      {
        #expect(try await server.post(TestServer.resetPassword, body).error == "INVALID_OOB_CODE")
      }
    }
  }

  @Test func `missing, invalid, expired, and foreign codes are refused`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let tenant = try await server.addTenant()
      let bob = try await server.addPerson("bob", tenant: tenant)
      let path = TestServer.resetPassword
      #expect(try await server.post(path, [:]).error == "MISSING_OOB_CODE")
      #expect(try await server.post(path, ["oobCode": "x"]).error == "INVALID_OOB_CODE")
      let own = try await server.code("PASSWORD_RESET", alice.email)["oobCode"] ?? nil
      let other = try await server.code("VERIFY_EMAIL", bob.email, tenant: tenant)["oobCode"] ?? nil
      #expect(try await server.post(path, ["oobCode": other]).error == "INVALID_OOB_CODE")
      #expect(
        try await server.post("/v1/accounts:update", ["oobCode": other]).error
          == "INVALID_OOB_CODE")
      let right = try await server.post(path, ["oobCode": other, "tenantId": .string(tenant)])
      #expect(right["requestType"] == "VERIFY_EMAIL")
      server.advance(seconds: 3_600)
      #expect(try await server.post(path, ["oobCode": own]).error == "EXPIRED_OOB_CODE")
    }
  }

  @Test func `update applies the action of a code`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let path = "/v1/accounts:update"
      _ = try await server.post(
        TestServer.accounts + ":update",
        ["localId": .string(alice.uid), "emailVerified": false], .owner)
      let verify = try await server.code("VERIFY_EMAIL", alice.email)["oobCode"] ?? nil
      let verified = try await server.post(path, ["oobCode": verify])
      #expect(verified["kind"] == "identitytoolkit#SetAccountInfoResponse")
      #expect(verified["localId"]?.stringValue == alice.uid && verified["emailVerified"] == true)
      #expect(verified["idToken"] == nil)
      let change =
        try await server.code(
          "VERIFY_AND_CHANGE_EMAIL", alice.email, ["newEmail": "New@example.com"])["oobCode"] ?? nil
      let seen = try await server.post(TestServer.resetPassword, ["oobCode": change])
      #expect(seen["newEmail"] == "new@example.com" && seen["email"] == "alice@example.com")
      let changed = try await server.post(path, ["oobCode": change])
      #expect(changed["email"] == "new@example.com" && changed["emailVerified"] == true)
      #expect(changed["newEmail"] == "new@example.com" && verified["newEmail"] == nil)
      let user = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [.string(alice.uid)]], .owner)
      #expect(
        user["users"]?.arrayValue?.first?["initialEmail"]?.stringValue == "alice@example.com")
      #expect(try await server.post(path, ["oobCode": ""]).error == "INVALID_OOB_CODE")
    }
  }

  @Test func `a user with a second factor can change the email only through a link`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      try await server.configure(privacy: false)
      let alice = try await server.addPerson()
      let enrolled = try await server.enroll(try await server.signIn(alice).text("idToken"))
      let token = try #require(enrolled.answer["idToken"] ?? nil)
      let changes: [(String, JSON)] = [
        ("update", ["idToken": token, "email": "new@example.com"]),
        ("update", ["idToken": token, "deleteAttribute": ["EMAIL"]]),
        // What the SDK sends to link an email and a password.
        ("signUp", ["idToken": token, "email": "new@example.com", "password": "correct horse"]),
      ]
      for (method, body) in changes {
        let answer = try await server.post("/v1/accounts:\(method)", body)
        #expect(answer.error == "EMAIL_CHANGE_NEEDS_VERIFICATION")
      }
      let same = try await server.post(
        "/v1/accounts:update", ["idToken": token, "email": "Alice@example.com"])
      #expect(same.status == 200)
    }
  }
}

struct EmailLinkTests {
  @Test func `an email link creates an account and signs in`() async throws {
    try await TestServer.with { server in
      try await server.configure()
      let email = "new@example.com"
      let code = try await server.code("EMAIL_SIGNIN", email)["oobCode"] ?? nil
      let seen = try await server.post(TestServer.resetPassword, ["oobCode": code])
      #expect(
        seen.json == [
          "kind": "identitytoolkit#ResetPasswordResponse", "requestType": "EMAIL_SIGNIN",
        ])
      let other = try await server.post(
        TestServer.emailLink, ["oobCode": code, "email": "other@example.com"])
      #expect(
        other.error
          == "INVALID_EMAIL : The email provided does not match the sign-in email address.")
      let done = try await server.post(
        TestServer.emailLink, ["oobCode": code, "email": .string(email)])
      #expect(done["kind"] == "identitytoolkit#EmailLinkSigninResponse")
      #expect(done["isNewUser"] == true && done["email"]?.stringValue == email)
      #expect(done["expiresIn"] == "3600" && done["refreshToken"] != nil)
      let token = try claims(done["idToken"])
      #expect(token["firebase"]?["sign_in_provider"] == "password")
      #expect(token["email_verified"] == true)
      let user = try await server.post("/v1/accounts:lookup", ["idToken": done["idToken"] ?? nil])
      let shown = user["users"]?.arrayValue?.first
      #expect(shown?["emailLinkSignin"] == true)
      #expect(shown?["providerUserInfo"]?.arrayValue?.map { $0["providerId"] } == ["password"])
      #expect(
        try await server.post(TestServer.emailLink, ["oobCode": code, "email": .string(email)])
          .error == "INVALID_OOB_CODE")
      try await server.configure(privacy: false)
      let uri = try await server.post(
        "/v1/accounts:createAuthUri",
        ["identifier": .string(email), "continueUri": "http://localhost"])
      #expect(uri["registered"] == true && uri["signinMethods"] == ["emailLink"])
      #expect(uri["allProviders"] == ["password"])
      // The link was to the address, so it isn't a sign-in method without it.
      let uid = try done.text("localId")
      let removed = try await server.post(
        TestServer.accounts + ":update",
        ["localId": .string(uid), "deleteAttribute": ["EMAIL"]], .owner)
      #expect(removed.status == 200)
      let left = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [.string(uid)]], .owner)
      #expect(left["users"]?.arrayValue?.count == 1)
      #expect(left["users"]?.arrayValue?.first?["emailLinkSignin"] == nil)
    }
  }

  @Test func `a second factor is required, and isNewUser is omitted`() async throws {
    try await TestServer.with { server in
      try await server.configure()
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      _ = try await server.enroll(try await server.signIn(alice).text("idToken"))
      let code = try await server.code("EMAIL_SIGNIN", alice.email)["oobCode"] ?? nil
      let due = try await server.post(
        TestServer.emailLink, ["oobCode": code, "email": .string(alice.email)])
      #expect(due["mfaPendingCredential"] != nil && due["mfaInfo"]?.arrayValue?.count == 1)
      #expect(due["isNewUser"] == nil && due["idToken"] == nil && due["expiresIn"] == nil)
    }
  }

  @Test(arguments: [
    ("{}", "MISSING_EMAIL"), (#"{"email":"a@example.com"}"#, "MISSING_OOB_CODE"),
    (#"{"email":"a@example.com","oobCode":"x"}"#, "INVALID_OOB_CODE"),
    (#"{"email":"a","oobCode":"x"}"#, "INVALID_EMAIL"),
    (#"{"email":"a@example.com","oobCode":"x","idToken":"x"}"#, "INVALID_ID_TOKEN"),
  ])
  func `invalid requests are refused`(body: String, error: String) async throws {
    try await TestServer.with { server in
      try await server.configure()
      #expect(try await server.call(.post, TestServer.emailLink, text: body, .key).error == error)
      try await server.configure(emailLink: false)
      let off = try await server.call(.post, TestServer.emailLink, text: body, .key).error
      #expect(off == (error == "INVALID_OOB_CODE" ? "OPERATION_NOT_ALLOWED" : error))
    }
  }

  @Test func `createAuthUri reports missing and invalid fields`() async throws {
    try await TestServer.with { server in
      try await server.configure(privacy: false)
      for (body, error) in [
        ("{}", "MISSING_IDENTIFIER"), (#"{"identifier":"a@example.com"}"#, "MISSING_CONTINUE_URI"),
        (#"{"identifier":"x","continueUri":"http://localhost"}"#, "INVALID_IDENTIFIER"),
        (#"{"identifier":"a@example.com","continueUri":"/x"}"#, "INVALID_CONTINUE_URI"),
      ] {
        let answer = try await server.call(
          .post, "/v1/accounts:createAuthUri", text: body, .key)
        #expect(answer.error == error)
      }
      let unknown = try await server.post(
        "/v1/accounts:createAuthUri",
        ["identifier": "a@example.com", "continueUri": "http://localhost"])
      #expect(unknown["registered"] == false && unknown["sessionId"] != nil)
    }
  }
}
