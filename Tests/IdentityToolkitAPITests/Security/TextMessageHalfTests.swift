import Database
import Identity
import JSON
import Testing

/// Which half of the daily limits each call that sends a text message uses.
struct TextMessageHalfTests {
  private enum Half: String, Sendable {
    /// Anyone can request the message.
    case open
    /// A first factor or a session was checked.
    case reserved
    /// The message isn't sent, or not counted.
    case none
  }

  /// The purposes in the outbox, one for each kind of text message.
  private static let purposes: Set = ["sms-sign-in", "sms-enrollment", "sms-second-factor"]

  private static let unknown = "+4915799999990"
  private static let ofAccount = "+4915799999991"
  private static let enrolled = "+4915799999992"

  private struct Row: Sendable {
    let name: String
    let half: Half
    let call: @Sendable (TestServer) async throws -> Answer
  }

  private static func request(
    _ server: TestServer, _ number: String,
    at path: String = "/v1/accounts:sendVerificationCode", _ more: JSON.Object = [:]
  ) async throws -> Answer {
    var body: JSON.Object = ["phoneNumber": .string(number), "recaptchaToken": "ignored"]
    for member in more { body[member.name] = member.value }
    return try await server.post(path, .object(body))
  }

  private static func enroll(
    _ server: TestServer, _ number: String, tenant: String? = nil
  ) async throws -> Answer {
    let person = try await server.addPerson("bob", tenant: tenant)
    let token = try await server.signIn(person, tenant: tenant).text("idToken")
    var body: JSON.Object = [
      "idToken": .string(token), "phoneEnrollmentInfo": ["phoneNumber": .string(number)],
    ]
    if let tenant { body["tenantId"] = .string(tenant) }
    return try await server.post("/v2/accounts/mfaEnrollment:start", .object(body))
  }

  private static func signIn(_ server: TestServer, _ number: String) async throws -> Answer {
    let person = try await server.addPerson("carol")
    let change = try await server.post(
      "\(TestServer.accounts):update",
      [
        "localId": .string(person.uid),
        "mfa": ["enrollments": [["mfaEnrollmentId": "mobile", "phoneInfo": .string(number)]]],
      ], .owner)
    #expect(change.status == 200, "\(change.json)")
    let pending = try await server.signIn(person)
    return try await server.post(
      "/v2/accounts/mfaSignIn:start",
      [
        "mfaPendingCredential": pending["mfaPendingCredential"] ?? nil,
        "mfaEnrollmentId": "mobile", "phoneSignInInfo": ["captchaResponse": "NO_RECAPTCHA"],
      ])
  }

  private static let rows = [
    Row(name: "sign-in with an unknown number", half: .open) {
      try await request($0, unknown)
    },
    Row(name: "sign-in with the number of an account", half: .open) {
      try await request($0, ofAccount)
    },
    Row(name: "sign-in with the number of a second factor", half: .open) {
      try await request($0, enrolled)
    },
    Row(name: "sign-in, with the iOS SDK", half: .open) {
      try await request(
        $0, ofAccount, at: "/identitytoolkit/v3/relyingparty/sendVerificationCode")
    },
    Row(name: "sign-in without sign-up", half: .open) { server in
      let closed = try await server.patch(
        "\(TestServer.config)?updateMask=client.permissions.disabledUserSignup",
        ["client": ["permissions": ["disabledUserSignup": true]]])
      #expect(closed.status == 200)
      return try await request(server, unknown)
    },
    // The message has no ID token, as in production: who links a number sends one with the code.
    Row(name: "sign-in with an ID token", half: .open) { server in
      let token = try await server.signIn(try await server.addPerson("bob")).text("idToken")
      return try await request(server, unknown, ["idToken": .string(token)])
    },
    Row(name: "sign-in with a test number", half: .none) {
      try await request($0, PhoneTests.number)
    },
    Row(name: "enrollment", half: .reserved) { try await enroll($0, unknown) },
    Row(name: "enrollment of a number of another account", half: .reserved) {
      try await enroll($0, ofAccount)
    },
    Row(name: "enrollment of a test number", half: .none) {
      try await enroll($0, PhoneTests.number)
    },
    Row(name: "second factor", half: .reserved) { try await signIn($0, unknown) },
    Row(name: "second factor with a test number", half: .none) {
      try await signIn($0, PhoneTests.number)
    },
  ]

  @Test func `the reserved half is for first factors and sessions`() async throws {
    var purposes: Set<String> = []
    for row in Self.rows {
      try await TestServer.with { server in
        try await prepare(server)
        let answer = try await row.call(server)
        #expect(answer.status == 200 || row.half == .none, "\(row.name): \(answer.json)")
        #expect(try await half(server) == row.half, "\(row.name)")
        purposes.formUnion(try await sent(server))
      }
    }
    #expect(purposes == Self.purposes)
    #expect(MessagePurpose.allCases.filter { $0.rawValue.hasPrefix("sms-") }.count == 3)
  }

  @Test func `the emulator profile counts nothing`() async throws {
    try await TestServer.with(.emulator) { server in
      try await prepare(server)
      for _ in 0..<20 {
        #expect(try await Self.request(server, Self.unknown).status == 200)
      }
      #expect(try await half(server) == .none)
    }
  }

  /// Turns phones on, and creates an account with a phone number and one with a second factor.
  private func prepare(_ server: TestServer) async throws {
    try await PhoneTests.switchOn(server)
    let owner = try await server.post(
      TestServer.accounts, ["phoneNumber": .string(Self.ofAccount)], .owner)
    #expect(owner.status == 200)
    let alice = try await server.addPerson()
    let change = try await server.post(
      "\(TestServer.accounts):update",
      [
        "localId": .string(alice.uid),
        "mfa": ["enrollments": [["phoneInfo": .string(Self.enrolled)]]],
      ], .owner)
    #expect(change.status == 200, "\(change.json)")
  }

  private func half(_ server: TestServer) async throws -> Half {
    let regions = try await server.database.read { connection in
      try connection.all("SELECT /* test */ region FROM sms_count") { try $0.next() as String }
    }
    guard !regions.isEmpty else { return .none }
    return regions.contains("*?") ? .open : .reserved
  }

  private func sent(_ server: TestServer) async throws -> [String] {
    try await server.database.read { connection in
      try connection.all("SELECT /* test */ purpose FROM outbox WHERE channel = 'sms'") {
        try $0.next() as String
      }
    }
  }
}
