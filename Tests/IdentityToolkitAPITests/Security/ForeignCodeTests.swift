import HTTP
import Identity
import JSON
import Testing

/// The owner of the authenticator that generates the code.
enum Stranger: String, CaseIterable, CustomTestStringConvertible {
  case anotherUser = "another user"
  case anotherProject = "the same address in another project"
  case aTenant = "the same address in a tenant"
  case anotherSession = "another pending enrollment"

  var testDescription: String { rawValue }
}

struct ForeignCodeTests {
  private static let quota = "QUOTA_EXCEEDED : Exceeded quota."

  /// Returns an authenticator that isn't enrolled in Alice's account.
  private func device(_ stranger: Stranger, _ server: TestServer, _ alice: Waiting) async throws
    -> Device
  {
    switch stranger {
    case .anotherUser:
      let (_, token) = try await server.session("bob")
      return try await server.enroll(try #require(token.stringValue)).device
    case .anotherProject:
      return try await otherProject(server)
    case .aTenant:
      let tenant = try await server.addTenant()
      _ = try await server.patch(
        ErrorRow.tenants + "/\(tenant)?updateMask=mfaConfig",
        ["mfaConfig": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]]])
      let double = try await server.addPerson("alice", tenant: tenant)
      let token = try await server.signIn(double, tenant: tenant).text("idToken")
      return try await server.enroll(token).device
    case .anotherSession:
      // An enrollment that was started and never finalized.
      let (_, token) = try await server.session("carol")
      return try await server.pendingEnrollment(token).device
    }
  }

  private func otherProject(_ server: TestServer) async throws -> Device {
    let id = "another-one"
    _ = try await server.identity.pools.createProject(
      id: id, displayName: "Another", by: .program(Author(actor: .commandLine)))
    let key = try #require(try await server.identity.apiKeys.list(ID(id)).first?.text)
    let owner = try await server.token(.owner, project: id)
    let mfa: JSON = ["mfa": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]]]
    let path = "/v2/projects/\(id)/config?updateMask=mfa"
    _ = try await server.call(
      .patch, path, text: String(decoding: mfa.serialized(), as: UTF8.self), .bearer(owner))
    let user: JSON = [
      "email": "alice@example.com", "password": .string(Person.password), "emailVerified": true,
    ]
    _ = try await server.post("/v1/projects/\(id)/accounts", user, .bearer(owner))
    let token = try await server.post(ErrorRow.signIn + "?key=\(key)", user, .none)["idToken"]
    let start = try await server.post(
      ErrorRow.start + "?key=\(key)", ["idToken": token ?? nil, "totpEnrollmentInfo": [:]], .none)
    return try Device(
      try #require(start["totpSessionInfo"]?["sharedSecretKey"]?.stringValue))
  }

  @Test(arguments: Stranger.allCases)
  func `a code from another authenticator is refused and counts against the target account`(
    _ stranger: Stranger
  ) async throws {
    try await TestServer.with { server in
      let alice = try await server.waiting()
      let bob = try await server.waiting("eve")
      let device = try await device(stranger, server, alice)
      for step in Int64(0)..<4 {
        let answer = try await server.finishSecond(
          alice, code: try device.code(at: server.now, steps: step))
        #expect(answer.error == "INVALID_CODE")
      }
      let fifth = try await server.finishSecond(alice, code: try device.code(at: server.now))
      #expect(fifth.error == Self.quota)
      let right = try await server.finishSecond(
        alice, code: try alice.enrolled.device.code(at: server.now))
      #expect(right.error == Self.quota)
      // Other accounts aren't affected.
      let other = try await server.finishSecond(
        bob, code: try bob.enrolled.device.code(at: server.now))
      #expect(other.status == 200)
    }
  }

  @Test func `another user's factor is refused, even with a valid code`() async throws {
    try await TestServer.with { server in
      let alice = try await server.waiting()
      let bob = try await server.waiting("bob")
      let answer = try await server.finishSecond(
        alice, code: try bob.enrolled.device.code(at: server.now), enrollment: bob.enrolled.id)
      #expect(answer.error == "INVALID_MFA_ENROLLMENT_ID")
      #expect(
        try await server.finishSecond(
          bob, code: try bob.enrolled.device.code(at: server.now)
        ).status == 200)
    }
  }

  @Test func `another user's enrollment session is refused and stays usable for its owner`()
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let (_, alice) = try await server.session()
      let (_, bob) = try await server.session("bob")
      let pending = try await server.pendingEnrollment(alice)
      let code = try pending.device.code(at: server.now)
      for _ in 0..<4 {
        #expect(
          try await server.finish(bob, pending.session, code: code).error
            == "INVALID_SESSION_INFO")
      }
      #expect(try await server.finish(alice, pending.session, code: code).status == 200)
    }
  }

  @Test func `a code from another enrollment is refused and counts against the target enrollment`()
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let (_, token) = try await server.session()
      let aimed = try await server.pendingEnrollment(token)
      let other = try await server.pendingEnrollment(token)
      for step in Int64(0)..<3 {
        let code = try other.device.code(at: server.now, steps: step)
        #expect(try await server.finish(token, aimed.session, code: code).error == "INVALID_CODE")
      }
      let right = try aimed.device.code(at: server.now)
      #expect(
        try await server.finish(token, aimed.session, code: right).error
          == "TOO_MANY_ENROLLMENT_ATTEMPTS : restart enrollment")
      let code = try other.device.code(at: server.now)
      #expect(try await server.finish(token, other.session, code: code).status == 200)
    }
  }

  @Test func `a pending credential is valid only in its own project and tenant`() async throws {
    try await TestServer.with { server in
      let alice = try await server.waiting()
      let tenant = try await server.addTenant()
      let off = "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
      for expected in [off, "TENANT_ID_MISMATCH"] {
        let answer = try await server.post(
          ErrorRow.finalizeSecond,
          [
            "mfaPendingCredential": alice.pending, "mfaEnrollmentId": .string(alice.enrolled.id),
            "tenantId": .string(tenant),
            "totpVerificationInfo": [
              "verificationCode": .string(try alice.enrolled.device.code(at: server.now))
            ],
          ])
        #expect(answer.error == expected)
        _ = try await server.patch(
          "\(ErrorRow.tenants)/\(tenant)?updateMask=mfaConfig",
          ["mfaConfig": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]]])
      }
      #expect(
        try await server.finishSecond(
          alice, code: try alice.enrolled.device.code(at: server.now)
        ).status == 200)
    }
  }
}
