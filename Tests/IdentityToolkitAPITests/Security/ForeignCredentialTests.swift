import Crypto
import HTTP
import Identity
import JSON
import Testing

/// A pool with every sign-in method configured, and one user who has only a password.
private struct TestedPool: CustomStringConvertible {
  let project: String
  let tenant: String?
  let key: String
  let owner: String
  let server: TestServer

  var description: String { tenant ?? project }
  private var place: String { "projects/\(project)" + (tenant.map { "/tenants/\($0)" } ?? "") }

  /// Calls a method as a client application of the pool.
  func post(_ name: String, _ message: JSON.Object) async throws -> Answer {
    var message = message
    if let tenant { message["tenantId"] = .string(tenant) }
    return try await server.post("/v1/\(name)?key=\(key)", .object(message), .none)
  }

  /// Calls a method as the pool's owner.
  func administer(_ version: String, _ name: String, _ message: JSON) async throws -> Answer {
    let answer = try await server.post("/\(version)/\(place)/\(name)", message, .bearer(owner))
    #expect(answer.status == 200, "\(self) \(name): \(answer.json)")
    return answer
  }

  /// Returns an out-of-band code for the pool's user, as sent by email.
  func code(_ type: String) async throws -> JSON {
    try await administer(
      "v1", "accounts:sendOobCode",
      ["requestType": .string(type), "email": "alice@example.com", "returnOobLink": true]
    )["oobCode"] ?? nil
  }

  /// Signs the pool's user in and returns the ID token.
  func session() async throws -> JSON {
    let answer = try await post(
      "accounts:signInWithPassword",
      ["email": "alice@example.com", "password": .string(Person.password)])
    return .string(try answer.text("idToken"))
  }

  /// Returns a custom token for the pool, signed with a key of its project.
  func customToken(_ forge: TestTokenIssuer) throws -> JSON {
    var payload: JSON.Object = [
      "iss": "backend@acme.example", "sub": "backend@acme.example",
      "aud": .string(CustomTokens.audience), "uid": "alice",
      "iat": .number(JSON.Number(server.now.seconds)),
      "exp": .number(JSON.Number(server.now.seconds + 3600)),
    ]
    if let tenant { payload["tenant_id"] = .string(tenant) }
    return .string(try forge.token(.object(payload)))
  }

  /// Returns the request that an application sends with an assertion of the pool's provider.
  func assertion(_ forge: TestTokenIssuer) throws -> JSON.Object {
    let payload: JSON = [
      "iss": "https://login.acme.example", "aud": .string(description), "sub": "user-1",
      "iat": .number(JSON.Number(server.now.seconds)),
      "exp": .number(JSON.Number(server.now.seconds + 600)),
    ]
    let form: Form = ["id_token": try forge.token(payload), "providerId": "oidc.acme"]
    return ["requestUri": "http://localhost", "postBody": .string(form.urlEncoded)]
  }
}

/// Out-of-band codes, custom tokens, and provider assertions are refused outside their own pool.
///
/// Each request is otherwise complete, so only the credential can fail.
struct ForeignCredentialTests {
  private func pools(_ server: TestServer, _ other: TestTokenIssuer) async throws -> [TestedPool] {
    let maker = Author(actor: .commandLine)
    let project = try await server.identity.pools.createProject(
      id: "other-mfa", displayName: "Other", by: .program(maker)
    ).value
    let key = try await server.identity.apiKeys.list(project.pool.project).first?.text ?? ""
    let owner = try await server.token(.owner, project: "other-mfa")
    var pools = [
      TestedPool(project: "other-mfa", tenant: nil, key: key, owner: owner, server: server)
    ]
    for tenant in [nil, try await server.addTenant(), try await server.addTenant("initech")] {
      pools.append(
        TestedPool(
          project: TestServer.project, tenant: tenant, key: server.key, owner: server.owner,
          server: server))
    }
    for (id, forge) in [(TestServer.project, TestTokenIssuer.back), ("other-mfa", other)] {
      _ = try await server.identity.trustedTokenKeys.add(
        to: ID(id), issuer: "backend@acme.example", keyID: nil, key: forge.pem(),
        by: .program(maker))
      _ = try await server.identity.pools.update(project: ID(id), by: .program(maker)) {
        $0.signIn.emailLink = true
      }
    }
    for pool in pools {
      if let tenant = pool.tenant {
        _ = try await server.identity.pools.update(
          project: ID(pool.project), tenant: ID(tenant), by: .program(maker)
        ) { $0.signIn.emailLink = true }
      }
      _ = try await pool.administer(
        "v1", "accounts",
        [
          "email": "alice@example.com", "password": .string(Person.password), "emailVerified": true,
        ])
      _ = try await pool.administer(
        "v2", "oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
        [
          "displayName": "Acme login", "enabled": true, "issuer": "https://login.acme.example",
          "clientId": .string(pool.description), "jwks": TestTokenIssuer.back.keySet(),
        ])
    }
    return pools
  }

  /// Tries each pool's credential in every other pool, and then in its own.
  private func tryEverywhere(
    refusals: Set<String>, _ given: (TestedPool) async throws -> JSON.Object,
    _ use: (TestedPool, JSON.Object) async throws -> Answer
  ) async throws {
    try await TestServer.with { server in
      let pools = try await pools(server, TestTokenIssuer(key: try RSAKey.generate()))
      for home in pools {
        let shown = try await given(home)
        for place in pools where place.description != home.description {
          let answer = try await use(place, shown)
          let words = answer.error ?? ""
          #expect(refusals.contains(words), "from \(home), used in \(place): \(answer.json)")
        }
        #expect(try await use(home, shown).status == 200, "in its own pool \(home)")
      }
    }
  }

  private static let password: JSON = "another password"

  @Test(
    arguments: [
      ("PASSWORD_RESET", "resetPassword", ["newPassword": password]),
      ("PASSWORD_RESET", "resetPassword", [:]), ("VERIFY_EMAIL", "update", [:]),
      ("EMAIL_SIGNIN", "signInWithEmailLink", ["email": "alice@example.com"]),
    ] as [(String, String, JSON.Object)])
  func `an out-of-band code is valid only in its own pool`(
    kind: String, method: String, more: JSON.Object
  ) async throws {
    try await tryEverywhere(
      refusals: ["INVALID_OOB_CODE"],
      { pool in ["oobCode": try await pool.code(kind)] },
      { pool, shown in
        try await pool.post(
          "accounts:" + method, JSON.Object(shown.members + more.members))
      })
  }

  @Test func `a custom token is valid only in its own pool`() async throws {
    let mismatch = "TENANT_ID_MISMATCH : Specified tenant ID does not match the custom token."
    let forged = "INVALID_CUSTOM_TOKEN : The signature doesn't match a registered key."
    try await TestServer.with { server in
      let other = TestTokenIssuer(key: try RSAKey.generate())
      let pools = try await pools(server, other)
      for home in pools {
        let token = try home.customToken(home.project == TestServer.project ? .back : other)
        for place in pools where place.description != home.description {
          let answer = try await place.post("accounts:signInWithCustomToken", ["token": token])
          let expected = place.project == home.project ? mismatch : forged
          #expect(answer.error == expected, "from \(home), used in \(place): \(answer.json)")
        }
        let answer = try await home.post("accounts:signInWithCustomToken", ["token": token])
        #expect(answer.status == 200, "in its own pool \(home): \(answer.json)")
      }
    }
  }

  @Test func `an ID token that a provider issued to another client is refused`() async throws {
    try await tryEverywhere(
      refusals: ["INVALID_IDP_RESPONSE : The id_token is for another client."],
      { pool in try pool.assertion(.back) },
      { pool, shown in try await pool.post("accounts:signInWithIdp", shown) })
  }

  @Test func `a pending token from a provider sign-in is valid only in its own pool`() async throws
  {
    try await tryEverywhere(
      refusals: ["INVALID_PENDING_TOKEN"],
      { pool in
        let answer = try await pool.post("accounts:signInWithIdp", try pool.assertion(.back))
        return ["pendingToken": answer["pendingToken"] ?? nil, "requestUri": "http://localhost"]
      },
      { pool, shown in try await pool.post("accounts:signInWithIdp", shown) })
  }

  @Test func `an ID token of another pool is refused with a valid code or assertion`() async throws
  {
    try await tryEverywhere(
      refusals: [
        "INVALID_ID_TOKEN",
        "TENANT_ID_MISMATCH : Specified tenant ID mismatches with the ID token.",
        // If nothing else names a tenant, the token does, and then the code is from another pool.
        "INVALID_OOB_CODE",
      ],
      { pool in ["idToken": try await pool.session()] },
      { pool, shown in
        var link = shown
        link["email"] = "alice@example.com"
        link["oobCode"] = try await pool.code("EMAIL_SIGNIN")
        let linked = try await pool.post("accounts:signInWithEmailLink", link)
        guard linked.status != 200 else { return linked }
        let federated = try await pool.post(
          "accounts:signInWithIdp",
          JSON.Object(try pool.assertion(.back).members + shown.members))
        let isForeign =
          federated.error == "INVALID_IDP_RESPONSE : The id_token is for another client."
        #expect(federated.error == linked.error || isForeign, "\(federated.json)")
        // The failed attempt doesn't consume the code.
        link["idToken"] = JSON?.none
        let own = try await pool.post("accounts:signInWithEmailLink", link)
        #expect(own.status == 200, "\(own.json)")
        return linked
      })
  }
}
