import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Credentials issued by one project or tenant are refused by every method in another.
struct TokenIsolationTests {
  /// The request members that carry a credential.
  private static let shown = ["idToken", "refreshToken", "mfaPendingCredential"]

  /// Requests that are complete except for the credential, by operation name.
  ///
  /// Other operations receive only the credential.
  private static let messages: [String: JSON] = [
    "accounts.signUp": ["email": "new@example.com", "password": "correct horse"],
    "accounts.update": ["displayName": "Mallory"],
    "accounts.sendOobCode": ["requestType": "VERIFY_EMAIL"],
    "accounts.signInWithEmailLink": ["email": "alice@example.com", "oobCode": "x"],
    "accounts.signInWithIdp": [
      "postBody": "id_token=x&providerId=google.com", "requestUri": "http://localhost",
    ],
    "accounts.signInWithPhoneNumber": ["sessionInfo": "x", "code": "123456"],
    "accounts.mfaEnrollment.start": ["totpEnrollmentInfo": [:]],
    "accounts.mfaEnrollment.finalize": [
      "totpVerificationInfo": ["sessionInfo": "x", "verificationCode": "123456"]
    ],
    "accounts.mfaEnrollment.withdraw": ["mfaEnrollmentId": "x"],
    "accounts.mfaSignIn.finalize": [
      "mfaEnrollmentId": "x", "totpVerificationInfo": ["verificationCode": "123456"],
    ],
    "accounts.mfaSignIn.start": ["mfaEnrollmentId": "x", "phoneSignInInfo": [:]],
    "accounts.revokeToken": ["providerId": "apple.com", "tokenType": "CODE", "token": "x"],
    "token": ["grantType": "refresh_token"],
  ]

  /// The credentials issued to a user.
  private struct Given {
    let idToken: JSON
    let refreshToken: JSON
    let pending: JSON

    subscript(_ member: String) -> JSON {
      switch member {
      case "idToken": idToken
      case "refreshToken": refreshToken
      default: pending
      }
    }
  }

  /// Enables TOTP, so that requests aren't refused because of the policy.
  private func switchOn(
    _ server: TestServer, project: ID<Project> = ID(TestServer.project), tenant: String? = nil
  ) async throws {
    let pool = try await server.identity.pools.find(
      project: project, tenant: tenant.map { ID($0) })
    _ = try await server.identity.policies.change(pool, by: .program(Author(actor: .commandLine))) {
      $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: nil)
    }
  }

  private func given(_ server: TestServer, tenant: String? = nil) async throws -> Given {
    try await switchOn(server, tenant: tenant)
    let alice = try await server.addPerson("alice\(tenant == nil ? "" : "-t")", tenant: tenant)
    let first = try await server.signIn(alice, tenant: tenant)
    let enrolled = try await server.enroll(try first.text("idToken"))
    let second = try await server.signIn(alice, tenant: tenant)
    return Given(
      idToken: enrolled.answer["idToken"] ?? nil,
      refreshToken: enrolled.answer["refreshToken"] ?? nil,
      pending: second["mfaPendingCredential"] ?? nil)
  }

  /// Returns every client operation that takes a credential, with the member that carries it.
  private func calls(_ server: TestServer) -> [(operation: Operation, member: String)] {
    // The legacy paths are aliases of the same methods.
    server.api.operations.filter { !$0.isDeprecated }.flatMap {
      operation -> [(Operation, String)] in
      switch operation.access {
      case .client, .either:
        return Self.shown.filter { member in
          operation.declaration.request?.members.contains { $0.name == member } == true
        }.map { (operation, $0) }
      case .open, .emulator, .admin: return []
      }
    }
  }

  /// Whether the request is complete except for the credential, so only the credential can fail.
  private func isWhole(_ call: (operation: Operation, member: String)) -> Bool {
    let id = call.operation.id
    // This method first checks that the factor is a phone, and these users have a TOTP factor.
    guard id != "accounts.mfaSignIn.start" else { return false }
    return Self.messages[id] != nil || ["accounts.lookup", "accounts.delete"].contains(id)
  }

  private func send(
    _ call: (operation: Operation, member: String), _ value: JSON, key: String,
    tenant: String? = nil, _ server: TestServer
  ) async throws -> Answer {
    var message = Self.messages[call.operation.id]?.objectValue ?? [:]
    message[call.member] = value
    if let tenant { message["tenantId"] = .string(tenant) }
    return try await server.post(
      call.operation.path.template + "?key=\(key)", .object(message), .none)
  }

  @Test func `every method that takes a credential is tested`() async throws {
    try await TestServer.with { server in
      let names = Set(calls(server).map { "\($0.operation.id) \($0.member)" })
      let least: Set = [
        "accounts.lookup idToken", "accounts.update idToken", "accounts.delete idToken",
        "accounts.signUp idToken", "accounts.mfaEnrollment.start idToken",
        "accounts.mfaEnrollment.finalize idToken", "accounts.mfaEnrollment.withdraw idToken",
        "accounts.revokeToken idToken", "token refreshToken",
        "accounts.mfaSignIn.finalize mfaPendingCredential",
      ]
      #expect(names.isSuperset(of: least), "\(least.subtracting(names))")
    }
  }

  @Test func `another project's credentials are refused like invalid ones`() async throws {
    try await TestServer.with { server in
      let given = try await given(server)
      let other = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine))
      ).value
      try await switchOn(server, project: other.pool.project)
      let key = try await server.identity.apiKeys.list(other.pool.project).first?.text ?? ""
      for call in calls(server) {
        let answer = try await send(call, given[call.member], key: key, server)
        let junk = try await send(call, "x", key: key, server)
        let words = "\(call.operation.id) \(call.member): \(answer.json)"
        #expect(answer.status == 400, "\(words)")
        guard isWhole(call) else { continue }
        #expect(answer.error?.hasPrefix("INVALID_") == true, "\(words)")
        // Production reports that a pending credential belongs to another project.
        let isReported = call.member == "mfaPendingCredential"
        #expect(isReported || answer.error == junk.error, "\(words)")
      }
      try await expectUnharmed(given, server)
    }
  }

  @Test func `C8: another tenant's credentials are refused, and so are the project's in a tenant`()
    async throws
  {
    try await TestServer.with { server in
      let own = try await server.addTenant()
      let other = try await server.addTenant("initech")
      try await switchOn(server, tenant: other)
      let ofTenant = try await given(server, tenant: own)
      let ofProject = try await given(server)
      for call in calls(server) {
        for (given, tenant) in [(ofTenant, other), (ofProject, own)] {
          let answer = try await send(
            call, given[call.member], key: server.key, tenant: tenant, server)
          let words = "\(call.operation.id) \(call.member): \(answer.json)"
          #expect(answer.status == 400, "\(words)")
          guard isWhole(call) else { continue }
          #expect(answer.error?.hasPrefix("TENANT_ID_MISMATCH") == true, "\(words)")
        }
      }
      try await expectUnharmed(ofTenant, server)
      try await expectUnharmed(ofProject, server)
    }
  }

  @Test func `an enrollment can't be finalized in another project or tenant`() async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant()
      try await switchOn(server)
      try await switchOn(server, tenant: tenant)
      var starts: [(token: JSON, session: JSON, device: Device)] = []
      for place in [nil, tenant] {
        let person = try await server.addPerson("bob\(starts.count)", tenant: place)
        let token = try await server.signIn(person, tenant: place)["idToken"] ?? nil
        let start = try await server.post(
          "/v2/accounts/mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
        let info = try #require(start["totpSessionInfo"])
        let secret = try #require(info["sharedSecretKey"]?.stringValue)
        starts.append((token, info["sessionInfo"] ?? nil, try Device(secret)))
      }
      for (one, two) in [(0, 1), (1, 0)] {
        let code = try starts[two].device.code(at: server.now)
        let answer = try await server.post(
          "/v2/accounts/mfaEnrollment:finalize",
          [
            "idToken": starts[one].token, "displayName": "x",
            "totpVerificationInfo": [
              "sessionInfo": starts[two].session, "verificationCode": .string(code),
            ],
          ])
        #expect(answer.error?.hasPrefix("INVALID_SESSION_INFO") == true, "\(answer.json)")
      }
    }
  }

  /// Checks that the credentials are still valid in their own pool.
  private func expectUnharmed(_ given: Given, _ server: TestServer) async throws {
    let user = try await server.post("/v1/accounts:lookup", ["idToken": given.idToken])
    #expect(user.status == 200)
    #expect(user["users"]?.arrayValue?.first?["displayName"] == nil)
    let fresh = try await server.post(
      "/v1/token", ["grantType": "refresh_token", "refreshToken": given.refreshToken])
    #expect(fresh.status == 200)
    let code = try await server.post(
      "/v2/accounts/mfaSignIn:finalize",
      [
        "mfaPendingCredential": given.pending, "mfaEnrollmentId": "x",
        "totpVerificationInfo": ["verificationCode": "123456"],
      ])
    #expect(code.error?.hasPrefix("INVALID_MFA_ENROLLMENT_ID") == true, "\(code.json)")
  }
}
