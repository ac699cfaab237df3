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

struct SendOobCodeTests {
  @Test func `a link returned to a backend has the parameters that SDKs expect`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let answer = try await server.code(
        "PASSWORD_RESET", alice.email, ["continueUrl": "http://localhost/a?b=c"])
      #expect(answer["kind"] == "identitytoolkit#GetOobConfirmationCodeResponse")
      #expect(answer["email"]?.stringValue == alice.email)
      let link = try answer.text("oobLink")
      let code = try answer.text("oobCode")
      #expect(
        link == "https://mfa.example.com/__/auth/action?mode=resetPassword&lang=en"
          + "&oobCode=\(code)&apiKey=\(server.key)&continueUrl=http%3A%2F%2Flocalhost%2Fa%3Fb%3Dc")
      let tenant = try await server.addTenant()
      let bob = try await server.addPerson("bob", tenant: tenant)
      let ofTenant = try await server.code("VERIFY_EMAIL", bob.email, tenant: tenant)
      #expect(try ofTenant.text("oobLink").hasSuffix("&tenantId=\(tenant)"))
    }
  }

  /// With these members, production wraps the whole link, or only its continue URL.
  @Test(
    arguments: [
      ("PASSWORD_RESET", ["iOSBundleId": "i", "canHandleCodeInApp": true], "link"),
      ("VERIFY_EMAIL", ["androidPackageName": "a", "canHandleCodeInApp": true], "link"),
      ("EMAIL_SIGNIN", ["iOSBundleId": "i", "canHandleCodeInApp": true], "link"),
      ("PASSWORD_RESET", ["iOSBundleId": "i"], "continueUrl"),
      ("PASSWORD_RESET", ["androidPackageName": "a"], "continueUrl"),
      ("EMAIL_SIGNIN", ["iOSBundleId": "i", "canHandleCodeInApp": false], "continueUrl"),
      ("PASSWORD_RESET", ["canHandleCodeInApp": true], ""),
      ("PASSWORD_RESET", ["androidInstallApp": true, "androidMinimumVersion": "12"], ""),
    ] as [(String, JSON.Object, String)])
  func `a link for an app opens the app`(_ type: String, _ members: JSON.Object, _ wrapped: String)
    async throws
  {
    try await TestServer.with { server in
      try await server.configure()
      let alice = try await server.addPerson()
      var more = members
      more["continueUrl"] = "http://localhost/a?b=c"
      let answer = try await server.code(type, alice.email, more)
      func query(_ link: String, at place: String) throws -> Form {
        #expect(link.hasPrefix("https://mfa.example.com/__/auth/\(place)?"))
        return try #require(Target(String(link.dropFirst(23)))).query
      }
      let link = try answer.text("oobLink")
      let inner =
        wrapped == "link" ? try #require(try query(link, at: "links").text("link")) : link
      let action = try query(inner, at: "action")
      #expect(try action.text("oobCode") == answer.text("oobCode"))
      let next = try #require(action.text("continueUrl"))
      #expect(
        next == (wrapped == "continueUrl" ? "https://mfa.example.com/__/auth/links?link=" : "")
          + (wrapped == "continueUrl" ? "http://localhost/a?b%3Dc" : "http://localhost/a?b=c"))
      // Without a continue URL, there's nothing to wrap.
      guard wrapped == "continueUrl", type != "EMAIL_SIGNIN" else { return }
      let without = try await server.code(type, alice.email, members)
      #expect(try !without.text("oobLink").contains("links"))
    }
  }

  @Test func `a backend may send the ID token of the user in place of the address`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let path = "/v1/projects/acme-mfa/accounts:sendOobCode"
      func ask(_ type: String, _ token: String) async throws -> Answer {
        try await server.post(
          path,
          [
            "requestType": .string(type), "idToken": .string(token), "returnOobLink": true,
            "newEmail": "new@example.com",
          ], .owner)
      }
      for type in ["VERIFY_EMAIL", "VERIFY_AND_CHANGE_EMAIL"] {
        let answer = try await ask(type, token)
        #expect(answer["email"]?.stringValue == alice.email && answer["oobLink"] != nil)
        #expect(try await ask(type, "x").error == "INVALID_ID_TOKEN")
      }
      #expect(try await ask("PASSWORD_RESET", token).error == "MISSING_EMAIL")
      let tenant = try await server.addTenant()
      let there = try await server.post(
        "/v1/projects/acme-mfa/tenants/\(tenant)/accounts:sendOobCode",
        ["requestType": "VERIFY_EMAIL", "idToken": .string(token)], .owner)
      #expect(there.status == 400)
    }
  }

  @Test(arguments: ["4", #""VERIFY_EMAIL""#, #""1""#])
  func `the request type can be a name or a number`(kind: String) async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let answer = try await server.call(
        .post, TestServer.sendOobCode,
        text: #"{"request_type":\#(kind),"idToken":"\#(token)","captchaResp":"x"}"#, .key)
      #expect((answer.status == 200) == (kind != #""1""#), "\(answer.json)")
    }
  }

  @Test(arguments: [
    ("{}", "MISSING_REQ_TYPE"), (#"{"requestType":0}"#, "MISSING_REQ_TYPE"),
    (#"{"requestType":"RECOVER_EMAIL"}"#, "INVALID_REQ_TYPE : Unsupported request parameters."),
    (#"{"requestType":8}"#, "INVALID_REQ_TYPE : Unsupported request parameters."),
    (#"{"requestType":"PASSWORD_RESET"}"#, "MISSING_EMAIL"),
    (#"{"requestType":"PASSWORD_RESET","email":"x"}"#, "INVALID_EMAIL"),
    (#"{"requestType":"PASSWORD_RESET","email":"a@example.com"}"#, "EMAIL_NOT_FOUND"),
    (
      #"{"requestType":"PASSWORD_RESET","email":"a@example.com","returnOobLink":true}"#,
      "INSUFFICIENT_PERMISSION"
    ),
    (#"{"requestType":"VERIFY_EMAIL","email":"a@example.com"}"#, "INVALID_ID_TOKEN"),
    (#"{"requestType":"VERIFY_EMAIL","idToken":"x"}"#, "INVALID_ID_TOKEN"),
    (
      #"{"requestType":"EMAIL_SIGNIN","email":"a@example.com","continueUrl":"/x"}"#,
      "INVALID_CONTINUE_URI : Missing domain in continue url"
    ),
    (
      #"{"requestType":"EMAIL_SIGNIN","email":"a@example.com","continueUrl":""}"#,
      "INVALID_CONTINUE_URI : Missing domain in continue url"
    ),
    (
      #"{"requestType":"EMAIL_SIGNIN","email":"a@example.com","continueUrl":"https://evil.example"}"#,
      "UNAUTHORIZED_DOMAIN : Domain not allowlisted by project"
    ),
  ])
  func `invalid requests are refused`(body: String, error: String) async throws {
    try await TestServer.with { server in
      try await server.configure(privacy: false)
      let answer = try await server.call(.post, TestServer.sendOobCode, text: body, .key)
      #expect(answer.error == error)
    }
  }

  @Test func `changing an email requires the user's ID token`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let bob = try await server.addPerson("bob")
      let token = try await server.signIn(alice).text("idToken")
      func ask(_ newEmail: String?) async throws -> Answer {
        var body: JSON.Object = [
          "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": .string(token),
        ]
        if let newEmail { body["newEmail"] = .string(newEmail) }
        return try await server.post(TestServer.sendOobCode, .object(body))
      }
      #expect(try await ask(nil).error == "MISSING_NEW_EMAIL")
      #expect(try await ask("x").error == "INVALID_NEW_EMAIL")
      #expect(try await ask("new@example.com").text("email") == alice.email)
      // With email privacy, the response doesn't reveal that the address is taken.
      #expect(try await ask(bob.email).status == 200)
      try await server.configure(privacy: false)
      #expect(try await ask(bob.email).error == "EMAIL_EXISTS")
    }
  }

  @Test func `known and unknown emails get identical responses`() async throws {
    try await TestServer.with { server in
      _ = try await server.addPerson("alice")
      var answers: [String] = []
      for name in ["alice", "wonder"] {
        for _ in 0..<6 {
          let answer = try await server.post(
            TestServer.sendOobCode,
            ["requestType": "PASSWORD_RESET", "email": .string("\(name)@example.com")])
          let text = String(decoding: answer.response.body.bytes, as: UTF8.self)
          answers.append("\(answer.status) " + text.replacing(name, with: "somebody"))
        }
      }
      #expect(Array(answers[..<6]) == Array(answers[6...]))
      #expect(answers[4].hasPrefix("200") && answers[5].contains("RESET_PASSWORD_EXCEED_LIMIT"))
      let uri = try await server.post(
        "/v1/accounts:createAuthUri",
        ["identifier": "alice@example.com", "continueUri": "http://localhost", "sessionId": "s"])
      let unknown = try await server.post(
        "/v1/accounts:createAuthUri",
        ["identifier": "x@example.com", "continueUri": "http://localhost", "sessionId": "s"])
      #expect(uri.json == unknown.json)
      #expect(uri.json == ["kind": "identitytoolkit#CreateAuthUriResponse", "sessionId": "s"])
    }
  }

  @Test(arguments: ServiceTokenRole.allCases)
  func `links are returned only to tokens that can change users`(role: ServiceTokenRole)
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.token(role)
      for path in [TestServer.sendOobCode, "/v1/projects/acme-mfa/accounts:sendOobCode"] {
        let answer = try await server.post(
          path,
          [
            "requestType": "PASSWORD_RESET", "email": .string(alice.email), "returnOobLink": true,
          ], .bearer(token))
        #expect((answer["oobLink"] != nil) == (role == .owner || role == .application), "\(path)")
        #expect(answer.status == (answer["oobLink"] == nil ? 403 : 200))
      }
    }
  }

  @Test func `a backend learns that an email is unknown`() async throws {
    try await TestServer.with { server in
      for (type, error) in [
        ("PASSWORD_RESET", "EMAIL_NOT_FOUND"), ("VERIFY_EMAIL", "USER_NOT_FOUND"),
      ] {
        for wantsLink in [true, false] {
          let answer = try await server.post(
            "/v1/projects/acme-mfa/accounts:sendOobCode",
            [
              "requestType": .string(type), "email": "x@example.com",
              "returnOobLink": .bool(wantsLink),
            ], .owner)
          #expect(answer.error == error)
        }
      }
    }
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
