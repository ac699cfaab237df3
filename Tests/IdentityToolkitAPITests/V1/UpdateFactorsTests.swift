import HTTP
import Identity
import JSON
import Testing

struct UpdateFactorsTests {
  /// Updates a user with one factor as an administrator.
  ///
  /// - Returns: The error, and the names of the remaining factors.
  private func update(
    query: String = "", _ mfa: (_ enrollment: String) -> String
  ) async throws -> (String?, [JSON]) {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      let enrolled = try await server.enroll(try await server.signIn(alice).text("idToken"))
      let answer = try await server.call(
        .post, TestServer.accounts + ":update" + query,
        text: #"{"localId":"\#(alice.uid)","mfa":\#(mfa(enrolled.id))}"#, .owner)
      let user = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [.string(alice.uid)]], .owner)
      let factors = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue
      return (answer.error, (factors ?? []).compactMap { $0["displayName"] })
    }
  }

  @Test(arguments: ["{}", "null", #"{"enrollments":[]}"#, #"{"enrollments":null}"#])
  func `an empty list removes all factors`(mfa: String) async throws {
    let (error, factors) = try await update { _ in mfa }
    #expect(error == nil)
    #expect(factors == [])
  }

  @Test func `a listed factor is preserved and renamed`() async throws {
    let (error, factors) = try await update {
      #"{"enrollments":[{"mfaEnrollmentId":"\#($0)","displayName":"Tablet","totpInfo":{}}]}"#
    }
    #expect(error == nil)
    #expect(factors == ["Tablet"])
  }

  @Test func `an overlong factor name is refused`() async throws {
    let long = String(repeating: "x", count: 101)
    let (error, factors) = try await update {
      #"{"enrollments":[{"mfaEnrollmentId":"\#($0)","displayName":"\#(long)"}]}"#
    }
    #expect(error?.hasPrefix("INVALID_DISPLAY_NAME : ") == true)
    #expect(factors == ["Phone"])
  }

  @Test func `a factor listed without a name keeps its name`() async throws {
    let (error, factors) = try await update { #"{"enrollments":[{"mfaEnrollmentId":"\#($0)"}]}"# }
    #expect(error == nil)
    #expect(factors == ["Phone"])
  }

  @Test(arguments: [
    (
      #"{"mfaEnrollmentId":"other","totpInfo":{}}"#,
      "UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment"
    ),
    (
      #"{"displayName":"x","totpInfo":{}}"#,
      "UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment"
    ),
    (#"{"phoneInfo":"15550100","displayName":"Mobile"}"#, "INVALID_PHONE_NUMBER : Invalid format."),
    (#"{"displayName":"x"}"#, "INVALID_MFA_PHONE_NUMBER : Invalid format."),
  ])
  func `invalid enrollments are refused and the existing factor is preserved`(
    entry: String, error: String
  ) async throws {
    let (message, factors) = try await update { _ in #"{"enrollments":[\#(entry)]}"# }
    #expect(message == error)
    #expect(factors == ["Phone"])
  }

  @Test(arguments: [#"{"enrollement":[]}"#, #"{"Enrollments":[]}"#])
  func `a misspelled member is refused and removes nothing`(mfa: String) async throws {
    let (error, factors) = try await update { _ in mfa }
    #expect(error?.hasSuffix("at 'mfa': Cannot find field.") == true)
    #expect(factors == ["Phone"])
  }

  @Test(arguments: ["sharedSecretKey", "hashingAlgorithm", "algorithm", "digits", "period"])
  func `a member that would change a factor's codes is refused by name`(name: String) async throws {
    let (error, factors) = try await update {
      #"{"enrollments":[{"mfaEnrollmentId":"\#($0)","totpInfo":{"\#(name)":"8"}}]}"#
    }
    #expect(
      error?.contains(#""\#(name)" at 'mfa.enrollments[0].totp_info': Cannot find field."#) == true)
    #expect(factors == ["Phone"])
  }

  @Test func `too many factors, too many phones, and duplicate IDs are refused`()
    async throws
  {
    let (seven, _) = try await update { _ in
      #"{"enrollments":[{},{},{},{},{},{},{}]}"#
    }
    #expect(seven == "SECOND_FACTOR_LIMIT_EXCEEDED")
    let phones = (0..<6).map { #"{"phoneInfo":"+1202555010\#($0)"}"# }.joined(separator: ",")
    let (six, _) = try await update { _ in #"{"enrollments":[\#(phones)]}"# }
    #expect(six == "SECOND_FACTOR_LIMIT_EXCEEDED")
    let (twice, factors) = try await update {
      #"{"enrollments":[{"mfaEnrollmentId":"\#($0)"},{"mfaEnrollmentId":"\#($0)"}]}"#
    }
    #expect(twice == "DUPLICATE_MFA_ENROLLMENT_ID : Enrollment id already exists.")
    #expect(factors == ["Phone"])
  }

  @Test func `a list of phones preserves the TOTP factor`() async throws {
    let (error, factors) = try await update { _ in
      #"{"enrollments":[{"phoneInfo":"+12025550143","displayName":"Mobile","#
        + #""enrolledAt":"2026-01-02T03:04:05Z"},{"phoneInfo":"+12025550144"}]}"#
    }
    #expect(error == nil)
    #expect(factors == ["Phone", "Mobile"])
  }

  // MARK: - Complete lists

  private static let mask = "?updateMask=mfa.enrollments"
  private static let mobile = #"{"phoneInfo":"+12025550143","displayName":"Mobile"}"#

  @Test(arguments: [
    (mask, ["Mobile"]), ("?update_mask=mfa.enrollments", ["Mobile"]),
    ("?updateMask=mfa", ["Phone", "Mobile"]), ("?updateMask=*", ["Phone", "Mobile"]),
    ("?updateMask=", ["Phone", "Mobile"]), ("?updateMask=mfa.enrollments.x", ["Phone", "Mobile"]),
    ("?updateMask=mfa.enrollments,displayName", ["Phone", "Mobile"]),
  ])
  func `only a complete list removes an app that it doesn't name`(query: String, left: [String])
    async throws
  {
    let (error, factors) = try await update(query: query) { _ in
      #"{"enrollments":[\#(Self.mobile)]}"#
    }
    #expect(error == nil)
    #expect(factors == left.map { .string($0) })
  }

  @Test(arguments: [#""totpInfo":{}"#, #""displayName":"Phone""#])
  func `an app that a complete list names stays`(member: String) async throws {
    let (error, factors) = try await update(query: Self.mask) {
      #"{"enrollments":[{"mfaEnrollmentId":"\#($0)",\#(member)},\#(Self.mobile)]}"#
    }
    #expect(error == nil)
    #expect(factors == ["Phone", "Mobile"])
  }

  @Test(arguments: ["{}", "null", #"{"enrollments":[]}"#])
  func `a complete list that's empty removes all factors`(mfa: String) async throws {
    let (error, factors) = try await update(query: Self.mask) { _ in mfa }
    #expect(error == nil)
    #expect(factors == [])
  }

  @Test(arguments: [
    (#""mfa":{"enrollments":[{"mfaEnrollmentId":"other","totpInfo":{}}]}"#, false),
    (#""mfa":{"enrollments":[{"phoneInfo":"1"}]}"#, false),
    (#""mfa":{"enrollements":[]}"#, false), (#""displayName":"Alice""#, true),
  ])
  func `what isn't a list of factors removes none, complete or not`(member: String, isValid: Bool)
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      _ = try await server.enroll(try await server.signIn(alice).text("idToken"))
      let answer = try await server.call(
        .post, TestServer.accounts + ":update" + Self.mask,
        text: #"{"localId":"\#(alice.uid)",\#(member)}"#, .owner)
      #expect((answer.error == nil) == isValid)
      let user = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [.string(alice.uid)]], .owner)
      #expect(user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue?.count == 1)
    }
  }

  @Test func `an app that a complete list names keeps its secret and its last code`() async throws {
    try await TestServer.with { server in
      let waiting = try await server.waiting()
      let code = try waiting.enrolled.device.code(at: server.now)
      #expect(try await server.finishSecond(waiting, code: code).status == 200)
      let kept: JSON = ["mfaEnrollmentId": .string(waiting.enrolled.id), "totpInfo": [:]]
      let body: JSON = [
        "localId": .string(waiting.person.uid), "mfa": ["enrollments": [kept]],
      ]
      let path = TestServer.accounts + ":update" + Self.mask
      #expect(try await server.post(path, body, .owner).status == 200)
      let pending = try await server.signIn(waiting.person).text("mfaPendingCredential")
      let next = Waiting(
        person: waiting.person, enrolled: waiting.enrolled, pending: .string(pending))
      #expect(try await server.finishSecond(next, code: code).error != nil)
      server.advance(seconds: 30)
      let new = try waiting.enrolled.device.code(at: server.now)
      #expect(try await server.finishSecond(next, code: new).status == 200)
    }
  }

  @Test(arguments: [("", #"{}"#), (mask, #"{"enrollments":[\#(mobile)]}"#)])
  func `an app that an administrator removes takes sessions and recovery codes along`(
    query: String, mfa: String
  ) async throws {
    try await TestServer.with { server in
      try await server.allowBackupCodes()
      let waiting = try await server.waiting()
      let token = try await server.finishSecond(
        waiting, code: waiting.enrolled.device.code(at: server.now))["idToken"]
      let codes = "/v2/accounts/mfaRecoveryCodes:"
      #expect(try await server.post(codes + "generate", ["idToken": token ?? nil]).status == 200)
      let answer = try await server.call(
        .post, TestServer.accounts + ":update" + query,
        text: #"{"localId":"\#(waiting.person.uid)","mfa":\#(mfa)}"#, .owner)
      #expect(answer.status == 200)
      let ended = try await server.post("/v1/accounts:lookup", ["idToken": token ?? nil])
      #expect(ended.error == "TOKEN_EXPIRED")
      let again = try await server.signIn(waiting.person).text("idToken")
      let left = try await server.post(codes + "lookup", ["idToken": .string(again)])
      #expect(left.json == ["remainingCodes": 0])
    }
  }

  @Test func `a phone is added only to a user with a verified email, after the change`()
    async throws
  {
    try await TestServer.with { server in
      let unverified =
        "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors."
      let phone: JSON = ["phoneInfo": "+12025550143", "mfaEnrollmentId": "one"]
      for members in [
        ["phoneNumber": "+12025550100"], ["email": "bob@example.com"], ["emailVerified": true],
      ] as [JSON.Object] {
        var body = members
        body["mfaInfo"] = [phone]
        let refused = try await server.post(TestServer.accounts, .object(body), .owner)
        #expect(refused.error == unverified, "\(members)")
        let new = try await server.post(TestServer.accounts, .object(members), .owner)
        let added = try await server.change(
          try new.text("localId"), ["mfa": ["enrollments": [phone]]])
        #expect(added.error == unverified, "\(members)")
      }
      let alice = try await server.addPerson("alice")
      _ = try await server.change(alice.uid, ["emailVerified": false])
      let both = try await server.change(
        alice.uid, ["emailVerified": true, "mfa": ["enrollments": [phone]]])
      #expect(both.status == 200)
      // A factor that the user has stays, and can be removed.
      _ = try await server.change(alice.uid, ["emailVerified": false])
      let renamed: JSON = [
        "phoneInfo": "+12025550143", "mfaEnrollmentId": "one", "displayName": "Mobile",
      ]
      let kept = try await server.change(alice.uid, ["mfa": ["enrollments": [renamed]]])
      #expect(kept.status == 200)
      let other: JSON = ["phoneInfo": "+12025550144"]
      let more = try await server.change(alice.uid, ["mfa": ["enrollments": [renamed, other]]])
      #expect(more.error == unverified)
      #expect(try await server.change(alice.uid, ["mfa": [:]]).status == 200)
    }
  }

  @Test func `an invalid enrollment time is refused`() async throws {
    let (error, factors) = try await update { _ in
      #"{"enrollments":[{"phoneInfo":"+12025550143","enrolledAt":"yesterday"}]}"#
    }
    #expect(error?.hasPrefix("Invalid value at 'mfa.enrollments[0].enrolled_at'") == true)
    #expect(factors == ["Phone"])
  }

  @Test func `enrollment times have all years of a timestamp, and those in the future mean now`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      for (given, stored) in [
        ("1850-01-01T00:00:00Z", "1850-01-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("2099-01-01T00:00:00Z", Instant(milliseconds: server.now.milliseconds).rfc3339),
      ] {
        let answer = try await server.post(
          TestServer.accounts + ":update",
          [
            "localId": .string(alice.uid),
            "mfa": [
              "enrollments": [["phoneInfo": "+12025550143", "enrolledAt": .string(given)]]
            ],
          ], .owner)
        #expect(answer.status == 200, "\(given)")
        let user = try await server.post(
          TestServer.accounts + ":lookup", ["localId": [.string(alice.uid)]], .owner)
        let factors = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue
        #expect(factors?.map { $0["enrolledAt"] } == [.string(stored)], "\(given)")
      }
    }
  }
}
