import HTTP
import Identity
import JSON
import Testing

/// Tests for phones as second factors, over HTTP.
struct PhoneTests {
  static let number = "+12025550143"
  static let code = "424242"

  static func switchOn(_ server: TestServer) async throws {
    let answer = try await server.patch(
      TestServer.config,
      [
        "mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]],
        "signIn": [
          "email": ["enabled": true, "passwordRequired": false], "anonymous": ["enabled": true],
          "phoneNumber": ["enabled": true, "testPhoneNumbers": [number: .string(code)]],
        ],
      ])
    #expect(answer.status == 200)
    #expect(answer["signIn"]?["phoneNumber"]?["enabled"] == true)
  }

  private func start(
    _ server: TestServer, _ token: String, _ number: String = PhoneTests.number
  ) async throws -> Answer {
    try await server.post(
      "/v2/accounts/mfaEnrollment:start",
      [
        "idToken": .string(token),
        "phoneEnrollmentInfo": [
          "phoneNumber": .string(number), "captchaResponse": "NO_RECAPTCHA",
          "clientType": "CLIENT_TYPE_WEB", "recaptchaVersion": "RECAPTCHA_ENTERPRISE",
        ],
      ])
  }

  private func finalize(
    _ server: TestServer, _ token: String, _ info: JSON, name: JSON = "Mobile"
  ) async throws -> Answer {
    try await server.post(
      "/v2/accounts/mfaEnrollment:finalize",
      ["idToken": .string(token), "displayName": name, "phoneVerificationInfo": info])
  }

  private func enroll(_ server: TestServer, _ person: Person) async throws -> Answer {
    let token = try await server.signIn(person).text("idToken")
    let started = try await start(server, token)
    return try await finalize(
      server, token,
      [
        "sessionInfo": started["phoneSessionInfo"]?["sessionInfo"] ?? nil,
        "code": .string(Self.code),
      ])
  }

  @Test func `an enrolled phone is shown in full by lookup and masked at sign-in`()
    async throws
  {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      let done = try await enroll(server, alice)
      #expect(done.status == 200 && done["expiresIn"] == nil)
      #expect(done["phoneAuthInfo"] == nil)
      let firebase = try claims(done["idToken"])["firebase"]
      #expect(firebase?["sign_in_second_factor"] == "phone")
      let user = try await server.post("/v1/accounts:lookup", ["idToken": done["idToken"] ?? nil])
      let shown = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue?.first
      #expect(shown?["phoneInfo"] == .string(Self.number) && shown?["totpInfo"] == nil)
      #expect(firebase?["second_factor_identifier"] == shown?["mfaEnrollmentId"])
      let due = try await server.signIn(alice)
      let factor = due["mfaInfo"]?.arrayValue?.first
      #expect(factor?["phoneInfo"] == "+*******0143" && factor?["displayName"] == "Mobile")
      #expect(due["idToken"] == nil)
      let sent = try await server.post(
        "/v2/accounts/mfaSignIn:start",
        [
          "mfaPendingCredential": due["mfaPendingCredential"] ?? nil,
          "mfaEnrollmentId": factor?["mfaEnrollmentId"] ?? nil,
          "phoneSignInInfo": ["captchaResponse": "NO_RECAPTCHA"],
        ])
      let signedIn = try await server.post(
        "/v2/accounts/mfaSignIn:finalize",
        [
          "mfaPendingCredential": due["mfaPendingCredential"] ?? nil,
          "phoneVerificationInfo": [
            "sessionInfo": sent["phoneResponseInfo"]?["sessionInfo"] ?? nil,
            "code": .string(Self.code),
          ],
        ])
      #expect(signedIn.status == 200)
      #expect(
        try claims(signedIn["idToken"])["firebase"]?["sign_in_second_factor"] == "phone")
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": signedIn["refreshToken"] ?? nil])
      #expect(
        try claims(refreshed["id_token"])["firebase"]?["sign_in_second_factor"] == "phone")
    }
  }

  @Test func `a number with separators is stored in canonical form, and only once`() async throws {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let start = try await server.post(
        "/v2/accounts/mfaEnrollment:start",
        [
          "idToken": .string(token),
          "phoneEnrollmentInfo": ["phoneNumber": "+1 (202) 555-0143"],
        ])
      let done = try await finalize(
        server, token,
        [
          "sessionInfo": start["phoneSessionInfo"]?["sessionInfo"] ?? nil,
          "code": .string(Self.code),
        ])
      let user = try await server.post("/v1/accounts:lookup", ["idToken": done["idToken"] ?? nil])
      let shown = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue?.first
      #expect(shown?["phoneInfo"] == .string(Self.number))
      let again = try await server.post(
        "/v2/accounts/mfaEnrollment:start",
        [
          "idToken": done["idToken"] ?? nil,
          "phoneEnrollmentInfo": ["phoneNumber": "+1 202 555 0143"],
        ])
      #expect(again.error?.hasPrefix("SECOND_FACTOR_EXISTS") == true)
      let replaced = try await server.post(
        "/v1/projects/acme-mfa/accounts:update",
        [
          "localId": .string(alice.uid),
          "mfa": ["enrollments": [["phoneInfo": "+1 202-555-0199"]]],
        ], .owner)
      #expect(replaced.status == 200)
      let list = try await server.post(
        "/v1/projects/acme-mfa/accounts:lookup", ["localId": [.string(alice.uid)]], .owner)
      let kept = list["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue?.first
      #expect(kept?["phoneInfo"] == "+12025550199")
    }
  }

  @Test func `enrolling keeps earlier sessions`() async throws {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      let old = try await server.signIn(alice).text("idToken")
      _ = try await enroll(server, alice)
      let lookup = try await server.post("/v1/accounts:lookup", ["idToken": .string(old)])
      #expect(lookup.status == 200)
    }
  }

  @Test func `invalid enrollment starts are refused`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let off = "OPERATION_NOT_ALLOWED : SMS based MFA not enabled."
      #expect(try await start(server, token).error == off)
      #expect(try await start(server, "bad").error == off)
      #expect(try await finalize(server, token, ["sessionInfo": "x"]).error == off)
      try await Self.switchOn(server)
      #expect(try await start(server, "bad").error == "INVALID_ID_TOKEN")
      let path = "/v2/accounts/mfaEnrollment:start"
      for info in [[:], ["phoneNumber": "12025550143"], ["phoneNumber": nil]] as [JSON] {
        let answer = try await server.post(
          path, ["idToken": .string(token), "phoneEnrollmentInfo": info])
        #expect(answer.error == "INVALID_PHONE_NUMBER : Invalid format.")
      }
      let both = try await server.post(
        path,
        [
          "idToken": .string(token), "totpEnrollmentInfo": [:],
          "phoneEnrollmentInfo": ["phoneNumber": .string(Self.number)],
        ])
      #expect(both.error?.contains("oneof field 'enrollment_info' is already set") == true)
      let done = try await enroll(server, alice)
      let again = try await start(server, try done.text("idToken"))
      #expect(
        again.error
          == "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
      )
    }
  }

  @Test func `invalid enrollment finalizations are refused`() async throws {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let info = try await start(server, token)["phoneSessionInfo"]?["sessionInfo"] ?? nil
      let cases: [(JSON, String)] = [
        ([:], "MISSING_SESSION_INFO"), (["code": "424242"], "MISSING_SESSION_INFO"),
        (["sessionInfo": info], "MISSING_CODE"),
        (["sessionInfo": info, "code": ""], "MISSING_CODE"),
        (["sessionInfo": "x", "code": "424242"], "INVALID_SESSION_INFO"),
        (["sessionInfo": info, "code": "1000000"], "INVALID_CODE"),
        (["temporaryProof": "x"], "MISSING_PHONE_NUMBER"),
        (
          ["temporaryProof": "x", "phoneNumber": .string(Self.number)], "INVALID_TEMPORARY_PROOF"
        ),
        (["sessionInfo": info, "code": "000000"], "INVALID_CODE"),
        (["sessionInfo": info, "code": "000000"], "INVALID_CODE"),
        (
          ["sessionInfo": info, "code": .string(Self.code)],
          "TOO_MANY_ENROLLMENT_ATTEMPTS : restart enrollment"
        ),
      ]
      for (body, expected) in cases {
        #expect(try await finalize(server, token, body).error == expected)
      }
      let fresh = try await start(server, token)["phoneSessionInfo"]?["sessionInfo"] ?? nil
      let late =
        try await start(server, token, "+12025550144")["phoneSessionInfo"]?["sessionInfo"] ?? nil
      let done = try await finalize(
        server, token, ["sessionInfo": fresh, "code": .string(Self.code)], name: nil)
      let next = try done.text("idToken")
      #expect(
        try await finalize(server, next, ["sessionInfo": fresh, "code": .string(Self.code)]).error
          == "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
      )
      server.advance(seconds: 601)
      #expect(
        try await finalize(server, next, ["sessionInfo": late, "code": .string(Self.code)]).error
          == "SESSION_EXPIRED")
    }
  }

  @Test func `invalid sign-ins are refused`() async throws {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      _ = try await enroll(server, alice)
      let due = try await server.signIn(alice)
      let pending = due["mfaPendingCredential"] ?? nil
      let factor = due["mfaInfo"]?.arrayValue?.first?["mfaEnrollmentId"] ?? nil
      let missing = "Request contains an invalid argument."
      let starts: [(JSON, String)] = [
        (["mfaPendingCredential": pending, "mfaEnrollmentId": factor], missing),
        (["mfaPendingCredential": pending, "phoneSignInInfo": [:]], missing),
        (["mfaEnrollmentId": factor, "phoneSignInInfo": [:]], missing),
        (
          ["mfaPendingCredential": "x", "mfaEnrollmentId": factor, "phoneSignInInfo": [:]],
          "INVALID_PENDING_TOKEN"
        ),
        (
          ["mfaPendingCredential": pending, "mfaEnrollmentId": "x", "phoneSignInInfo": [:]],
          "MFA_ENROLLMENT_NOT_FOUND"
        ),
      ]
      for (body, expected) in starts {
        #expect(try await server.post("/v2/accounts/mfaSignIn:start", body).error == expected)
      }
      let sent = try await server.post(
        "/v2/accounts/mfaSignIn:start",
        ["mfaPendingCredential": pending, "mfaEnrollmentId": factor, "phoneSignInInfo": [:]])
      let info = sent["phoneResponseInfo"]?["sessionInfo"] ?? nil
      let finals: [(JSON, String)] = [
        (["phoneVerificationInfo": ["sessionInfo": info, "code": "1"]], missing),
        (
          ["mfaPendingCredential": pending, "phoneVerificationInfo": ["code": "1"]],
          "MISSING_SESSION_INFO"
        ),
        (
          ["mfaPendingCredential": pending, "phoneVerificationInfo": ["sessionInfo": info]],
          "MISSING_CODE"
        ),
        (
          [
            "mfaPendingCredential": pending,
            "phoneVerificationInfo": ["sessionInfo": "x", "code": "1"],
          ], "INVALID_SESSION_INFO"
        ),
        (
          [
            "mfaPendingCredential": pending,
            "phoneVerificationInfo": ["sessionInfo": info, "code": "1"],
          ], "INVALID_CODE"
        ),
      ]
      for (body, expected) in finals {
        #expect(try await server.post("/v2/accounts/mfaSignIn:finalize", body).error == expected)
      }
      server.advance(seconds: 601)
      let late = try await server.post(
        "/v2/accounts/mfaSignIn:start",
        ["mfaPendingCredential": pending, "mfaEnrollmentId": factor, "phoneSignInInfo": [:]])
      #expect(
        late.error == "INVALID_MFA_PENDING_CREDENTIAL : MFA pending credential is expired.")
    }
  }

  @Test func `SMS quota and region errors are reported`() async throws {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let body: JSON = [
        "idToken": .string(token), "phoneEnrollmentInfo": ["phoneNumber": "+4915799999999"],
      ]
      for _ in 0..<5 {
        #expect(try await server.post("/v2/accounts/mfaEnrollment:start", body).error == nil)
      }
      #expect(
        try await server.post("/v2/accounts/mfaEnrollment:start", body).error
          == "QUOTA_EXCEEDED : Exceeded quota.")
      _ = try await server.patch(
        TestServer.config + "?updateMask=smsRegionConfig",
        ["smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["US"]]]])
      #expect(
        try await server.post("/v2/accounts/mfaEnrollment:start", body).error
          == "OPERATION_NOT_ALLOWED : SMS unable to be sent until this region enabled by the app "
          + "developer.")
    }
  }

  @Test func `only an administrator can create an account with phones`()
    async throws
  {
    try await TestServer.with { server in
      let body: JSON = [
        "email": "new@example.com", "password": .string(Person.password), "emailVerified": true,
        "mfaInfo": [["displayName": "One", "phoneInfo": .string(Self.number)]],
      ]
      let created = try await server.post(TestServer.accounts, body, .owner)
      let user = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [created["localId"] ?? nil]], .owner)
      let factors = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue ?? []
      #expect(factors.map { $0["phoneInfo"] } == [.string(Self.number)])
      #expect(factors.first?["mfaEnrollmentId"]?.stringValue?.isEmpty == false)
      for (numbers, expected) in [
        (["0151"], "INVALID_PHONE_NUMBER : Invalid format."),
        ([""], "INVALID_PHONE_NUMBER : Invalid format."),
        (
          [Self.number, Self.number],
          "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
        ),
        (
          (0..<6).map { "+1202555010\($0)" },
          "SECOND_FACTOR_LIMIT_EXCEEDED"
        ),
      ] {
        let answer = try await server.post(
          TestServer.accounts,
          ["mfaInfo": .array(numbers.map { ["phoneInfo": .string($0)] })], .owner)
        #expect(answer.error == expected)
      }
      let own = try await server.post(
        "/v1/accounts:signUp",
        [
          "email": "own@example.com", "password": .string(Person.password),
          "mfaInfo": [["phoneInfo": .string(Self.number)]],
        ])
      let shown = try await server.post("/v1/accounts:lookup", ["idToken": own["idToken"] ?? nil])
      #expect(shown["users"]?.arrayValue?.first?["mfaInfo"] == nil)
    }
  }

  @Test func `if withdrawal requires a second factor, SDKs are told to sign in again`()
    async throws
  {
    try await TestServer.with { server in
      try await Self.switchOn(server)
      let alice = try await server.addPerson()
      let done = try await enroll(server, alice)
      let user = try await server.post("/v1/accounts:lookup", ["idToken": done["idToken"] ?? nil])
      let factor = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue?.first
      // A session from when SMS was off, which has passed only the first factor.
      try await setSMS(server, false)
      let plain = try await server.signIn(alice).text("idToken")
      try await setSMS(server, true)
      var body: JSON.Object = [
        "idToken": .string(plain), "mfaEnrollmentId": factor?["mfaEnrollmentId"] ?? nil,
      ]
      let refused = try await server.post("/v2/accounts/mfaEnrollment:withdraw", .object(body))
      #expect(refused.error == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      body["idToken"] = done["idToken"] ?? nil
      let left = try await server.post("/v2/accounts/mfaEnrollment:withdraw", .object(body))
      #expect(left.status == 200)
      #expect(try claims(left["idToken"])["firebase"]?["sign_in_second_factor"] == nil)
    }
  }

  private func setSMS(_ server: TestServer, _ isOn: Bool) async throws {
    let answer = try await server.patch(
      TestServer.config + "?updateMask=mfa.state",
      ["mfa": ["state": isOn ? "ENABLED" : "DISABLED"]])
    #expect(answer.status == 200)
  }
}
