import HTTP
import Identity
import JSON
import Testing

/// Tests for the header in which a backend passes the end user's address.
struct EndUserAddressTests {
  private static let path = "/v1/accounts:signInWithPassword"

  private func signIn(
    _ server: TestServer, _ email: String, _ password: String, _ credential: Credential,
    tenant: String? = nil, for addresses: [String]
  ) async throws -> Answer {
    var fields = Fields()
    for address in addresses { fields.add("Countersign-Forwarded-For", address) }
    var body: JSON.Object = ["email": .string(email), "password": .string(password)]
    if let tenant { body["tenantId"] = .string(tenant) }
    return try await server.call(
      .post, Self.path, text: String(decoding: JSON.object(body).serialized(), as: UTF8.self),
      credential,
      fields: fields)
  }

  private func isRefused(_ answer: Answer) -> Bool {
    answer.error?.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER") == true
  }

  @Test func `attempts through a backend are limited by the end user's network`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = Credential.bearer(try await server.token(.application))
      for _ in 0..<10 {
        let wrong = try await signIn(
          server, alice.email, "wrong", token, for: ["203.0.113.66"])
        #expect(!isRefused(wrong))
      }
      let attacker = try await signIn(
        server, alice.email, Person.password, token, for: ["203.0.113.66"])
      #expect(isRefused(attacker))
      let owner = try await signIn(
        server, alice.email, Person.password, token, for: ["2001:db8::1"])
      #expect(owner.status == 200)
      // Without the header, the backend's own address is used.
      #expect(try await signIn(server, alice.email, Person.password, token, for: []).status == 200)
    }
  }

  @Test(arguments: [nil, ServiceTokenRole.auditor, .support, .policy])
  func `the header is ignored with an API key or a token that can't sign users in`(
    role: ServiceTokenRole?
  ) async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      var fields = Fields()
      if let role {
        fields[.authorization] = "Bearer \(try await server.token(role))"
      }
      for number in 0..<12 {
        fields["Countersign-Forwarded-For"] = "203.0.113.\(number)"
        let body = #"{"email":"\#(alice.email)","password":"wrong"}"#
        let answer = try await server.call(.post, Self.path, text: body, .key, fields: fields)
        #expect(isRefused(answer) == (number >= 10))
      }
    }
  }

  @Test func `another tenant's token can't pass an end user's address`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let (own, other) = (try await server.addTenant(), try await server.addTenant())
      let token = Credential.bearer(try await server.token(.application, tenant: own))
      let answer = try await signIn(
        server, alice.email, Person.password, token, tenant: other, for: ["203.0.113.5"])
      #expect(answer.status == 403)
    }
  }

  @Test(arguments: [
    ["example.com"], [""], ["203.0.113.5:443"], ["203.0.113.5, 203.0.113.6"],
    ["203.0.113.5", "203.0.113.6"], ["[::1]"],
  ])
  func `an invalid address from a trusted backend is refused`(values: [String]) async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let answer = try await signIn(server, alice.email, Person.password, .owner, for: values)
      #expect(answer.status == 400)
      #expect(answer.error?.contains("Countersign-Forwarded-For") == true)
    }
  }

  @Test func `a code attempt is stored with the end user's address`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      let first = try await server.signIn(alice)
      let enrolled = try await server.enroll(try first.text("idToken"))
      server.advance(seconds: 30)
      let pending = try await server.signIn(alice).text("mfaPendingCredential")
      let body: JSON = [
        "mfaPendingCredential": .string(pending), "mfaEnrollmentId": .string(enrolled.id),
        "totpVerificationInfo": [
          "verificationCode": .string(try enrolled.device.code(at: server.now))
        ],
      ]
      let done = try await server.call(
        .post, "/v2/accounts/mfaSignIn:finalize",
        text: String(decoding: body.serialized(), as: UTF8.self), .owner,
        fields: ["Countersign-Forwarded-For": "2001:db8::7"])
      #expect(done.status == 200, "\(done.json)")
      let pool = try await server.identity.pools.find(project: ID(TestServer.project))
      let account = try #require(
        try await server.identity.accounts.find(pool, ID(alice.uid)))
      let codeAttempts = try await server.identity.codeAttempts.list(account).items
      #expect(codeAttempts.first?.origin.address == "2001:db8::7")
    }
  }

  @Test func `a link for a token is recorded as the token's, whatever else the call says`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.token(.application)
      let body: JSON = [
        "targetProjectId": "acme-mfa", "requestType": "PASSWORD_RESET",
        "email": .string(alice.email), "returnOobLink": true, "idToken": "x",
      ]
      let answer = try await server.call(
        .post, "/v1/accounts:sendOobCode",
        text: String(decoding: body.serialized(), as: UTF8.self),
        .bearer(token), fields: ["Countersign-Forwarded-For": "203.0.113.77"])
      #expect(answer["oobLink"] != nil)
      let row = try #require(
        try await server.identity.audit.list(limit: 20).items.first { $0.action == .accountLink })
      #expect(row.actorKind == "service token" && row.address != "203.0.113.77")
    }
  }
}
