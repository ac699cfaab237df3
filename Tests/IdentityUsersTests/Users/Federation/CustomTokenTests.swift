import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

struct CustomTokenTests {
  private static let issuer = "backend@acme.example"

  /// Returns a payload issued at noon, with members replaced, removed, or added.
  private static func payload(_ members: String = "", without: [String] = []) -> String {
    let noon = FixedClock.noon.seconds
    return TestTokenIssuer.object(
      [
        ("iss", "\"\(issuer)\""), ("sub", "\"\(issuer)\""),
        ("aud", "\"\(CustomTokens.audience)\""), ("iat", "\(noon)"), ("exp", "\(noon + 3600)"),
        ("uid", #""mallory""#),
      ], without: without, and: members)
  }

  private func register(
    _ instance: Instance, _ tokenIssuer: TestTokenIssuer = .back, keyID: String? = nil,
    in pool: Pool? = nil
  ) async throws -> TrustedTokenKey {
    try await instance.identity.trustedTokenKeys.add(
      to: (pool ?? instance.acme).project, issuer: Self.issuer, keyID: keyID,
      key: tokenIssuer.pem(),
      by: .program(Instance.boss)
    ).value
  }

  private func signIn(
    _ instance: Instance, _ token: String, in pool: Pool? = nil
  ) async throws -> (grant: SessionGrant, isNewUser: Bool) {
    try await instance.identity.customTokens.signIn(
      pool ?? instance.acme, token: token, by: Instance.visitor)
  }

  @Test func `a token signed by a registered key creates the account and signs in`() async throws {
    try await withInstance { instance in
      let signer = try await register(instance)
      let token = try TestTokenIssuer.back.token(Self.payload())
      let first = try await signIn(instance, token)
      #expect(first.isNewUser)
      #expect(first.grant.account.id == ID("mallory"))
      #expect(first.grant.account.isCustomAuth)
      #expect(first.grant.session.provider == .custom)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountSignUp)
      #expect(row.new(.uid) == .text("mallory") && row.new(.signUpMethod) == .code("custom"))
      let again = try await signIn(instance, token)
      #expect(!again.isNewUser)
      let used = try await instance.identity.trustedTokenKeys.list(instance.acme.project).first
      #expect(used?.id == signer.id)
      #expect(used?.lastUsedAt != nil)
      try await instance.identity.recordUses()
    }
  }

  @Test func `an anonymous user who signs in with a custom token isn't anonymous anymore`()
    async throws
  {
    try await withInstance { instance in
      _ = try await register(instance)
      try await instance.allowPhones()
      let start = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      #expect(start.account.isAnonymous)
      let token = try TestTokenIssuer.back.token(
        Self.payload(#""uid":"\#(start.account.id.text)""#, without: ["uid"]))
      let (grant, isNewUser) = try await signIn(instance, token)
      #expect(!isNewUser && grant.account.id == start.account.id && !grant.account.isAnonymous)
    }
  }

  @Test func `a custom token requires no second factor`() async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      let device = try await instance.enrolled(.alice)
      let uid = #""uid":"\#(device.account.id)""#
      let token = try TestTokenIssuer.back.token(Self.payload(uid, without: ["uid"]))
      let result = try await signIn(instance, token)
      #expect(!result.isNewUser)
      #expect(result.grant.session.secondFactor == nil)
      #expect(result.grant.account.isCustomAuth)
      let session = result.grant.session
      await expect("unsupportedFirstFactor") {
        try await instance.identity.enrollments.start(session)
      }
    }
  }

  @Test func `claims stay in a session that continues after a link`() async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      try await instance.configureProvider()
      try await instance.allowPhones()
      let identity = instance.identity
      let first = try await signIn(
        instance, try TestTokenIssuer.back.token(Self.payload(#""claims":{"plan":"gold"}"#)))
      let info = try await identity.signIns.sendCode(
        instance.acme, instance.request(Instance.number))
      let phoned = try await identity.signIns.phone(
        instance.acme,
        PhoneSignIn(
          proof: .code(sessionInfo: info, code: TypedCode(Instance.code)),
          purpose: .link(first.grant.session)),
        by: Instance.visitor)
      guard case .signedIn(let second, _) = phoned else { throw Unexpected("taken") }
      #expect(second.session.claims == #"{"plan":"gold"}"#)
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(Instance.claims(#""email":"elsewhere@example.com""#)))
      let outcome = try await identity.federation.link(
        second.session, assertion, by: Instance.visitor
      ).signedIn().outcome
      guard case .signedIn(let third) = outcome else { throw Unexpected("not signed in") }
      #expect(third.session.claims == #"{"plan":"gold"}"#)
      let refreshed = try await identity.sessions.refresh(
        third.refreshToken, project: instance.acme.project)
      #expect(refreshed.session.claims == #"{"plan":"gold"}"#)
    }
  }

  @Test func `claims are stored with the session and survive a refresh`() async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      let token = try TestTokenIssuer.back.token(
        Self.payload(#""claims":{"plan":"gold","n":[1,2]}"#))
      let first = try await signIn(instance, token)
      #expect(first.grant.session.claims == #"{"plan":"gold","n":[1,2]}"#)
      let refreshed = try await instance.identity.sessions.refresh(
        first.grant.refreshToken, project: instance.acme.project)
      #expect(refreshed.session.claims == first.grant.session.claims)
      let plain = try await signIn(instance, TestTokenIssuer.back.token(Self.payload()))
      #expect(plain.grant.session.claims == nil)
      #expect(plain.grant.account.customAttributes == nil)
    }
  }

  @Test func `a token for a tenant is valid in that tenant only`() async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      let east = try #require(instance.east.tenant)
      let token = try TestTokenIssuer.back.token(Self.payload(#""tenant_id":"\#(east)""#))
      let result = try await signIn(instance, token, in: instance.east)
      #expect(result.grant.session.pool == instance.east)
      await expect("tenantMismatch") { try await signIn(instance, token) }
      await expect("tenantMismatch") { try await signIn(instance, token, in: instance.west) }
      let plain = try TestTokenIssuer.back.token(Self.payload())
      await expect("tenantMismatch") { try await signIn(instance, plain, in: instance.east) }
    }
  }

  @Test func `a key is valid for its project until revoked`() async throws {
    try await withInstance { instance in
      let signer = try await register(instance)
      let token = try TestTokenIssuer.back.token(Self.payload())
      await expect("credentialMismatch") { try await signIn(instance, token, in: instance.globex) }
      // The other project has a different key for the issuer.
      _ = try await register(instance, .other, in: instance.globex)
      await expect("invalid") { try await signIn(instance, token, in: instance.globex) }
      try await instance.identity.trustedTokenKeys.revoke(
        signer.id, of: instance.acme.project, by: .program(Instance.boss))
      await expect("credentialMismatch") { try await signIn(instance, token) }
    }
  }

  @Test func `a token is verified with the key it names, or with each key if it names none`()
    async throws
  {
    try await withInstance { instance in
      _ = try await register(instance, .back, keyID: "one")
      _ = try await register(instance, .other, keyID: "two")
      func token(_ tokenIssuer: TestTokenIssuer, kid: String?) throws -> String {
        let named = kid.map { #","kid":"\#($0)""# } ?? ""
        return try tokenIssuer.token(Self.payload(), header: #"{"alg":"RS256"\#(named)}"#)
      }
      for good in [
        try token(.back, kid: "one"), try token(.other, kid: "two"), try token(.other, kid: nil),
        try token(.back, kid: "three"),
      ] {
        await expect("done") { try await signIn(instance, good) }
      }
      let crossed = try token(.back, kid: "two")
      await expect("invalid") { try await signIn(instance, crossed) }
    }
  }

  @Test func `a token doesn't sign in a disabled user or to a disabled project`() async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      let token = try TestTokenIssuer.back.token(Self.payload())
      let account = try await signIn(instance, token).grant.account
      var change = AccountChange()
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      await expect("userDisabled") { try await signIn(instance, token) }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.disableAuth = true
      }
      let closed = try await instance.identity.pools.find(project: instance.acme.project)
      await expect("poolDisabled") { try await signIn(instance, token, in: closed) }
    }
  }

  @Test(
    arguments: [
      ("", ["aud"], "invalid"), (#""aud":"acme""#, ["aud"], "invalid"),
      (#""aud":["\#(CustomTokens.audience)"]"#, ["aud"], "invalid"),
      ("", ["iss"], "invalid"), ("", ["sub"], "invalid"),
      (#""sub":"somebody@else.example""#, ["sub"], "invalid"),
      (#""iss":"x@y.example","sub":"x@y.example""#, ["iss", "sub"], "credentialMismatch"),
      ("", ["iat"], "invalid"), ("", ["exp"], "invalid"),
      (#""exp":1772366400"#, ["exp"], "invalid"), (#""exp":1772370001"#, ["exp"], "invalid"),
      (#""exp":"1772370000""#, ["exp"], "invalid"), (#""exp":1e300"#, ["exp"], "invalid"),
      (#""iat":1772366701,"exp":1772366800"#, ["iat", "exp"], "invalid"),
      (#""iat":1772366700,"exp":1772366800"#, ["iat", "exp"], "done"),
      (#""nbf":1772366701"#, [], "invalid"),
      ("", ["uid"], "missingUID"), (#""uid":"""#, ["uid"], "invalidUIDLength"),
      (#""uid":7"#, ["uid"], "done"), (#""uid":true"#, ["uid"], "missingUID"),
      (#""user_id":"x""#, ["uid"], "missingUID"),
      (#""uid":"a\u0007b""#, ["uid"], "invalid"),
      (#""uid":"\#(String(repeating: "u", count: 128))""#, ["uid"], "done"),
      (#""uid":"\#(String(repeating: "u", count: 129))""#, ["uid"], "invalidUIDLength"),
      (#""claims":null"#, [], "invalidClaims"), (#""claims":[1]"#, [], "invalidClaims"),
      (#""claims":{"sub":"root"}"#, [], "forbiddenClaim"),
      (#""claims":{"firebase":{}}"#, [], "forbiddenClaim"),
      (#""claims":{"auth_time":1}"#, [], "forbiddenClaim"),
      (#""claims":{"a":"\#(String(repeating: "x", count: 1_000))"}"#, [], "done"),
      (#""claims":{}"#, [], "done"), (#""tenant_id":7"#, [], "tenantMismatch"),
    ] as [(String, [String], String)])
  func `each claim of a custom token is verified`(
    members: String, without: [String], result: String
  ) async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      let token = try TestTokenIssuer.back.token(Self.payload(members, without: without))
      await expect(result) { try await signIn(instance, token) }
    }
  }

  @Test(arguments: [
    #"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"RS512"}"#, #"{"alg":"ES256"}"#,
    #"{"alg":"rs256"}"#, #"{"typ":"JWT"}"#, #"{"alg":"RS256","crit":["exp"]}"#,
    #"{"alg":["RS256"]}"#,
  ])
  func `no header bypasses the signature`(header: String) async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      let payload = Self.payload()
      for token in [
        try TestTokenIssuer.back.token(payload, header: header),
        TestTokenIssuer.unsigned(payload, header: header),
      ] {
        await expect("invalid") { try await signIn(instance, token) }
      }
      let wrongKey = try TestTokenIssuer.other.token(payload)
      await expect("invalid") { try await signIn(instance, wrongKey) }
      // An HMAC with the public key as its secret.
      let unsigned = TestTokenIssuer.unsigned(payload, header: #"{"alg":"HS256"}"#)
      let mac = try HMAC.code(
        .sha256, key: Secret(TestTokenIssuer.back.pem()), message: Array(unsigned.dropLast().utf8))
      let forged = unsigned + Base64URL.encode(mac)
      await expect("invalid") { try await signIn(instance, forged) }
    }
  }

  @Test(arguments: [
    "", "x", "a.b", "a.b.c.d", "..", "e30.e30.", "{}", "{\"uid\":\"mallory\"}",
    String(repeating: "a", count: 20_000), "e30.\(String(repeating: "e", count: 16_000)).e30",
    "eyJhIjoxLCJhIjoyfQ.e30.e30",
  ])
  func `a malformed token is rejected`(token: String) async throws {
    try await withInstance { instance in
      _ = try await register(instance)
      await expect("invalid") { try await signIn(instance, token) }
    }
  }

  @Test func `the emulator accepts unsigned tokens`() async throws {
    try await withEmulator { identity in
      let pool = try await identity.pools.find(project: ID("demo-project"))
      for token in [
        TestTokenIssuer.unsigned(Self.payload("", without: ["iat", "exp", "iss", "sub"])),
        try TestTokenIssuer.back.token(Self.payload()), #"{"uid":"bare"}"#, #"{"uid":7}"#,
        #"{"user_id":"old","claims":{"a":1}}"#,
      ] {
        await expect("done") {
          try await identity.customTokens.signIn(pool, token: token, by: Instance.visitor)
        }
      }
      let seventh = try await identity.accounts.find(pool, ID("7"))
      #expect(seventh?.isCustomAuth == true)
      for (token, result) in [
        (#"{"uid":}"#, "invalid"), (#"{"claims":{}}"#, "missingUID"),
        (#"{"uid":"a","claims":{"iss":1}}"#, "forbiddenClaim"), ("nonsense", "invalid"),
        (TestTokenIssuer.unsigned(Self.payload("", without: ["aud"])), "invalid"),
        (TestTokenIssuer.unsigned(Self.payload(#""tenant_id":"t""#)), "tenantMismatch"),
      ] {
        await expect(result) {
          try await identity.customTokens.signIn(pool, token: token, by: Instance.visitor)
        }
      }
    }
  }
}
