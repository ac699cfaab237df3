import HTTP
import Identity
import JSON
import Testing
import Text

struct EnrollmentTests {
  private static let start = "/v2/accounts/mfaEnrollment:start"
  private static let finalize = "/v2/accounts/mfaEnrollment:finalize"
  private static let withdraw = "/v2/accounts/mfaEnrollment:withdraw"

  @Test func `starting an enrollment returns what the app needs`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      let answer = try await server.post(
        Self.start, ["idToken": token, "totpEnrollmentInfo": [:]])
      #expect(
        masked(answer.json)
          == (try json(
            """
            {"totpSessionInfo": {"sharedSecretKey": "<sharedSecretKey>",
              "verificationCodeLength": 6, "hashingAlgorithm": "SHA1", "periodSec": 30,
              "sessionInfo": "<sessionInfo>",
              "finalizeEnrollmentTime": "2026-09-24T10:15:00.123456Z"}}
            """)))
      let secret = try #require(answer["totpSessionInfo"]?["sharedSecretKey"]?.stringValue)
      #expect(secret.wholeMatch(of: /[A-Z2-7]{32}/) != nil)
    }
  }

  @Test func `the TOTP setting is checked before everything else`() async throws {
    try await TestServer.with { server in
      let error = "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
      for token in ["", "garbage"] {
        let answer = try await server.post(
          Self.start, ["idToken": .string(token), "totpEnrollmentInfo": [:]])
        #expect(answer.error == error)
      }
      try await server.switchTOTPOn()
      #expect(
        try await server.post(Self.start, ["totpEnrollmentInfo": [:]]).error == "INVALID_ID_TOKEN")
      #expect(
        try await server.post(Self.start, ["idToken": "garbage", "totpEnrollmentInfo": [:]]).error
          == "INVALID_ID_TOKEN")
    }
  }

  @Test func `a first factor that doesn't support MFA is refused`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let anonymous = try await server.post("/v1/accounts:signUp", [:])
      let answer = try await server.post(
        Self.start, ["idToken": anonymous["idToken"] ?? nil, "totpEnrollmentInfo": [:]])
      #expect(
        answer.error
          == "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.")
    }
  }

  @Test func `missing fields are checked after the session and before its age`()
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let fresh = try await server.post(
        "/v1/accounts:signUp", ["email": "bob@example.com", "password": "correct horse"])
      let unverified = try await server.post(Self.start, ["idToken": fresh["idToken"] ?? nil])
      #expect(unverified.error?.hasPrefix("UNVERIFIED_EMAIL : ") == true)
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      server.advance(seconds: 400)
      let missing = try await server.post(Self.start, ["idToken": token])
      #expect(missing.error == "Request contains an invalid argument.")
      #expect(missing["error"]?["status"] == "INVALID_ARGUMENT")
      let old = try await server.post(Self.start, ["idToken": token, "totpEnrollmentInfo": [:]])
      #expect(old.error == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      let both = try await server.post(
        Self.start,
        [
          "idToken": token, "totpEnrollmentInfo": [:],
          "phoneEnrollmentInfo": ["phoneNumber": "+15550100"],
        ])
      #expect(
        both.error
          == "Invalid value (oneof), oneof field 'enrollment_info' is already set. "
          + "Cannot set 'phoneEnrollmentInfo'")
      let phone = try await server.post(
        Self.start, ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": "+15550100"]])
      #expect(phone.error == "OPERATION_NOT_ALLOWED : SMS based MFA not enabled.")
    }
  }

  @Test(arguments: [(300, nil), (301, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")])
  func `a sign-in can be up to five minutes old`(age: Int64, error: String?) async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let token = try await server.signIn(try await server.addPerson())["idToken"] ?? nil
      server.advance(seconds: age)
      let answer = try await server.post(
        Self.start, ["idToken": token, "totpEnrollmentInfo": [:]])
      #expect(answer.error == error)
    }
  }

  @Test func `a phone is enrolled in any session and without a name, within ten minutes`()
    async throws
  {
    try await TestServer.with { server in
      try await PhoneTests.switchOn(server)
      let token = try await server.signIn(try await server.addPerson())["idToken"] ?? nil
      server.advance(seconds: 2_000)
      for isLate in [true, false] {
        let started = try await server.post(
          Self.start,
          [
            "idToken": token,
            "phoneEnrollmentInfo": [
              "phoneNumber": .string(PhoneTests.number), "captchaResponse": "NO_RECAPTCHA",
              "clientType": "CLIENT_TYPE_WEB", "recaptchaVersion": "RECAPTCHA_ENTERPRISE",
            ],
          ])
        #expect(started.status == 200, "\(started.json)")
        server.advance(seconds: isLate ? 601 : 600)
        let finished = try await server.post(
          "/v2/accounts/mfaEnrollment:finalize",
          [
            "idToken": token,
            "phoneVerificationInfo": [
              "sessionInfo": started["phoneSessionInfo"]?["sessionInfo"] ?? nil,
              "code": .string(PhoneTests.code),
            ],
          ])
        #expect(finished.status == (isLate ? 400 : 200), "\(finished.json)")
      }
    }
  }

  @Test func `a user can enroll only one TOTP factor`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let token = try await server.signIn(try await server.addPerson()).text("idToken")
      _ = try await server.enroll(token)
      let answer = try await server.post(
        Self.start, ["idToken": .string(token), "totpEnrollmentInfo": [:]])
      #expect(
        answer.error
          == "SECOND_FACTOR_LIMIT_EXCEEDED : Too many TOTP based second factors enrolled for this "
          + "account.")
    }
  }

  /// A user who has started an enrollment.
  private struct Started {
    let server: TestServer
    let token: String
    let sessionInfo: String
    let device: Device

    init(_ server: TestServer, _ name: String = "alice") async throws {
      self.server = server
      token = try await server.signIn(try await server.addPerson(name)).text("idToken")
      let answer = try await server.post(
        EnrollmentTests.start, ["idToken": .string(token), "totpEnrollmentInfo": [:]])
      let info = try #require(answer["totpSessionInfo"])
      sessionInfo = try #require(info["sessionInfo"]?.stringValue)
      device = try Device(try #require(info["sharedSecretKey"]?.stringValue))
    }

    func finalize(
      code: String? = nil, name: JSON? = "Phone", sessionInfo: String? = nil
    ) async throws -> Answer {
      let code = try code ?? device.code(at: server.now)
      var body: JSON.Object = [
        "idToken": .string(token),
        "totpVerificationInfo": [
          "sessionInfo": .string(sessionInfo ?? self.sessionInfo),
          "verificationCode": .string(code),
        ],
      ]
      if let name { body["displayName"] = name }
      return try await server.post(EnrollmentTests.finalize, .object(body))
    }
  }

  @Test func `a factor requires a name`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await Started(server)
      for name in [nil, .null, ""] as [JSON?] {
        #expect(
          try await alice.finalize(name: name).error
            == "MISSING_DISPLAY_NAME : display name cannot be empty")
      }
      #expect(
        try await alice.finalize(name: .string(String(repeating: "ö", count: 101))).error
          == "INVALID_DISPLAY_NAME : The display name of a second factor has at most 100 characters."
      )
      let enrolled = try await alice.finalize()
      #expect(
        masked(enrolled.json) == [
          "idToken": "<idToken>", "refreshToken": "<refreshToken>", "totpAuthInfo": [:],
        ])
      #expect(try await alice.finalize().error == "MFA_ENROLLMENT_ALREADY_COMPLETE")
    }
  }

  @Test func `three wrong codes end the enrollment session`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await Started(server)
      for code in ["000000", "12345", "1000000"] {
        #expect(try await alice.finalize(code: code).error == "INVALID_CODE")
      }
      #expect(
        try await alice.finalize().error == "TOO_MANY_ENROLLMENT_ATTEMPTS : restart enrollment")
      let bob = try await Started(server, "bob")
      for _ in 0..<2 { #expect(try await bob.finalize(code: "12345").error == "INVALID_CODE") }
      #expect(try await bob.finalize().error == nil)
      #expect(
        try await bob.finalize().error == "TOO_MANY_ENROLLMENT_ATTEMPTS : restart enrollment")
    }
  }

  @Test func `an enrollment session lasts 15 minutes and belongs to its user`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await Started(server)
      let bob = try await Started(server, "bob")
      #expect(
        try await bob.finalize(sessionInfo: alice.sessionInfo).error == "INVALID_SESSION_INFO")
      #expect(try await bob.finalize(sessionInfo: "garbage").error == "INVALID_SESSION_INFO")
      #expect(try await bob.finalize(sessionInfo: "").error == "INVALID_SESSION_INFO")
      #expect(
        try await bob.finalize(code: "", name: nil).error
          == "MISSING_DISPLAY_NAME : display name cannot be empty")
      #expect(try await bob.finalize(code: "").error == "MISSING_CODE")
      let nothing = try await server.post(Self.finalize, ["idToken": .string(bob.token)])
      #expect(nothing.error == "Request contains an invalid argument.")
      server.advance(seconds: 901)
      #expect(try await alice.finalize().error == "SESSION_EXPIRED")
    }
  }

  @Test func `withdrawing the only factor returns tokens; an unknown factor is an error`()
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let token = try await server.signIn(try await server.addPerson()).text("idToken")
      let enrolled = try await server.enroll(token)
      let passed = try enrolled.answer.text("idToken")
      for id in ["totp", "", "other"] {
        let answer = try await server.post(
          Self.withdraw, ["idToken": .string(passed), "mfaEnrollmentId": .string(id)])
        #expect(answer.error == "MFA_ENROLLMENT_NOT_FOUND")
      }
      let missing = try await server.post(
        Self.withdraw, ["idToken": "x", "mfaEnrollmentId": .string(enrolled.id)])
      #expect(missing.error == "INVALID_ID_TOKEN")
      let answer = try await server.post(
        Self.withdraw, ["idToken": .string(passed), "mfaEnrollmentId": .string(enrolled.id)])
      #expect(answer.json.objectValue?.names == ["idToken", "refreshToken"])
      // A user can enroll, withdraw, and enroll again within one time step.
      _ = try await server.enroll(try answer.text("idToken"))
    }
  }
}
