import HTTP
import Identity
import JSON
import Testing

/// A call that requires a bearer token, and the roles that can make it.
private struct Guarded: CustomTestStringConvertible, Sendable {
  let method: HTTP.Method
  let path: String
  var body = ""
  let roles: Set<ServiceTokenRole>
  var testDescription: String { "\(method) \(path)" }

  private static let changingUsers: Set<ServiceTokenRole> = [
    .owner, .application, .connectionSupport, .connectionPolicy,
  ]
  private static let listingUsers = changingUsers.union([.connectionRead])
  private static let readingConfig: Set<ServiceTokenRole> = [
    .owner, .policy, .auditor, .connectionRead, .connectionSupport, .connectionPolicy,
  ]

  static let all = [
    Guarded(method: .get, path: "/v2/{pool}/config", roles: readingConfig),
    Guarded(
      method: .patch, path: "/v2/{pool}/config", body: "{}",
      roles: [.owner, .policy, .connectionPolicy]),
    Guarded(method: .get, path: "/v2/{pool}/tenants", roles: readingConfig),
    Guarded(
      method: .post, path: "/v2/{pool}/tenants", body: #"{"displayName":"initech"}"#,
      roles: [.owner, .policy]),
    Guarded(method: .post, path: "/v1/{pool}/accounts", body: "{}", roles: changingUsers),
    Guarded(
      method: .post, path: "/v1/{pool}/accounts:lookup", body: #"{"localId":["alice"]}"#,
      roles: listingUsers.union([.support, .auditor])),
    Guarded(
      method: .post, path: "/v1/{pool}/accounts:update", body: #"{"localId":"alice"}"#,
      roles: changingUsers),
    Guarded(
      method: .post, path: "/v1/{pool}/accounts:batchDelete", body: #"{"localIds":["nobody"]}"#,
      roles: changingUsers),
    Guarded(
      method: .post, path: "/v1/{pool}/accounts:delete", body: #"{"localId":"alice"}"#,
      roles: changingUsers),
    Guarded(method: .get, path: "/v1/{pool}/accounts:batchGet", roles: listingUsers),
    Guarded(
      method: .post, path: "/v1/{pool}/accounts:query", body: "{}", roles: listingUsers),
  ]

  func send(
    _ server: TestServer, _ pool: String, _ credential: Credential
  ) async throws -> Answer {
    try await server.call(
      method, path.replacing("{pool}", with: pool), text: body, credential)
  }
}

struct AccessTests {
  private static let denied: JSON = "PERMISSION_DENIED : The caller does not have permission"

  @Test(arguments: ServiceTokenRole.allCases)
  func `a role can make exactly the calls in the table`(role: ServiceTokenRole) async throws {
    try await TestServer.with { server in
      let token = try await server.token(role)
      for call in Guarded.all {
        _ = try await server.post(TestServer.accounts, ["localId": "alice"], .owner)
        let answer = try await call.send(server, "projects/acme-mfa", .bearer(token))
        #expect(
          answer.status == (call.roles.contains(role) ? 200 : 403),
          "\(call.testDescription): \(answer.json)")
      }
    }
  }

  @Test func `the number of another project is refused as its ID is`() async throws {
    try await TestServer.with { server in
      let other = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine))
      ).value
      let own = try await server.identity.pools.find(project: ID(TestServer.project))
      let token = try await server.token(.owner)
      _ = try await server.post(TestServer.accounts, ["localId": "alice"], .owner)
      for call in Guarded.all {
        for name in ["\(other.pool.projectNumber)", "1234", "other-mfa"] {
          let refused = try await call.send(server, "projects/\(name)", .bearer(token))
          #expect(refused.status == 403 && refused.json["error"]?["message"] == Self.denied)
        }
      }
      let path = "/v2/projects/\(own.projectNumber)/config"
      #expect(try await server.get(path, .bearer(token)).status == 200)
    }
  }

  @Test func `calls without a token are refused, even with an API key`() async throws {
    try await TestServer.with { server in
      let missing =
        "Request is missing required authentication credential. Expected OAuth 2 access token, "
        + "login cookie or other valid authentication credential."
      for call in Guarded.all {
        for credential in [Credential.none, .key] {
          let answer = try await call.send(server, "projects/acme-mfa", credential)
          #expect(answer.status == 401)
          #expect(answer.error == missing)
          #expect(answer.response.fields[.wwwAuthenticate] == #"Bearer realm="countersign""#)
          #expect(answer["error"]?["status"] == "UNAUTHENTICATED")
        }
        let wrong = try await call.send(server, "projects/acme-mfa", .bearer("owner"))
        #expect(wrong.status == 401)
        #expect(wrong.error?.hasPrefix("Request had invalid authentication credentials") == true)
      }
    }
  }

  @Test func `the response for another project doesn't reveal whether it exists`() async throws {
    try await TestServer.with { server in
      _ = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine)))
      for call in Guarded.all {
        let real = try await call.send(server, "projects/other-mfa", .owner)
        let unreal = try await call.send(server, "projects/nothing-here", .owner)
        #expect(real.status == 403)
        #expect(real["error"]?["message"] == Self.denied)
        #expect(real.response.body.bytes == unreal.response.body.bytes)
      }
    }
  }

  @Test func `a tenant's token can access only its own tenant`() async throws {
    try await TestServer.with { server in
      let own = try await server.addTenant()
      let other = try await server.addTenant("initech")
      let token = Credential.bearer(try await server.token(.owner, tenant: own))
      for pool in ["projects/acme-mfa", "projects/acme-mfa/tenants/\(other)"] {
        for call in Guarded.all where !pool.contains("tenants") || call.path.hasPrefix("/v1") {
          let answer = try await call.send(server, pool, token)
          #expect(answer.status == 403, "\(call.testDescription) \(pool)")
        }
      }
      for call in Guarded.all where call.path.hasPrefix("/v1") {
        _ = try await server.post(
          "/v1/projects/acme-mfa/tenants/\(own)/accounts", ["localId": "alice"], .owner)
        let answer = try await call.send(server, "projects/acme-mfa/tenants/\(own)", token)
        #expect(answer.status == 200, "\(call.testDescription): \(answer.json)")
      }
      let path = "/v2/projects/acme-mfa/tenants/"
      #expect(try await server.call(.get, path + own, text: "", token).status == 200)
      let real = try await server.call(.get, path + other, text: "", token)
      let unreal = try await server.call(.get, path + "never-12345", text: "", token)
      #expect(real.status == 403)
      #expect(real.response.body.bytes == unreal.response.body.bytes)
      #expect(try await server.call(.delete, path + own, text: "", token).status == 403)
      #expect(try await server.call(.delete, path + own, text: "", .owner).status == 200)
      #expect(try await server.call(.get, path + own, text: "", token).status == 401)
    }
  }

  @Test func `a tenant's token also works on paths that don't name a project`() async throws {
    try await TestServer.with { server in
      let own = try await server.addTenant()
      let alice = try await server.addPerson(tenant: own)
      let token = Credential.bearer(try await server.token(.application, tenant: own))
      let path = "/v1/accounts:lookup"
      let found = try await server.post(path, ["localId": [.string(alice.uid)]], token)
      #expect(found["users"]?.arrayValue?.first?["tenantId"]?.stringValue == own)
      for body in [
        ["targetProjectId": "acme-mfa", "localId": ["x"]],
        ["targetProjectId": "other-mfa", "localId": ["x"]],
        ["tenantId": "never-12345", "localId": ["x"]],
      ] as [JSON] {
        #expect(try await server.post(path, body, token).status == 403)
      }
    }
  }

  @Test(arguments: [true, false])
  func `a tenant's token makes calls for one user in its own tenant only`(naming: Bool) async throws
  {
    try await TestServer.with { server in
      let own = try await server.addTenant()
      let other = try await server.addTenant("initech")
      let token = Credential.bearer(try await server.token(.application, tenant: own))
      let tenant: JSON.Object = naming ? ["tenantId": .string(own)] : [:]
      func call(_ path: String, _ members: JSON.Object) async throws -> Answer {
        var body = tenant
        for (name, value) in members { body.append(name, value) }
        return try await server.post(path, .object(body), token)
      }
      // Users of the same email in every pool, so that a call for the wrong one would find one.
      for (name, place) in [("project", nil), ("other", other), ("own", own)] as [(String, String?)]
      {
        let person = try await server.addPerson(tenant: place)
        let first = try await server.signIn(person, tenant: place)
        let isOwn = name == "own"
        let found = try await call("/v1/accounts:lookup", ["idToken": first["idToken"] ?? nil])
        #expect(found.status == (isOwn ? 200 : 400), "\(name): \(found.json)")
        let fresh = try await call(
          "/v1/token",
          ["grantType": "refresh_token", "refreshToken": first["refreshToken"] ?? nil])
        #expect(fresh.status == (isOwn ? 200 : 400), "\(name): \(fresh.json)")
        guard isOwn else {
          #expect(found.error?.hasPrefix("TENANT_ID_MISMATCH") == true, "\(name): \(found.json)")
          #expect(fresh.error?.hasPrefix("TENANT_ID_MISMATCH") == true, "\(name): \(fresh.json)")
          continue
        }
        let signedIn = try await call(
          "/v1/accounts:signInWithPassword",
          ["email": .string(person.email), "password": .string(Person.password)])
        #expect(signedIn["localId"]?.stringValue == person.uid, "\(signedIn.json)")
      }
      let project = try await server.post(
        "/v1/accounts:signInWithPassword",
        [
          "targetProjectId": "acme-mfa", "email": "alice@example.com",
          "password": .string(Person.password),
        ], token)
      #expect(project.status == 403)
    }
  }

  @Test(arguments: ServiceTokenRole.allCases)
  func `a token replaces an API key only if it can change users`(role: ServiceTokenRole)
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.token(role)
      let answer = try await server.post(
        "/v1/accounts:signInWithPassword",
        ["email": .string(alice.email), "password": .string(Person.password)], .bearer(token))
      let isTrusted = role.permissions.contains(.changeUsers)
      #expect(answer.status == (isTrusted ? 200 : 403))
    }
  }

  @Test func `a token that can't change users needs a key of the project that it names`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let other = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine))
      ).value
      let otherKey = try #require(
        try await server.identity.apiKeys.list(other.pool.project).first
      ).text
      let body: JSON = [
        "targetProjectId": "acme-mfa", "email": .string(alice.email),
        "password": .string(Person.password),
      ]
      let path = "/v1/accounts:signInWithPassword?key="
      for role in ServiceTokenRole.allCases {
        let token = Credential.bearer(try await server.token(role))
        #expect(try await server.post(path + server.key, body, token).status == 200, "\(role)")
        let isTrusted = role.permissions.contains(.changeUsers)
        let foreign = try await server.post(path + otherKey, body, token)
        #expect(foreign.status == (isTrusted ? 200 : 403), "\(role)")
      }
    }
  }

  @Test func `the tenants in path, query, and body must match`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let answer = try await server.post(
        "/v1/projects/acme-mfa/tenants/\(id)/accounts:lookup",
        ["localId": ["x"], "tenantId": "other-12345"], .owner)
      #expect(answer.error == "TENANT_ID_MISMATCH")
      let query = try await server.post(
        "/v1/accounts:signInWithPassword?tenantId=a",
        ["email": "a@example.com", "password": "x", "tenantId": "b"])
      #expect(query.error == "TENANT_ID_MISMATCH")
    }
  }

  @Test func `an unknown API key is reported in the form that SDKs expect`() async throws {
    try await TestServer.with { server in
      let answer = try await server.post("/v1/accounts:signUp?key=AIzaNothing", [:], .none)
      #expect(answer.status == 400)
      #expect(answer.error == "API key not valid. Please pass a valid API key.")
      #expect(answer["error"]?["errors"]?.arrayValue?.first?["reason"] == "keyInvalid")
      #expect(answer["error"]?["details"]?.arrayValue?.first?["reason"] == "API_KEY_INVALID")
      let text =
        "Method doesn't allow unregistered callers (callers without established identity). Please "
        + "use API Key or other form of API consumer identity to call this API."
      let missing = try await server.post("/v1/accounts:signUp", [:], .none)
      #expect(
        missing.json
          == (try json(
            """
            {"error": {"code": 403, "message": "\(text)",
             "errors": [{"message": "\(text)",
                         "reason": "forbidden", "domain": "global"}],
             "status": "PERMISSION_DENIED"}}
            """)))
      let basic = try await server.call(
        .post, "/v1/accounts:signUp", text: "{}", .none,
        fields: [.authorization: "Basic b3duZXI6"])
      #expect(basic.status == 403)
      let header = try await server.call(
        .post, "/v1/accounts:signUp", text: "{}", .none, fields: ["X-Goog-Api-Key": server.key])
      #expect(header.status == 200)
    }
  }

  @Test func `actions by a service token are logged with the token's name`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let filter = AuditFilter(object: .policy)
      let row = try await server.identity.audit.list(filter, after: nil, limit: 1).items.first
      #expect(row?.actorKind == "service token")
      #expect(row?.actorName == "tests")
      #expect(row?.address == "192.0.2.7")
    }
  }
}
