import HTTP
import Identity
import JSON
import Testing

struct SecondFactorTests {
  private static let finalize = "/v2/accounts/mfaSignIn:finalize"

  /// A user with a factor who has passed the first factor.
  private struct Waiting {
    let server: TestServer
    let person: Person
    let enrolled: Enrolled
    let pending: String

    init(_ server: TestServer) async throws {
      self.server = server
      try await server.switchTOTPOn()
      person = try await server.addPerson()
      enrolled = try await server.enroll(try await server.signIn(person).text("idToken"))
      server.advance(seconds: 60)
      pending = try await server.signIn(person).text("mfaPendingCredential")
    }

    func finalize(
      pending: String? = nil, enrollment: String? = nil, code: String? = nil
    ) async throws -> Answer {
      let code = try code ?? enrolled.device.code(at: server.now)
      return try await server.post(
        SecondFactorTests.finalize,
        [
          "mfaPendingCredential": .string(pending ?? self.pending),
          "mfaEnrollmentId": .string(enrollment ?? enrolled.id),
          "totpVerificationInfo": ["verificationCode": .string(code)],
        ])
    }
  }

  @Test func `a code attempt is stored with its address and user agent`()
    async throws
  {
    try await TestServer.with { server in
      let waiting = try await Waiting(server)
      let body: JSON = [
        "mfaPendingCredential": .string(waiting.pending),
        "mfaEnrollmentId": .string(waiting.enrolled.id),
        "totpVerificationInfo": ["verificationCode": "12345"],
      ]
      let answer = try await server.call(
        .post, Self.finalize, text: String(decoding: body.serialized(), as: UTF8.self), .key,
        fields: [.userAgent: "okhttp/4.12"])
      #expect(answer.error == "INVALID_CODE")
      let pool = try await server.identity.pools.find(project: ID(TestServer.project))
      let account = try #require(
        try await server.identity.accounts.find(pool, ID(waiting.person.uid)))
      let codeAttempts = try await server.identity.codeAttempts.list(account).items
      #expect(codeAttempts.map(\.result) == [.unreadable, .accepted])
      #expect(codeAttempts.map(\.way) == [.app, .enrollment])
      #expect(
        codeAttempts.first?.origin == RequestOrigin(address: "192.0.2.7", userAgent: "okhttp/4.12"))
      #expect(codeAttempts.last?.origin.address == "192.0.2.7")
    }
  }

  @Test func `the first factor returns the second factors and no tokens`() async throws {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      let answer = try await server.signIn(alice.person)
      #expect(
        masked(answer.json)
          == (try json(
            """
            {"kind": "identitytoolkit#VerifyPasswordResponse", "localId": "<localId>",
             "email": "alice@example.com", "displayName": "", "registered": true,
             "mfaPendingCredential": "<mfaPendingCredential>", "mfaInfo": [{
               "mfaEnrollmentId": "<mfaEnrollmentId>", "displayName": "Phone",
               "enrolledAt": "2026-09-24T10:00:00.123456Z", "totpInfo": {}}]}
            """)))
    }
  }

  @Test func `a correct code returns an ID token and a refresh token`() async throws {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      let answer = try await alice.finalize()
      #expect(
        masked(answer.json) == ["idToken": "<idToken>", "refreshToken": "<refreshToken>"])
      let token = try claims(answer["idToken"])
      #expect(token["auth_time"] == token["iat"])
      #expect(token["firebase"]?["second_factor_identifier"]?.stringValue == alice.enrolled.id)
      #expect(try await alice.finalize().error == "INVALID_PENDING_TOKEN")
    }
  }

  @Test func `invalid requests get the same errors as in production`() async throws {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      #expect(try await alice.finalize(pending: "garbage").error == "INVALID_PENDING_TOKEN")
      #expect(try await alice.finalize(enrollment: "other").error == "INVALID_MFA_ENROLLMENT_ID")
      #expect(try await alice.finalize(code: "1000000").error == "INVALID_CODE")
      for answer in [
        try await alice.finalize(pending: ""), try await alice.finalize(enrollment: ""),
        try await alice.finalize(code: ""), try await server.post(Self.finalize, [:]),
      ] {
        #expect(
          answer["error"] == [
            "code": 400, "message": "Request contains an invalid argument.",
            "status": "INVALID_ARGUMENT",
          ])
      }
      let phone = try await server.post(
        Self.finalize,
        [
          "mfaPendingCredential": .string(alice.pending),
          "phoneVerificationInfo": ["sessionInfo": "x", "code": "123456"],
        ])
      #expect(phone.error == "OPERATION_NOT_ALLOWED : SMS based MFA not enabled.")
      let start = "/v2/accounts/mfaSignIn:start"
      #expect(
        try await server.post(start, ["mfaPendingCredential": .string(alice.pending)]).error
          == "Request contains an invalid argument.")
      #expect(
        try await server.post(
          start,
          [
            "mfaPendingCredential": .string(alice.pending),
            "mfaEnrollmentId": .string(alice.enrolled.id), "phoneSignInInfo": [:],
          ]
        ).error
          == "INVALID_PHONE_NUMBER : Invalid format.")
    }
  }

  @Test(arguments: [(-6, "INVALID_CODE"), (-5, nil), (5, nil), (6, "INVALID_CODE")])
  func `five time steps before and after are accepted by default`(steps: Int64, error: String?)
    async throws
  {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      server.advance(seconds: 200)
      let code = try alice.enrolled.device.code(at: server.now, steps: steps)
      #expect(try await alice.finalize(code: code).error == error)
    }
  }

  @Test(arguments: [
    (300, nil),
    (301, "TOTP_CHALLENGE_TIMEOUT : TOTP challenge timeout, provide first factor again."),
  ])
  func `the second factor must be completed within five minutes`(age: Int64, error: String?)
    async throws
  {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      server.advance(seconds: age)
      #expect(try await alice.finalize().error == error)
    }
  }

  @Test func `after five wrong codes, even a correct code is refused`() async throws {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      for _ in 0..<4 { #expect(try await alice.finalize(code: "000000").error == "INVALID_CODE") }
      let quota = "QUOTA_EXCEEDED : Exceeded quota."
      #expect(try await alice.finalize(code: "000000").error == quota)
      #expect(try await alice.finalize().error == quota)
      server.advance(seconds: 31)
      #expect(try await alice.finalize().status == 200)
    }
  }

  @Test func `a user who was disabled or deleted in the meantime is refused`() async throws {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      let uid = JSON.string(alice.person.uid)
      _ = try await server.post(
        TestServer.accounts + ":update", ["localId": uid, "disableUser": true], .owner)
      #expect(try await alice.finalize().error == "USER_DISABLED")
      _ = try await server.post(TestServer.accounts + ":delete", ["localId": uid], .owner)
      #expect(try await alice.finalize().error == "USER_NOT_FOUND")
    }
  }

  @Test func `when TOTP is off, enrolled users sign in with one factor`() async throws {
    try await TestServer.with { server in
      let alice = try await Waiting(server)
      _ = try await server.patch(TestServer.config + "?updateMask=mfa", [:])
      let answer = try await server.signIn(alice.person)
      #expect(answer["idToken"] != nil)
      #expect(answer["mfaPendingCredential"] == nil)
    }
  }
}
