import Identity
import JSON
import Testing

struct RecoveryCodesTests {
  private static let generate = "/v2/accounts/mfaRecoveryCodes:generate"
  private static let lookUp = "/v2/accounts/mfaRecoveryCodes:lookup"

  @Test func `recovery codes are shown once, work once, and are counted`() async throws {
    try await TestServer.with { server in
      try await server.allowBackupCodes()
      let waiting = try await server.waiting()
      let token = try await server.finishSecond(
        waiting, code: waiting.enrolled.device.code(at: server.now))["idToken"]
      let none = try await server.post(Self.lookUp, ["idToken": token ?? nil])
      #expect(none.json == ["remainingCodes": 0])
      let generated = try await server.post(Self.generate, ["idToken": token ?? nil])
      let codes = (generated["recoveryCodes"]?.arrayValue ?? []).compactMap(\.stringValue)
      #expect(generated.status == 200 && codes.count == 10)
      #expect(codes.allSatisfy { $0.wholeMatch(of: /([A-Z2-9]{4}-){3}[A-Z2-9]{4}/) != nil })
      let pending = try await server.signIn(waiting.person).text("mfaPendingCredential")
      let next = Waiting(
        person: waiting.person, enrolled: waiting.enrolled, pending: .string(pending))
      let inside = try await server.finishSecond(next, code: codes[0])
      #expect(inside.status == 200)
      let claims = try claims(inside["idToken"])
      #expect(claims["firebase"]?["sign_in_second_factor"] == "totp")
      #expect(
        claims["firebase"]?["second_factor_identifier"]?.stringValue == waiting.enrolled.id)
      let left = try await server.post(Self.lookUp, ["idToken": inside["idToken"] ?? nil])
      #expect(left["remainingCodes"] == 9 && left["creationTime"] != nil)
      #expect(!"\(left.json)".contains(codes[1]))
      let twice = try await server.signIn(waiting.person).text("mfaPendingCredential")
      let again = try await server.finishSecond(
        Waiting(person: waiting.person, enrolled: waiting.enrolled, pending: .string(twice)),
        code: codes[0])
      #expect(again.error == "INVALID_CODE")
    }
  }

  @Test func `generating recovery codes requires a recent second factor`()
    async throws
  {
    try await TestServer.with { server in
      let waiting = try await server.waiting()
      let token = try await server.finishSecond(
        waiting, code: waiting.enrolled.device.code(at: server.now))["idToken"]
      let off = try await server.post(Self.generate, ["idToken": token ?? nil])
      #expect(off.error == "OPERATION_NOT_ALLOWED : Recovery codes are not enabled.")
      try await server.allowBackupCodes()
      let (_, plain) = try await server.session("bob")
      #expect(
        try await server.post(Self.generate, ["idToken": plain]).error
          == "MFA_ENROLLMENT_NOT_FOUND")
      server.advance(seconds: 301)
      #expect(
        try await server.post(Self.generate, ["idToken": token ?? nil]).error
          == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      for path in [Self.generate, Self.lookUp] {
        #expect(try await server.post(path, [:]).error == "INVALID_ID_TOKEN")
      }
    }
  }

  @Test func `a temporary code works in unmodified clients`() async throws {
    try await TestServer.with { server in
      try await server.allowBackupCodes()
      let waiting = try await server.waiting()
      let code = try await server.temporaryCode(of: waiting.person.uid)
      let wrong = try await server.finishSecond(waiting, code: "ABCD-EFGH")
      #expect(wrong.error == "INVALID_CODE")
      let inside = try await server.finishSecond(waiting, code: code)
      #expect(inside.status == 200)
      let claims = try claims(inside["idToken"])
      #expect(claims["firebase"]?["sign_in_second_factor"] == "totp")
    }
  }

  @Test
  func `after a reported change, no token changes how the user signs in until an owner decides`()
    async throws
  {
    try await TestServer.with { server in
      let waiting = try await server.waiting()
      let uid = waiting.person.uid
      try await server.object(for: uid)
      let refused = try await server.signIn(waiting.person)
      #expect(refused.status == 400 && refused.error == "USER_DISABLED")
      try await server.reset(waiting.person)
      let pending = try await server.signIn(waiting.person).text("mfaPendingCredential")
      let token = try await server.finishSecond(
        Waiting(person: waiting.person, enrolled: waiting.enrolled, pending: .string(pending)),
        code: waiting.enrolled.device.code(at: server.now))["idToken"]
      let locked =
        "OPERATION_NOT_ALLOWED : Changes of how its user signs in are locked for this account."
      let calls: [(String, JSON)] = [
        (ErrorRow.start, ["idToken": token ?? nil, "totpEnrollmentInfo": [:]]),
        (
          ErrorRow.withdraw,
          ["idToken": token ?? nil, "mfaEnrollmentId": .string(waiting.enrolled.id)]
        ),
        (Self.generate, ["idToken": token ?? nil]),
        ("/v1/accounts:delete", ["idToken": token ?? nil]),
        ("/v1/accounts:update", ["idToken": token ?? nil, "password": "another horse"]),
        ("/v1/accounts:update", ["idToken": token ?? nil, "deleteAttribute": ["PASSWORD"]]),
        (
          "/v1/accounts:sendOobCode",
          [
            "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token ?? nil,
            "newEmail": "new@example.com",
          ]
        ),
      ]
      for (path, body) in calls {
        #expect(try await server.post(path, body).error == locked, "\(path)")
      }
      let changes: [JSON.Object] = [
        ["mfa": ["enrollments": []]], ["email": "new@example.com"], ["deleteAttribute": ["EMAIL"]],
        ["password": "another horse"], ["phoneNumber": "+12025550143"],
      ]
      for change in changes {
        #expect(try await server.change(uid, change).error == locked, "\(change)")
      }
      let deletion = try await server.post(
        TestServer.accounts + ":delete", ["localId": .string(uid)], .owner)
      #expect(deletion.status == 400 && deletion.error == locked)
      let bob = try await server.addPerson("bob")
      let batch = try await server.post(
        TestServer.accounts + ":batchDelete",
        ["localIds": [.string(uid), .string(bob.uid)], "force": true], .owner)
      #expect(
        batch.json == [
          "errors": [["index": 0, "localId": .string(uid), "message": .string(locked)]]
        ])
      let link = try await server.post(
        TestServer.accounts + ":sendOobCode",
        [
          "requestType": "PASSWORD_RESET", "email": .string(waiting.person.email),
          "returnOobLink": true,
        ], .owner)
      #expect(link.error == locked)
      let other = try await server.change(uid, ["displayName": "Alice"])
      #expect(other.status == 200)
    }
  }
}
