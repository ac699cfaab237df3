import HTTP
import Identity
import JSON
import Testing

/// Applies random sequences of account changes, and checks that no token is issued in the future
/// and that revoked tokens stay revoked.
struct RevocationOrderTests {
  @Test(arguments: 1...12)
  func `in any order of changes, no token is issued in the future or survives revocation`(
    seed: UInt64
  ) async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      try await server.configure(
        "emailPrivacyConfig", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": false]])
      var story = try await Story(server, seed)
      for _ in 0..<45 { try await story.step() }
      #expect(story.tokens.contains { $0.isLive } || story.ends > 0)
      #expect(story.ends >= 5)
    }
  }
}

/// One user's tokens during a sequence of changes, and which of them must be valid.
private struct Story {
  struct Tokens {
    var idToken: String
    var refreshToken: String
    let authTime: Int64
    /// When the user signed in, in Unix seconds, to this session or the one that it continues.
    let signedInAt: Int64
    var isLive = true
  }

  static let uid = "traveler"
  static let client = "/v1/accounts:update"
  static let admin = TestServer.accounts + ":update"

  let server: TestServer
  var dice: SplitMix
  var email = "alice@example.com"
  var password = "correct horse"
  var isDisabled = false
  var factor: Enrolled?
  var tokens: [Tokens] = []
  /// The number of times that sessions were revoked.
  var ends = 0
  private var steps: [String] = []

  init(_ server: TestServer, _ seed: UInt64) async throws {
    self.server = server
    dice = SplitMix(state: seed)
    try await create()
  }

  mutating func step() async throws {
    let actions: [(String, (inout Story) async throws -> Void)] = [
      ("sign in", { try await $0.signIn() }), ("sign in", { try await $0.signIn() }),
      ("refresh", { try await $0.refresh() }), ("new password", { try await $0.newPassword() }),
      ("new address", { try await $0.newAddress() }), ("unlink", { try await $0.unlink() }),
      ("revoke", { try await $0.revoke() }), ("revoke the past", { try await $0.revokePast() }),
      ("end in the console", { try await $0.endAll() }),
      ("disable or enable", { try await $0.disableOrEnable() }),
      ("enroll", { try await $0.enroll() }), ("withdraw", { try await $0.withdraw() }),
      ("delete and create", { try await $0.recreate() }),
      (
        "wait",
        { story in
          story.server.advance(seconds: [1, 1, 2, 40].randomElement(using: &story.dice) ?? 1)
        }
      ),
    ]
    let (name, act) = try #require(actions.randomElement(using: &dice))
    steps.append(name)
    try await act(&self)
    try await check()
  }

  // MARK: - Checks

  private mutating func check() async throws {
    let now = server.now.seconds
    let user = try await server.post(
      TestServer.accounts + ":lookup", ["localId": [.string(Self.uid)]], .owner)
    let since = user["users"]?.arrayValue?.first?["validSince"]?.stringValue.flatMap { Int64($0) }
    #expect(try #require(since) <= now, "\(steps)")
    for index in tokens.indices {
      let held = tokens[index]
      let payload = try claims(.string(held.idToken))
      for name in ["iat", "auth_time"] {
        #expect(try #require(payload[name]?.numberValue?.int64) <= now, "\(name): \(steps)")
      }
      let looked = try await server.post(
        "/v1/accounts:lookup", ["idToken": .string(held.idToken)])
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": .string(held.refreshToken)])
      let expected = isDisabled ? "USER_DISABLED" : held.isLive ? nil : "TOKEN_EXPIRED"
      #expect(looked.error == expected, "token \(index): \(steps)")
      #expect(refreshed.error == expected, "refresh token \(index): \(steps)")
      if expected == nil {
        // The Admin SDKs compare these times to check for revocation.
        #expect(
          try #require(payload["auth_time"]?.numberValue?.int64) >= (try #require(since)),
          "\(steps)")
        if refreshed.status == 200 { tokens[index].idToken = try refreshed.text("id_token") }
      }
    }
  }

  private mutating func endAllTokens() {
    ends += 1
    for index in tokens.indices { tokens[index].isLive = false }
  }

  /// Adds the tokens of a new session, which may continue that of others.
  private mutating func add(_ answer: Answer, continuing index: Int? = nil) throws {
    let idToken = try answer.text("idToken")
    let time = try #require(try claims(.string(idToken))["auth_time"]?.numberValue?.int64)
    tokens.append(
      Tokens(
        idToken: idToken, refreshToken: try answer.text("refreshToken"), authTime: time,
        signedInAt: index.map { tokens[$0].signedInAt } ?? time))
  }

  /// Returns whether a session is enough to change how its user signs in.
  private func isEnough(_ index: Int) throws -> Bool {
    let firebase = try claims(.string(tokens[index].idToken))["firebase"]
    return factor.map { $0.id == firebase?["second_factor_identifier"]?.stringValue } ?? true
  }

  private func isRecent(_ index: Int) -> Bool {
    server.now.seconds - tokens[index].signedInAt <= 300
  }

  /// Returns the index of a random valid session, or nil if there is none.
  private mutating func live() -> Int? {
    isDisabled ? nil : tokens.indices.filter { tokens[$0].isLive }.randomElement(using: &dice)
  }

  // MARK: - Actions

  private mutating func create() async throws {
    let created = try await server.post(
      TestServer.accounts,
      [
        "localId": .string(Self.uid), "email": .string(email), "password": .string(password),
        "emailVerified": true,
      ], .owner)
    #expect(created.status == 200)
    (isDisabled, factor) = (false, nil)
  }

  private mutating func signIn() async throws {
    guard !isDisabled else { return }
    let first = try await server.post(
      "/v1/accounts:signInWithPassword",
      ["email": .string(email), "password": .string(password), "returnSecureToken": true])
    guard let factor else { return try add(first) }
    server.advance(seconds: 30)
    let second = try await server.post(
      "/v2/accounts/mfaSignIn:finalize",
      [
        "mfaPendingCredential": first["mfaPendingCredential"] ?? nil,
        "mfaEnrollmentId": .string(factor.id),
        "totpVerificationInfo": [
          "verificationCode": .string(try factor.device.code(at: server.now))
        ],
      ])
    try add(second)
  }

  private mutating func refresh() async throws {
    guard let index = live() else { return }
    let answer = try await server.post(
      "/securetoken.googleapis.com/v1/token",
      ["grantType": "refresh_token", "refreshToken": .string(tokens[index].refreshToken)])
    tokens[index].idToken = try answer.text("id_token")
  }

  private mutating func newPassword() async throws {
    guard let index = live(), isRecent(index), try isEnough(index) else { return }
    password = "horse number \(steps.count)"
    let answer = try await server.post(
      Self.client,
      [
        "idToken": .string(tokens[index].idToken), "password": .string(password),
        "returnSecureToken": true,
      ])
    endAllTokens()
    try add(answer, continuing: index)
  }

  private mutating func newAddress() async throws {
    // Users with a second factor must verify a new address first, so an administrator changes it.
    email = "alice\(steps.count)@example.com"
    guard factor == nil, let index = live(), isRecent(index) else {
      let changed = try await server.post(
        Self.admin,
        ["localId": .string(Self.uid), "email": .string(email), "emailVerified": true], .owner)
      #expect(changed.status == 200)
      return endAllTokens()
    }
    let answer = try await server.post(
      Self.client,
      [
        "idToken": .string(tokens[index].idToken), "email": .string(email),
        "returnSecureToken": true,
      ])
    endAllTokens()
    try add(answer, continuing: index)
    let verified = try await server.post(
      Self.admin, ["localId": .string(Self.uid), "emailVerified": true], .owner)
    #expect(verified.status == 200)
  }

  private mutating func unlink() async throws {
    guard let index = live(), isRecent(index), try isEnough(index) else { return }
    let answer = try await server.post(
      Self.client,
      ["idToken": .string(tokens[index].idToken), "deleteProvider": ["password"]])
    #expect(answer.status == 200)
    #expect(answer["idToken"] == nil)
    endAllTokens()
    tokens[index].isLive = true
    try await check()
    let set = try await server.post(
      Self.admin, ["localId": .string(Self.uid), "password": .string(password)], .owner)
    #expect(set.status == 200)
    endAllTokens()
  }

  private mutating func revoke() async throws {
    try await revoke(since: server.now.seconds + Int64.random(in: -5...90, using: &dice))
    endAllTokens()
  }

  private mutating func revokePast() async throws {
    let since = server.now.seconds - Int64.random(in: 6...60, using: &dice)
    try await revoke(since: since)
    for index in tokens.indices where tokens[index].authTime < since {
      tokens[index].isLive = false
    }
  }

  private func revoke(since: Int64) async throws {
    let answer = try await server.post(
      Self.admin, ["localId": .string(Self.uid), "validSince": .string(String(since))], .owner)
    #expect(answer.status == 200)
  }

  private mutating func endAll() async throws {
    let pool = try await server.identity.pools.find(project: ID(TestServer.project))
    try await server.identity.sessions.endAll(
      pool, ID(Self.uid), by: Author(actor: .commandLine))
    endAllTokens()
  }

  private mutating func disableOrEnable() async throws {
    isDisabled.toggle()
    let answer = try await server.post(
      Self.admin, ["localId": .string(Self.uid), "disableUser": .bool(isDisabled)], .owner)
    #expect(answer.status == 200)
    if isDisabled { endAllTokens() }
  }

  private mutating func enroll() async throws {
    guard factor == nil, let index = live(), isRecent(index) else { return }
    let enrolled = try await server.enroll(tokens[index].idToken)
    factor = enrolled
    try add(enrolled.answer, continuing: index)
  }

  private mutating func withdraw() async throws {
    guard let enrolled = factor, let index = live(), try isEnough(index) else { return }
    let answer = try await server.post(
      "/v2/accounts/mfaEnrollment:withdraw",
      ["idToken": .string(tokens[index].idToken), "mfaEnrollmentId": .string(enrolled.id)])
    factor = nil
    endAllTokens()
    try add(answer, continuing: index)
  }

  private mutating func recreate() async throws {
    let deleted = try await server.post(
      TestServer.accounts + ":delete", ["localId": .string(Self.uid)], .owner)
    #expect(deleted.status == 200)
    endAllTokens()
    try await create()
  }
}

/// SplitMix64: a deterministic random number generator.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
