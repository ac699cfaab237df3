import HTTP
import Identity
import JSON
import Testing

struct ProviderConfigTests {
  private static let oidc = "/v2/projects/acme-mfa/oauthIdpConfigs"
  private static let saml = "/v2/projects/acme-mfa/inboundSamlConfigs"
  private static let body: JSON = [
    "displayName": "Acme", "enabled": true, "clientId": "client", "clientSecret": "secret",
    "issuer": "https://oidc.example/issuer", "responseType": ["idToken": true],
  ]
  private static let samlBody: JSON = [
    "displayName": "Acme", "enabled": true,
    "idpConfig": [
      "idpEntityId": "entity", "ssoUrl": "https://sso.example/login", "signRequest": true,
      "idpCertificates": [["x509Certificate": "CERT"]],
    ],
    "spConfig": ["spEntityId": "sp", "callbackUri": "https://acme.example/__/auth/handler"],
  ]

  private func number(_ server: TestServer) async throws -> String {
    let config = try await server.get(TestServer.config)
    return try config.text("name").split(separator: "/")[1].description
  }

  @Test func `an OpenID Connect provider can be created, read, changed, and deleted`() async throws
  {
    try await TestServer.with { server in
      let name = "projects/\(try await number(server))/oauthIdpConfigs/oidc.acme"
      var expected = try #require(Self.body.objectValue)
      expected["name"] = .string(name)
      let created = try await server.post(
        Self.oidc + "?oauthIdpConfigId=oidc.acme", Self.body, .owner)
      #expect(created.json == .object(expected))
      let path = Self.oidc + "/oidc.acme"
      #expect(try await server.get(path).json == .object(expected))
      let changed = try await server.patch(
        path + "?updateMask=displayName,responseType.code,responseType.idToken",
        ["displayName": "Other", "responseType": ["code": true], "clientId": "ignored"])
      expected["displayName"] = "Other"
      expected["responseType"] = ["code": true]
      #expect(changed.json == .object(expected))
      for number in 0..<2 {
        let open = try await server.patch(
          path + "?updateMask=clientSecret,responseType",
          ["clientSecret": "", "responseType": ["idToken": true]])
        #expect(open.status == 200 && open["clientSecret"] == nil)
        let log = try await server.identity.audit.list(limit: 20).items.flatMap(\.changes)
          .filter { $0.field == .clientSecret && $0.new == .absent }
        #expect(log.count == 1 && log.first?.old == .secret, "\(number)")
      }
      let off = try await server.patch(path, ["enabled": false])
      #expect(off["enabled"] == nil)
      #expect(try await server.delete(path).json == [:])
      let gone = try await server.get(path)
      #expect(gone.status == 404)
      #expect(gone.error == "CONFIGURATION_NOT_FOUND")
      #expect(try await server.delete(path).error == "CONFIGURATION_NOT_FOUND")
      #expect(try await server.patch(path, ["enabled": true]).error == "CONFIGURATION_NOT_FOUND")
    }
  }

  @Test func `the list of built-in providers is empty`() async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant()
      for place in ["", "/tenants/\(tenant)"] {
        let list = try await server.get(
          "/v2/projects/acme-mfa\(place)/defaultSupportedIdpConfigs?pageSize=5")
        #expect(list.status == 200 && list.json == [:])
      }
      let without = try await server.get(
        "/v2/projects/acme-mfa/defaultSupportedIdpConfigs", .none)
      #expect(without.status == 401)
    }
  }

  @Test func `the supported providers are listed for any service token`() async throws {
    try await TestServer.with { server in
      for root in ["/v2", "/admin/v2"] {
        let list = try await server.get(root + "/defaultSupportedIdps?pageSize=3")
        let ids = list["defaultSupportedIdps"]?.arrayValue?.compactMap { $0["idpId"]?.stringValue }
        #expect(ids?.count == 10 && ids?.first == "apple.com" && ids?.last == "yahoo.com")
      }
      #expect(try await server.get("/v2/defaultSupportedIdps", .none).status == 401)
      #expect(try await server.get("/v2/defaultSupportedIdps", .key).status == 401)
    }
  }

  @Test func `a disabled response type is omitted`() async throws {
    try await TestServer.with { server in
      let created = try await server.post(
        "/v2/projects/acme-mfa/oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
        [
          "displayName": "", "enabled": false, "clientId": "c", "issuer": "https://id.example.com",
          "responseType": ["idToken": true, "code": false],
        ], .owner)
      #expect(created["responseType"] == ["idToken": true])
      #expect(created["enabled"] == nil && created["displayName"] == nil)
    }
  }

  @Test func `a provider without a response type has that of ID tokens`() async throws {
    try await TestServer.with { server in
      let path = "/v2/projects/acme-mfa/oauthIdpConfigs"
      let created = try await server.post(
        path + "?oauthIdpConfigId=oidc.acme",
        ["clientId": "c", "issuer": "https://id.example.com"], .owner)
      #expect(created["responseType"] == ["idToken": true])
      let listed = try await server.get(path)
      #expect(listed["oauthIdpConfigs"]?.arrayValue?.first == created.json)
    }
  }

  @Test func `a SAML provider is stored and returned`() async throws {
    try await TestServer.with { server in
      var expected = try #require(Self.samlBody.objectValue)
      expected["name"] = .string(
        "projects/\(try await number(server))/inboundSamlConfigs/saml.acme")
      let created = try await server.post(
        Self.saml + "?inboundSamlConfigId=saml.acme", Self.samlBody, .owner)
      #expect(created.json == .object(expected))
      let changed = try await server.patch(
        Self.saml + "/saml.acme?updateMask=idpConfig.ssoUrl",
        ["idpConfig": ["ssoUrl": "https://other.example"]])
      #expect(changed["idpConfig"]?["ssoUrl"] == "https://other.example")
      #expect(changed["idpConfig"]?["idpEntityId"] == "entity")
      // Each collection has its own protocol.
      #expect(try await server.get(Self.oidc + "/saml.acme").status == 404)
      #expect(try await server.get(Self.oidc).json == [:])
    }
  }

  @Test func `lists are paged, and tenants have their own providers`()
    async throws
  {
    try await TestServer.with { server in
      for id in ["oidc.c", "oidc.a", "oidc.b"] {
        _ = try await server.post(Self.oidc + "?oauthIdpConfigId=\(id)", Self.body, .owner)
      }
      func ids(_ answer: Answer) -> [String] {
        (answer["oauthIdpConfigs"]?.arrayValue ?? []).compactMap { config in
          config["name"]?.stringValue?.split(separator: "/").last.map(String.init)
        }
      }
      let first = try await server.get(Self.oidc + "?pageSize=2")
      #expect(ids(first) == ["oidc.a", "oidc.b"])
      let token = try first.text("nextPageToken")
      let rest = try await server.get(Self.oidc + "?pageSize=2&pageToken=\(token)")
      #expect(ids(rest) == ["oidc.c"])
      #expect(rest["nextPageToken"] == nil)
      let full = try await server.get(Self.oidc + "?pageSize=3")
      #expect(full["nextPageToken"] == "oidc.c")
      #expect(try await server.get(Self.oidc + "?pageSize=3&pageToken=oidc.c").json == [:])
      let tenant = try await server.addTenant()
      let path = "/v2/projects/acme-mfa/tenants/\(tenant)/oauthIdpConfigs"
      #expect(try await server.get(path).json == [:])
      let created = try await server.post(path + "?oauthIdpConfigId=oidc.a", Self.body, .owner)
      #expect(try created.text("name").hasSuffix("/tenants/\(tenant)/oauthIdpConfigs/oidc.a"))
      let admin = "/admin/v2/projects/acme-mfa/tenants/\(tenant)/oauthIdpConfigs/oidc.a"
      #expect(try await server.get(admin).status == 200)
    }
  }

  @Test func `keys are accepted as a key set or PEM, and returned as a key set`() async throws {
    try await TestServer.with { server in
      _ = try await server.post(Self.oidc + "?oauthIdpConfigId=oidc.a", Self.body, .owner)
      let path = Self.oidc + "/oidc.a?updateMask=jwks"
      let set = try await server.patch(path, ["jwks": try TestTokenIssuer.back.keySet()])
      let key = try #require(set["jwks"]?["keys"]?.arrayValue?.first)
      #expect(key["kid"] == "k1")
      #expect(key["alg"] == "RS256")
      let pem = try await server.patch(path, ["jwks": .string(try TestTokenIssuer.back.pem())])
      #expect(pem["jwks"]?["keys"]?.arrayValue?.first?["n"] == key["n"])
      let cleared = try await server.patch(path, [:])
      #expect(cleared["jwks"] == nil)
      let refused = try await server.patch(path, ["jwks": "nonsense"])
      #expect(
        refused.error == "INVALID_CONFIG : jwks is neither a JSON Web Key Set nor PEM.")
    }
  }

  @Test(arguments: [
    ("", #"{}"#, "MISSING_CONFIG_ID"),
    (
      "saml.a", #"{}"#,
      "INVALID_CONFIG_ID : Oauth_idp_config_id must start with 'oidc.' and can only have alphanumeric characters, hyphens, underscores or periods. The part after 'oidc.' must also start with a lowercase letter, end with an alphanumeric character, and have at least 2 characters."
    ),
    (
      "oidc.a", #"{}"#,
      "MISSING_OAUTH_CLIENT_ID : Client_id in OAuthIdpConfig cannot be empty."
    ),
    ("oidc.a", #"{"clientId":"c"}"#, "MISSING_ISSUER"),
    (
      "oidc.a", #"{"clientId":"c","issuer":"acme"}"#,
      "INVALID_ISSUER : Issuer in OAuthIdpConfig should be a valid URL."
    ),
    ("oidc.a", #"{"clientId":"a b","issuer":"https://a.b"}"#, "INVALID_OAUTH_CLIENT_ID"),
    (
      "oidc.a", #"{"clientId":"c","issuer":"https://a.b","responseType":{"code":true}}"#,
      "INVALID_CONFIG : client_secret cannot be empty for code flow."
    ),
    (
      "oidc.a",
      #"{"clientId":"c","issuer":"https://a.b","responseType":{"code":true,"idToken":true}}"#,
      "INVALID_CONFIG : response_type should have exactly one of 'idToken' and 'code' being true. Setting both types to be true ('{code: true, idToken: true}') is not yet supported."
    ),
    (
      "oidc.a",
      #"{"clientId":"c","issuer":"https://a.b","responseType":{"code":false}}"#,
      "INVALID_CONFIG : response_type should have exactly one of 'idToken' and 'code' being true."
    ),
    ("oidc.a", #"{"clientId":true}"#, "Invalid value at 'config.client_id' (TYPE_STRING), true"),
    ("oidc.a", #"{"jwks":7}"#, "Invalid value at 'config.jwks' (TYPE_MESSAGE), 7"),
  ])
  func `invalid OpenID Connect providers are refused`(id: String, body: String, error: String)
    async throws
  {
    try await TestServer.with { server in
      let answer = try await server.call(
        .post, Self.oidc + "?oauthIdpConfigId=\(id)", text: body, .owner)
      #expect(answer.status == 400)
      #expect(answer.error == error)
    }
  }

  @Test(arguments: [
    (#"{}"#, "MISSING_SAML_RELYING_PARTY_CONFIG"),
    (
      #"{"spConfig":{"spEntityId":"s"}}"#,
      "INVALID_CONFIG : idp_config is missing or invalid."
    ),
    (
      #"{"spConfig":{"spEntityId":"s"},"idpConfig":{"idpEntityId":"e","ssoUrl":"http://a"}}"#,
      "INVALID_CONFIG : idp_config.sso_url is missing or invalid."
    ),
  ])
  func `invalid SAML providers are refused`(body: String, error: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.call(
        .post, Self.saml + "?inboundSamlConfigId=saml.a", text: body, .owner)
      #expect(answer.error == error)
    }
  }

  @Test func `a duplicate provider ID responds 409`() async throws {
    try await TestServer.with { server in
      let path = Self.oidc + "?oauthIdpConfigId=oidc.a"
      _ = try await server.post(path, Self.body, .owner)
      let twice = try await server.post(path, Self.body, .owner)
      #expect(twice.status == 409)
      #expect(
        twice.error
          == "CONFIGURATION_EXISTS : The OAuthIdpConfig already exists with config_id: oidc.a")
      #expect(twice["error"]?["status"] == "ALREADY_EXISTS")
      let saml = Self.saml + "?inboundSamlConfigId=saml.a"
      _ = try await server.post(saml, Self.samlBody, .owner)
      #expect(
        try await server.post(saml, Self.samlBody, .owner).error
          == "CONFIGURATION_EXISTS : The InboundSamlConfig already exists with config_id: saml.a")
      let wrong = try await server.post(
        Self.saml + "?inboundSamlConfigId=oidc.a", Self.samlBody, .owner)
      #expect(wrong.error?.hasPrefix("INVALID_CONFIG_ID : Inbound_saml_config_id must") == true)
    }
  }

  @Test func `only owners can configure identity providers`() async throws {
    try await TestServer.with { server in
      let path = Self.oidc + "?oauthIdpConfigId=oidc.a"
      for role in ServiceTokenRole.allCases where role != .owner {
        let token = try await server.token(role)
        let created = try await server.post(path, Self.body, .bearer(token))
        #expect(created.status == 403, "\(role)")
        let read = try await server.get(Self.oidc, .bearer(token))
        #expect(read.status == (role.permissions.contains(.readPolicy) ? 200 : 403), "\(role)")
      }
    }
  }
}
