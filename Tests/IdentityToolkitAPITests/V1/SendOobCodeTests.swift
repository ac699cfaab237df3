import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import Testing

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
        #expect((answer["oobLink"] != nil) == role.permissions.contains(.changeUsers), "\(path)")
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
