import HTTP
import Identity
import JSON
import Testing

struct EnrollmentPolicyTests {
  private static let path = "/v2/projects/acme-mfa/enrollmentPolicy"
  private static let required =
    "MFA_ENROLLMENT_REQUIRED : A second factor is required. A link to set it up was sent to the "
    + "user's verified email address."

  private func enforce(
    _ server: TestServer, _ mode: Enforcement.Mode, from: String = "2026-09-01", grace: Int = 0
  ) async throws {
    try await server.switchTOTPOn(adjacentIntervals: 1)
    let day = try #require(Day(from))
    let pool = try await server.identity.pools.find(project: ID(TestServer.project))
    _ = try await server.identity.policies.change(pool, by: .program(Author(actor: .commandLine))) {
      edit throws(PolicyError) in
      edit.pattern = .mandatory
      edit.enforcement = Enforcement(mode, from: day, graceDays: grace)
    }
  }

  private func ask(_ server: TestServer, _ token: JSON?) async throws -> Answer {
    let text = token?.stringValue ?? ""
    return try await server.call(
      .get, Self.path, text: "", .key, fields: [.authorization: "Bearer \(text)"])
  }

  @Test func `applications read the policy with an API key`() async throws {
    try await TestServer.with { server in
      let off = try await server.get(Self.path, .key)
      #expect(off.json == ["totpEnabled": false, "enforcement": "OFF"])
      try await enforce(server, .claim, grace: 14)
      let on = try await server.get(Self.path, .key)
      #expect(
        on.json == [
          "pattern": "MANDATORY", "totpEnabled": true, "adjacentIntervals": 1,
          "enforcement": "CLAIM", "enforcedFrom": "2026-09-01", "graceDays": 14,
        ])
    }
  }

  @Test(arguments: [true, false])
  func `a server that sends no email says that it refuses no one`(carriesMail: Bool) async throws {
    try await TestServer.with(carriesMail: carriesMail) { server in
      try await enforce(server, .refuse)
      let policy = try await server.get(Self.path, .key)
      #expect(policy["enforcement"] == (carriesMail ? "REFUSE" : "CLAIM"))
    }
  }

  @Test func `a tenant has its own policy`() async throws {
    try await TestServer.with { server in
      try await enforce(server, .claim)
      let tenant = try await server.addTenant()
      let path = "/v2/projects/acme-mfa/tenants/\(tenant)/enrollmentPolicy"
      let policy = try await server.get(path, .key)
      let unknown = try await server.get(
        "/v2/projects/acme-mfa/tenants/nobody-1/enrollmentPolicy", .key)
      #expect(policy["enforcement"] == "OFF")
      #expect(unknown.error == "INVALID_TENANT_ID")
    }
  }

  @Test func `the policy requires a key of its project`() async throws {
    try await TestServer.with { server in
      let none = try await server.get(Self.path, .none)
      let owner = try await server.get(Self.path, .owner)
      let other = try await server.get("/v2/projects/other/enrollmentPolicy", .key)
      #expect(none.status == 403 && owner.status == 403 && other.status == 403)
    }
  }

  @Test func `an ID token adds by when its user has to enroll`() async throws {
    try await TestServer.with { server in
      let person = try await server.addPerson()
      let token = try await server.signIn(person)["idToken"]
      try await enforce(server, .claim, from: "2026-10-01", grace: 1)
      let before = try await ask(server, token)
      #expect(
        before["user"] == ["enrolled": false, "due": false, "dueAt": "2026-10-02T00:00:00.000000Z"])
      try await enforce(server, .claim)
      let due = try await ask(server, token)
      #expect(due["user"]?["due"] == true)
      _ = try await server.enroll(try #require(token?.stringValue))
      let fresh = try await server.signIn(person)
      #expect(fresh["mfaPendingCredential"] != nil)
      let invalid = try await ask(server, "x")
      #expect(invalid.error == "INVALID_ID_TOKEN")
    }
  }

  @Test func `the claim is in tokens of users who should have enrolled, and can't be forged`()
    async throws
  {
    try await TestServer.with { server in
      let person = try await server.addPerson()
      func set(_ attributes: String) async throws -> Answer {
        try await server.post(
          "\(TestServer.accounts):update",
          ["localId": .string(person.uid), "customAttributes": .string(attributes)], .owner)
      }
      let forged = #"{"countersign":{"mfa_enrollment_required":false},"role":"admin"}"#
      #expect(try await set(forged).status == 200)
      let before = try claims(try await server.signIn(person)["idToken"])
      #expect(before["countersign"] == nil && before["role"] == "admin")
      try await enforce(server, .claim)
      let session = try await server.signIn(person)
      let due = try claims(session["idToken"])
      #expect(due["countersign"] == ["mfa_enrollment_required": true])
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": session["refreshToken"] ?? nil])
      let renewed = try claims(refreshed["id_token"])
      #expect(renewed["countersign"] == ["mfa_enrollment_required": true])
    }
  }

  @Test func `a refused sign-in and refresh have a documented error`() async throws {
    try await TestServer.with(carriesMail: true) { server in
      let person = try await server.addPerson()
      let session = try await server.signIn(person)
      try await enforce(server, .refuse)
      let refused = try await server.signIn(person)
      let refresh = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": session["refreshToken"] ?? nil])
      #expect(refused.status == 400 && refused.error == Self.required)
      #expect(refresh.status == 400 && refresh.error == Self.required)
    }
  }
}
