import JSON
import Testing

extension ErrorRow {
  /// Errors of enrollment and withdrawal.
  static let enrollment: [ErrorRow] = [
    ErrorRow("INVALID_CODE") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      let pending = try await server.pendingEnrollment(token)
      return try await server.finish(token, pending.session, code: "1000000")
    },
    ErrorRow("INVALID_SESSION_INFO") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      return try await server.finish(token, "garbage", code: "000000")
    },
    ErrorRow("SESSION_EXPIRED") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      let pending = try await server.pendingEnrollment(token)
      server.advance(seconds: 901)
      return try await server.finish(
        token, pending.session, code: pending.device.code(at: server.now))
    },
    ErrorRow("MFA_ENROLLMENT_ALREADY_COMPLETE") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      let pending = try await server.pendingEnrollment(token)
      let code = try pending.device.code(at: server.now)
      #expect(try await server.finish(token, pending.session, code: code).status == 200)
      return try await server.finish(token, pending.session, code: code)
    },
    ErrorRow("MISSING_DISPLAY_NAME") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      let pending = try await server.pendingEnrollment(token)
      return try await server.finish(
        token, pending.session, code: pending.device.code(at: server.now), name: nil)
    },
    ErrorRow("TOO_MANY_ENROLLMENT_ATTEMPTS") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      let pending = try await server.pendingEnrollment(token)
      for _ in 0..<3 { _ = try await server.finish(token, pending.session, code: "1000000") }
      return try await server.finish(token, pending.session, code: "1000000")
    },
    ErrorRow("OPERATION_NOT_ALLOWED") { server in
      let (_, token) = try await server.session()
      return try await server.post(start, ["idToken": token, "totpEnrollmentInfo": [:]])
    },
    ErrorRow("UNSUPPORTED_FIRST_FACTOR") { server in
      try await server.switchTOTPOn()
      let token = try await server.post(signUp, [:])["idToken"] ?? nil
      return try await server.post(start, ["idToken": token, "totpEnrollmentInfo": [:]])
    },
    ErrorRow("UNVERIFIED_EMAIL") { server in
      try await server.switchTOTPOn()
      let fresh = try await server.post(
        signUp, ["email": "bob@example.com", "password": "swordfish"])
      return try await server.post(
        start, ["idToken": fresh["idToken"] ?? nil, "totpEnrollmentInfo": [:]])
    },
    ErrorRow("CREDENTIAL_TOO_OLD_LOGIN_AGAIN") { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      server.advance(seconds: 301)
      return try await server.post(start, ["idToken": token, "totpEnrollmentInfo": [:]])
    },
    ErrorRow("SECOND_FACTOR_LIMIT_EXCEEDED") { server in
      let alice = try await server.waiting()
      let token = alice.enrolled.answer["idToken"] ?? nil
      return try await server.post(start, ["idToken": token, "totpEnrollmentInfo": [:]])
    },
    ErrorRow("MFA_ENROLLMENT_NOT_FOUND") { server in
      let (_, token) = try await server.session()
      return try await server.post(withdraw, ["idToken": token, "mfaEnrollmentId": "totp"])
    },
    ErrorRow("UNSUPPORTED_SECOND_FACTOR") { server in
      let alice = try await server.addPerson()
      return try await server.change(
        alice.uid, ["mfa": ["enrollments": [["displayName": "New", "totpInfo": [:]]]]])
    },
  ]

  /// Errors of the second factor at sign-in.
  static let secondFactor: [ErrorRow] = [
    ErrorRow("INVALID_PENDING_TOKEN") { server in
      let alice = try await server.waiting()
      let forged = Waiting(person: alice.person, enrolled: alice.enrolled, pending: "garbage")
      return try await server.finishSecond(forged, code: "000000")
    },
    ErrorRow("INVALID_MFA_ENROLLMENT_ID") { server in
      let alice = try await server.waiting()
      return try await server.finishSecond(alice, code: "000000", enrollment: "other")
    },
    ErrorRow("TOTP_CHALLENGE_TIMEOUT") { server in
      let alice = try await server.waiting()
      server.advance(seconds: 301)
      return try await server.finishSecond(
        alice, code: try alice.enrolled.device.code(at: server.now))
    },
    ErrorRow("QUOTA_EXCEEDED") { server in
      let alice = try await server.waiting()
      for _ in 0..<4 { _ = try await server.finishSecond(alice, code: "1000000") }
      return try await server.finishSecond(alice, code: "1000000")
    },
    ErrorRow("USER_DISABLED") { server in
      let alice = try await server.waiting()
      _ = try await server.change(alice.person.uid, ["disableUser": true])
      return try await server.finishSecond(
        alice, code: try alice.enrolled.device.code(at: server.now))
    },
  ]

  /// Errors of a phone as a second factor.
  static let phoneFactor: [ErrorRow] = [
    ErrorRow("SECOND_FACTOR_EXISTS") { server in
      let token = try await server.withPhone("+15551230001")
      return try await server.post(
        start, ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": "+15551230001"]])
    },
    ErrorRow("INVALID_MFA_PENDING_CREDENTIAL") { server in
      let token = try await server.withPhone("+15551230001")
      let payload = try claims(token)
      let alice = Person(
        email: try #require(payload["email"]?.stringValue),
        uid: try #require(payload["sub"]?.stringValue))
      let first = try await server.signIn(alice)
      server.advance(seconds: 601)
      return try await server.post(
        startSecond,
        [
          "mfaPendingCredential": first["mfaPendingCredential"] ?? nil,
          "mfaEnrollmentId":
            first["mfaInfo"]?.arrayValue?.first?["mfaEnrollmentId"] ?? nil,
          "phoneSignInInfo": [:],
        ])
    },
    ErrorRow("DUPLICATE_MFA_ENROLLMENT_ID") { server in
      try await server.switchPhonesOn()
      let alice = try await server.addPerson()
      let entry: (String) -> JSON = { ["mfaEnrollmentId": "one", "phoneInfo": .string($0)] }
      return try await server.change(
        alice.uid, ["mfa": ["enrollments": [entry("+15551230001"), entry("+15551230002")]]])
    },
  ]
}

extension TestServer {
  func switchPhonesOn() async throws {
    try await configure("mfa", ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]])
    try await configure(
      "signIn.phoneNumber",
      [
        "signIn": [
          "phoneNumber": [
            "enabled": true,
            "testPhoneNumbers": ["+15551230001": "123456", "+15551230002": "654321"],
          ]
        ]
      ])
  }

  /// Adds a user with a phone as a second factor, and returns the ID token.
  func withPhone(_ number: String) async throws -> JSON {
    try await switchPhonesOn()
    let (_, token) = try await session()
    let started = try await post(
      ErrorRow.start,
      ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": .string(number)]])
    let done = try await post(
      ErrorRow.finalize,
      [
        "idToken": token, "displayName": "Phone",
        "phoneVerificationInfo": [
          "sessionInfo": started["phoneSessionInfo"]?["sessionInfo"] ?? nil, "code": "123456",
        ],
      ])
    return .string(try done.text("idToken"))
  }
}
