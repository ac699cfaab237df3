import HTTP
import Identity
import JSON
import Testing

/// Tests for phone numbers as a first factor, over HTTP.
struct PhoneNumberTests {
  private func send(_ server: TestServer, _ number: String = PhoneTests.number) async throws
    -> JSON
  {
    let answer = try await server.post(
      "/v1/accounts:sendVerificationCode",
      ["phoneNumber": .string(number), "recaptchaToken": "ignored"])
    return answer["sessionInfo"] ?? nil
  }

  private func signIn(_ server: TestServer, _ more: JSON.Object = [:]) async throws -> Answer {
    var body: JSON.Object = [
      "sessionInfo": try await send(server), "code": .string(PhoneTests.code),
    ]
    for member in more { body[member.name] = member.value }
    return try await server.post("/v1/accounts:signInWithPhoneNumber", .object(body))
  }

  @Test func `a phone number signs up and signs in`() async throws {
    try await TestServer.with { server in
      try await PhoneTests.switchOn(server)
      let first = try await signIn(server)
      #expect(first.status == 200 && first["isNewUser"] == true)
      #expect(first["phoneNumber"] == .string(PhoneTests.number))
      #expect(first["expiresIn"] == "3600")
      let token = try claims(first["idToken"])
      #expect(token["phone_number"] == .string(PhoneTests.number))
      #expect(token["firebase"]?["sign_in_provider"] == "phone")
      #expect(token["firebase"]?["identities"]?["phone"] == [.string(PhoneTests.number)])
      let again = try await signIn(server, ["operation": "REAUTH"])
      #expect(again["localId"] == first["localId"] && again["isNewUser"] == false)
      let user = try await server.post("/v1/accounts:lookup", ["idToken": again["idToken"] ?? nil])
      let provider = user["users"]?.arrayValue?.first?["providerUserInfo"]?.arrayValue?.first
      #expect(provider?["providerId"] == "phone")
    }
  }

  @Test func `linking another user's number returns a temporary proof`() async throws {
    try await TestServer.with { server in
      try await PhoneTests.switchOn(server)
      let owner = try await signIn(server)
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let taken = try await signIn(server, ["idToken": .string(token), "operation": 4])
      #expect(taken.status == 200 && taken["idToken"] == nil)
      #expect(taken["temporaryProofExpiresIn"] == "3600")
      let proof: JSON = [
        "phoneNumber": taken["phoneNumber"] ?? nil,
        "temporaryProof": taken["temporaryProof"] ?? nil,
      ]
      let path = "/v1/accounts:signInWithPhoneNumber"
      let signedIn = try await server.post(path, proof)
      #expect(signedIn["localId"] == owner["localId"])
      #expect(try await server.post(path, proof).error == "INVALID_TEMPORARY_PROOF")
      let second = try await signIn(server, ["idToken": .string(token)])
      let linking = try await server.post(
        path,
        [
          "phoneNumber": second["phoneNumber"] ?? nil, "idToken": .string(token),
          "temporaryProof": second["temporaryProof"] ?? nil,
        ])
      #expect(linking.error == "PHONE_NUMBER_EXISTS")
      _ = try await server.post(
        "/v1/accounts:delete", ["idToken": signedIn["idToken"] ?? nil])
      let linked = try await signIn(server, ["idToken": .string(token), "operation": "UPDATE"])
      #expect(linked["localId"] == .string(alice.uid))
      #expect(linked["isNewUser"] == false)
    }
  }

  @Test func `missing and invalid fields are reported`() async throws {
    try await TestServer.with { server in
      let path = "/v1/accounts:signInWithPhoneNumber"
      let number: JSON = ["phoneNumber": .string(PhoneTests.number)]
      #expect(
        try await server.post("/v1/accounts:sendVerificationCode", number).error
          == "OPERATION_NOT_ALLOWED")
      try await PhoneTests.switchOn(server)
      #expect(
        try await server.post("/v1/accounts:sendVerificationCode", [:]).error
          == "INVALID_PHONE_NUMBER : Invalid format.")
      let tenant = try await server.addTenant()
      for method in [path, "/v1/accounts:sendVerificationCode"] {
        let answer = try await server.post(
          method,
          [
            "phoneNumber": .string(PhoneTests.number), "sessionInfo": "x", "code": "1",
            "tenantId": .string(tenant),
          ])
        #expect(answer.error == "UNSUPPORTED_TENANT_OPERATION")
      }
      let info = try await send(server)
      let cases: [(JSON, String)] = [
        ([:], "MISSING_SESSION_INFO"), (["sessionInfo": info], "MISSING_CODE"),
        (["sessionInfo": "x", "code": "1"], "INVALID_SESSION_INFO"),
        (["sessionInfo": info, "code": "1"], "INVALID_CODE"),
        (["sessionInfo": info, "code": "1", "idToken": "x"], "INVALID_ID_TOKEN"),
        (["sessionInfo": info, "code": "1", "operation": "LINK"], "MISSING_ID_TOKEN"),
        (["temporaryProof": "x"], "MISSING_PHONE_NUMBER"),
        (
          ["sessionInfo": info, "code": .string(PhoneTests.code), "operation": "REAUTH"],
          "USER_NOT_FOUND"
        ),
      ]
      for (body, expected) in cases {
        #expect(try await server.post(path, body).error == expected, "\(body)")
      }
    }
  }

  @Test(arguments: ["+1 202-555-0143", "+1 (202) 555.0143", "+1/202/555 01 43", "+1202-JKL-0143"])
  func `a number can contain separators and letters`(_ written: String) async throws {
    try await TestServer.with { server in
      try await PhoneTests.switchOn(server)
      let info = try await send(server, written)
      let signedIn = try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        ["sessionInfo": info, "code": .string(PhoneTests.code)])
      #expect(signedIn["phoneNumber"] == .string(PhoneTests.number))
      let found = try await server.post(
        "/v1/projects/acme-mfa/accounts:query",
        ["expression": [["phoneNumber": .string(written)]]], .owner)
      #expect(found["recordsCount"] == "1")
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      let taken = try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        [
          "sessionInfo": try await send(server, written), "code": .string(PhoneTests.code),
          "idToken": .string(token),
        ])
      let proven = try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        [
          "phoneNumber": .string(written),
          "temporaryProof": taken["temporaryProof"] ?? nil,
        ])
      #expect(proven["localId"] == signedIn["localId"])
    }
  }

  @Test(arguments: ["+1 202", "1 202-555-0143", "+1202555014x", "+1;2025550143", "+"])
  func `an invalid number is refused`(_ written: String) async throws {
    try await TestServer.with { server in
      try await PhoneTests.switchOn(server)
      let answer = try await server.post(
        "/v1/accounts:sendVerificationCode", ["phoneNumber": .string(written)])
      #expect(answer.error == "INVALID_PHONE_NUMBER : Invalid format.")
    }
  }

  @Test func `a user with a second factor can't add a phone number as a first factor`() async throws
  {
    try await TestServer.with { server in
      try await PhoneTests.switchOn(server)
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      let enrolled = try await server.enroll(try await server.signIn(alice).text("idToken"))
      let answer = try await signIn(
        server, ["idToken": .string(try enrolled.answer.text("idToken"))])
      #expect(
        answer.error
          == "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS "
          + "based MFA user.")
    }
  }

  @Test func `the emulator lists the codes instead of sending them`() async throws {
    try await TestServer.with(.emulator) { server in
      let sent = try await send(server, "+4915799999999")
      let list = "/emulator/v1/projects/acme-mfa/verificationCodes"
      let codes = try await server.get(list, .none)["verificationCodes"]?.arrayValue ?? []
      #expect(codes.count == 1)
      #expect(codes.first?["phoneNumber"] == "+4915799999999")
      #expect(codes.first?["sessionInfo"] == sent)
      let answer = try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        ["sessionInfo": sent, "code": codes.first?["code"] ?? nil])
      #expect(answer["isNewUser"] == true)
      #expect(try await server.get(list, .none)["verificationCodes"] == [])
    }
  }
}
