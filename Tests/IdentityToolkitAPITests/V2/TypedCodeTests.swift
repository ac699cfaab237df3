import HTTP
import HostileText
import Identity
import JSON
import Testing

/// Every method that takes a code which a user typed, with the code in every notation.
struct TypedCodeTests {
  /// Sends a code, written in a notation, to a method; the status is 200 if it's accepted.
  struct Reader: Sendable {
    let name: String
    let send: @Sendable (TestServer, CodeNotation) async throws -> Answer
  }

  private static let finalize = "/v2/accounts/mfaSignIn:finalize"

  private static func sendPhone(
    _ server: TestServer, _ path: String, _ body: JSON
  ) async throws -> JSON {
    let sent = try await server.post(path, body)
    let info = sent["phoneSessionInfo"] ?? sent["phoneResponseInfo"] ?? sent.json
    return info["sessionInfo"] ?? nil
  }

  private static func enrollPhone(
    _ server: TestServer, _ person: Person, _ notation: CodeNotation
  ) async throws -> Answer {
    let token: JSON = try await server.signIn(person)["idToken"] ?? nil
    let session = try await sendPhone(
      server, "/v2/accounts/mfaEnrollment:start",
      ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": .string(PhoneTests.number)]])
    return try await server.post(
      "/v2/accounts/mfaEnrollment:finalize",
      [
        "idToken": token, "displayName": "Mobile",
        "phoneVerificationInfo": [
          "sessionInfo": session, "code": .string(notation.written(PhoneTests.code)),
        ],
      ])
  }

  static let readers: [Reader] = [
    Reader(name: "mfaEnrollment:finalize, app") { server, notation in
      try await server.switchTOTPOn()
      let token: JSON = try await server.signIn(try await server.addPerson())["idToken"] ?? nil
      let start = try await server.post(
        "/v2/accounts/mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
      let info = try #require(start["totpSessionInfo"])
      let device = try Device(try #require(info["sharedSecretKey"]?.stringValue))
      return try await server.post(
        "/v2/accounts/mfaEnrollment:finalize",
        [
          "idToken": token, "displayName": "App",
          "totpVerificationInfo": [
            "sessionInfo": info["sessionInfo"] ?? nil,
            "verificationCode": .string(notation.written(try device.code(at: server.now))),
          ],
        ])
    },
    Reader(name: "mfaEnrollment:finalize, phone") { server, notation in
      try await PhoneTests.switchOn(server)
      return try await enrollPhone(server, try await server.addPerson(), notation)
    },
    Reader(name: "mfaSignIn:finalize, app") { server, notation in
      let waiting = try await server.waiting()
      let code = try waiting.enrolled.device.code(at: server.now)
      return try await server.finishSecond(waiting, code: notation.written(code))
    },
    Reader(name: "mfaSignIn:finalize, temporary code") { server, notation in
      try await server.allowBackupCodes()
      let waiting = try await server.waiting()
      let code = try await server.temporaryCode(of: waiting.person.uid)
      return try await server.finishSecond(waiting, code: notation.written(code))
    },
    Reader(name: "mfaSignIn:finalize, recovery code") { server, notation in
      try await server.allowBackupCodes()
      let waiting = try await server.waiting()
      let code = try waiting.enrolled.device.code(at: server.now)
      let token: JSON = try await server.finishSecond(waiting, code: code)["idToken"] ?? nil
      let codes = try await server.post(
        "/v2/accounts/mfaRecoveryCodes:generate", ["idToken": token])
      let recovery = try #require(codes["recoveryCodes"]?.arrayValue?.first?.stringValue)
      let pending: JSON = try await server.signIn(waiting.person)["mfaPendingCredential"] ?? nil
      return try await server.finishSecond(
        Waiting(person: waiting.person, enrolled: waiting.enrolled, pending: pending),
        code: notation.written(recovery))
    },
    Reader(name: "mfaSignIn:finalize, phone") { server, notation in
      try await PhoneTests.switchOn(server)
      let alice = try await server.addPerson()
      _ = try await enrollPhone(server, alice, .plain)
      let due = try await server.signIn(alice)
      let pending: JSON = due["mfaPendingCredential"] ?? nil
      let session = try await sendPhone(
        server, "/v2/accounts/mfaSignIn:start",
        [
          "mfaPendingCredential": pending, "phoneSignInInfo": [:],
          "mfaEnrollmentId": due["mfaInfo"]?.arrayValue?.first?["mfaEnrollmentId"] ?? nil,
        ])
      return try await server.post(
        Self.finalize,
        [
          "mfaPendingCredential": pending,
          "phoneVerificationInfo": [
            "sessionInfo": session, "code": .string(notation.written(PhoneTests.code)),
          ],
        ])
    },
    Reader(name: "signInWithPhoneNumber") { server, notation in
      try await PhoneTests.switchOn(server)
      let session = try await sendPhone(
        server, "/v1/accounts:sendVerificationCode",
        ["phoneNumber": .string(PhoneTests.number)])
      return try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        ["sessionInfo": session, "code": .string(notation.written(PhoneTests.code))])
    },
  ]

  @Test(arguments: TypedCodeTests.readers.indices)
  func `a code is accepted however it's written`(index: Int) async throws {
    let reader = Self.readers[index]
    for notation in CodeNotation.allCases {
      try await TestServer.with { server in
        let answer = try await reader.send(server, notation)
        #expect(answer.status == 200, "\(reader.name), \(notation): \(answer.json)")
      }
    }
  }

  @Test func `a text of separators is no code, and isn't counted`() async throws {
    try await TestServer.with { server in
      let waiting = try await server.waiting()
      for code in [" ", "- -", "\u{A0}\u{200B}"] {
        let answer = try await server.finishSecond(waiting, code: code)
        #expect(answer.error == "Request contains an invalid argument.", "\(code)")
      }
      let pool = try await server.identity.pools.find(project: ID(TestServer.project))
      let account = try await server.identity.accounts.find(pool, ID(waiting.person.uid))
      #expect(account?.wrongCodes == 0)
    }
  }
}
