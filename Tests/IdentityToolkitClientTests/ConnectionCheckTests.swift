import JSON
import Localization
import Testing

@testable import IdentityToolkitClient

/// A connection is checked step by step, and nothing is changed.
struct ConnectionCheckTests {
  /// A project of Google's with two tenants, one of them disabled.
  @Sendable private static func answer(_ request: RemoteRequest) -> RemoteResponse {
    let path = request.url.split(separator: "?")[0]
    if path.hasSuffix("/config") { return .json(["subtype": "IDENTITY_PLATFORM"]) }
    if path.hasSuffix("/tenants") {
      return .json([
        "tenants": [
          ["name": "projects/1/tenants/eu-1", "displayName": "eu"],
          ["name": "projects/1/tenants/us-2", "disableAuth": true],
        ]
      ])
    }
    if path.hasSuffix(":batchGet") { return .json(["users": [["localId": "a"]]]) }
    if path.hasSuffix(":query") {
      if path.contains("us-2") { return .error(400, "TENANT_DISABLED") }
      return .json(["recordsCount": path.contains("tenants") ? "7" : "100"])
    }
    if path.hasSuffix(":testIamPermissions") {
      return .json(["permissions": .array(AccessLevel.policy.permissions.map { .string($0) })])
    }
    return .error(400, "USER_NOT_FOUND")
  }

  private func result(
    _ client: ToolkitClient
  ) async -> (check: ConnectionCheck, reported: [String]) {
    var reported: [String] = []
    let check = await client.check { finding in
      reported.append("\(finding.step.rawValue): \(finding.message.english)")
    }
    return (check, reported)
  }

  @Test func `each step is reported, with what would be connected`() async throws {
    let client = try google(ScriptedRemote(googleWith: Self.answer), access: .policy)
    let (check, reported) = await result(client)
    #expect(check.hasPassed)
    #expect(
      reported == [
        "credential: Google accepts the credential.",
        "project: The project demo-connected is readable.",
        "mfa: The project can have second factors.", "tenants: 2 tenants.",
        "users: 107 users (tenants counted: 1).",
        "permissions: The credential fits the access level policy.",
      ])
    #expect(check.tenants.map(\.id) == ["eu-1", "us-2"] && check.users == 107)
    #expect(check.permissions?.missing == [] && check.permissions?.excess == [])
  }

  @Test(arguments: AccessLevel.allCases)
  func `the permissions that are missing or too many are named`(level: AccessLevel) async throws {
    let held = ["firebaseauth.configs.get", "firebaseauth.users.get", "firebaseauth.users.update"]
    let remote = ScriptedRemote(googleWith: { request in
      guard request.url.hasSuffix(":testIamPermissions") else { return Self.answer(request) }
      return .json(["permissions": .array(held.map { .string($0) })])
    })
    let client = try google(remote, access: level)
    let permissions = try await client.permissions(for: .person)
    #expect(permissions.missing == level.permissions.filter { !held.contains($0) })
    #expect(permissions.excess == (level == .read ? ["firebaseauth.users.update"] : []))
    let request = try #require(remote.calls.last)
    #expect(
      request.url
        == "https://cloudresourcemanager.googleapis.com/v1/projects/demo-connected"
        + ":testIamPermissions")
    let (check, reported) = await result(client)
    #expect(!check.hasPassed)
    #expect(reported.last?.contains(permissions.missing.joined(separator: ", ")) == true)
  }

  @Test(arguments: [
    (AccessLevel.read, "USER_NOT_FOUND", true), (.support, "USER_NOT_FOUND", true),
    (.policy, "INSUFFICIENT_PERMISSION", false),
  ])
  func `permissions are tried where Google doesn't list them`(
    level: AccessLevel, message: String, isPermitted: Bool
  ) async throws {
    let remote = ScriptedRemote(googleWith: { request in
      if request.url.hasSuffix(":testIamPermissions") { return .error(403, "SERVICE_DISABLED") }
      return request.url.hasSuffix(":update")
        ? .error(400, message) : Self.answer(request)
    })
    let permissions = try await google(remote, access: level).permissions(for: .person)
    #expect(permissions.missing == (isPermitted ? [] : ["firebaseauth.users.update"]))
    #expect(permissions.excess == nil)
    let update = remote.calls.filter { $0.url.hasSuffix("accounts:update") }
    #expect(update.count == (level == .read ? 0 : 1))
    // Only a user who doesn't exist, and nothing that would change.
    for call in update {
      let body = try JSON.parse(try #require(call.body))
      #expect(body == ["localId": "countersign-permission-check"])
    }
  }

  @Test func `a service token is only sent to its server`() async throws {
    let remote = ScriptedRemote(Self.answer)
    let (check, reported) = await result(try countersign(remote, access: .support))
    #expect(check.hasPassed && check.findings.count == 5 && check.permissions?.excess == nil)
    #expect(reported.first == "project: The project demo-connected is readable.")
    #expect(remote.requests.allSatisfy { $0.url.hasPrefix("https://mfa.example.com/") })
  }

  @Test(arguments: [AccessLevel.support, .policy])
  func `a service token that lacks the role of its level is told which one`(level: AccessLevel)
    async throws
  {
    let remote = ScriptedRemote { request in
      request.url.hasSuffix(":update") ? .error(403, "PERMISSION_DENIED") : Self.answer(request)
    }
    let permissions = try await countersign(remote, access: level).permissions(for: .person)
    #expect(permissions.missing == ["connection-\(level)"])
  }

  @Test func `a step that fails is the last one`() async throws {
    let failures: [(ConnectionCheck.Step, String, RemoteResponse, RemoteFault.Cause)] = [
      (.project, "/config", .error(404, "CONFIGURATION_NOT_FOUND"), .neverSetUp),
      (.mfa, "/config", .json(["subtype": "FIREBASE_AUTH"]), .noIdentityPlatform),
      (
        .tenants, "/tenants", .error(403, "The caller does not have permission"),
        .permissionMissing("identitytoolkit.tenants.list")
      ),
      (
        .users, ":batchGet", .error(403, "The caller does not have permission"),
        .permissionMissing("firebaseauth.users.get")
      ),
    ]
    for (step, path, response, cause) in failures {
      let remote = ScriptedRemote(googleWith: { request in
        request.url.split(separator: "?")[0].hasSuffix(path) ? response : Self.answer(request)
      })
      let (check, reported) = await result(try google(remote))
      let last = try #require(check.findings.last)
      #expect(last.step == step && last.fault?.cause == cause && !check.hasPassed, "\(step)")
      #expect(reported.count == check.findings.count)
    }
  }

  @Test func `a project without tenants passes`() async throws {
    let remote = ScriptedRemote(googleWith: { request in
      request.url.split(separator: "?")[0].hasSuffix("/tenants")
        ? .error(400, "INVALID_PROJECT_ID") : Self.answer(request)
    })
    let (check, reported) = await result(try google(remote, access: .policy))
    #expect(check.hasPassed && check.tenants.isEmpty && check.users == 100)
    #expect(reported.contains("tenants: 0 tenants."))
  }

  @Test func `a key that Google doesn't know fails before anything else is asked`() async throws {
    let remote = ScriptedRemote { _ in
      .json(
        ["error": "invalid_grant", "error_description": "Invalid JWT Signature."], status: 400)
    }
    let (check, _) = await result(try google(remote))
    #expect(check.findings.map(\.step) == [.credential] && check.users == nil)
    #expect(remote.calls.isEmpty)
  }

  @Test func `of many tenants, the users of the first fifty are counted`() async throws {
    let tenants = (0..<60).map { JSON.object(["name": .string("projects/1/tenants/t-\($0)")]) }
    let remote = ScriptedRemote(googleWith: { request in
      request.url.split(separator: "?")[0].hasSuffix("/tenants")
        ? .json(["tenants": .array(tenants)]) : Self.answer(request)
    })
    let (check, reported) = await result(try google(remote, access: .policy))
    #expect(check.tenants.count == 60 && check.users == 100 + 50 * 7)
    #expect(reported.contains("users: 450 users (tenants counted: 50)."))
  }
}
